"""Runs the models over the files and writes what must come out of them."""

import collections
import gzip
import hashlib
import json

from . import broken, pii, planted, record, text

EXTENSIONS = (".jsonl", ".ndjson", ".json", ".txt")
STAGES = ("source", "clean", "quality", "dedup", "pii")


def write(examples, check=False):
    """Writes expected/, or with check returns the names of the files that differ."""
    stale = []
    folder = examples / "expected"
    folder.mkdir(exist_ok=True)
    for name, max_line in (("corpus", None), ("broken", broken.MAX_LINE)):
        outcomes, totals = run(examples, name, max_line)
        lines = "".join(json.dumps(o, ensure_ascii=False) + "\n" for o in outcomes)
        files = {
            f"{name}.jsonl.gz": gzip.compress(lines.encode(), compresslevel=9, mtime=0),
            f"{name}.json": (json.dumps(totals, indent=2) + "\n").encode(),
        }
        for file, data in files.items():
            path = folder / file
            if not check:
                path.write_bytes(data)
            elif not path.exists() or unpack(path.read_bytes()) != unpack(data):
                stale.append(file)  # compared unpacked: zlib differs between machines
    return stale


def unpack(data):
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def inputs(folder):
    """The files of a folder that the command would read, in its order."""
    def known(name):
        return name.removesuffix(".gz").removesuffix(".zst").endswith(EXTENSIONS)

    return sorted((p for p in folder.iterdir() if p.is_file() and known(p.name)), key=lambda p: p.as_posix().encode())


def run(examples, name, max_line):
    """Returns the outcome of each record, in order, and the totals as a report gives them."""
    records, source = record.read(examples, inputs(examples / name), max_line)
    wants = wanted(name)
    seen = set()
    stages = {s: {"name": s, "in": 0, "out": 0, "dropped": collections.Counter()} for s in STAGES}
    stages["pii"]["masked"] = collections.Counter()
    size = collections.Counter()
    outcomes = []
    for r in records:
        drop, out, spans = outcome(r, seen)
        o = {"file": r.file, "line": r.line, "id": r.id}
        if drop:
            o |= dict(zip(("stage", "reason", "value", "bound"), drop))
        else:
            # Where something is masked the text itself is easier to look into.
            o |= {"text": out} if spans else {"sha256": hashlib.sha256(out.encode("utf-8")).hexdigest()}
        outcomes.append(o)

        for stage in stages.values():
            stage["in"] += 1
            if drop and drop[0] == stage["name"]:
                stage["dropped"][drop[1]] += 1
                break
            stage["out"] += 1
        stages["pii"]["masked"].update(kind for _, _, kind in spans)
        size["text_in"] += len((r.text or "").encode("utf-8"))
        size["text_out"] += len((out or "").encode("utf-8"))

        got = drop[1] if drop else out
        want = wants.get((r.file, r.line)) or wants.get(r.id, got)
        if got != want:
            raise SystemExit(f"make_corpus: {r.file}:{r.line} {r.id}: the model says {got!r}, the maker wanted {want!r}")
    kept = stages["pii"]["out"]
    if not stages["pii"]["masked"]:
        del stages["pii"]["masked"]
    return outcomes, {
        "records": {"in": len(records), "out": kept, "dropped": len(records) - kept},
        "bytes": size,
        "stages": list(stages.values()),
        "source": source,
    }


def outcome(r, seen):
    """What the default stages make of a record: the drop or None, the text, the masked spans."""
    if r.bad:
        return ("source", r.bad.reason, r.bad.value, r.bad.bound), None, []
    if r.text is None:
        return ("source", "null", 0, 0), None, []
    t = text.clean(r.text)
    failure = text.fails(text.metrics(t))
    if failure:
        return ("quality", *failure), None, []
    if t in seen:
        return ("dedup", "duplicate", 1, 0), None, []
    seen.add(t)
    spans = pii.find(t)
    return None, pii.mask(t, spans), spans


def wanted(name):
    """What the makers of planted records and of broken lines expect, by id or by place."""
    if name == "corpus":
        return {r["id"]: r["want"] for r in planted.fixed() if "want" in r}
    out = {}
    for file, lines in (("broken/lines.jsonl.gz", broken.JSON_LINES), ("broken/lines.txt.gz", broken.TEXT_LINES)):
        for i, (_, reason) in enumerate(lines):
            out[file, 2 * i + 2] = reason
    return out
