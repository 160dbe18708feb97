"""Which record goes to which file, and how the files are written."""

import json
import random

from .container import BOM, gzip_member, skippable_frame, zstd_frame


def corpus(prose, planted, seed):
    """Yields the name and the bytes of each file of the corpus."""
    rng = random.Random(seed + 1)
    prose = list(prose)
    # A line of a text file is a record, so these have one line. Their ids are their places.
    texts = []
    for i, r in enumerate(prose):
        if len(texts) < 520 and r["text"].count("\n") < 4 and not r["id"].startswith("licence"):
            texts.append(r["text"].replace("\n", " "))
            prose[i] = None
    rows = [r for r in prose if r] + planted
    rng.shuffle(rows)
    # Keys and cards stand in compressed files only, where a scanner for secrets does not read.
    hidden = [r for r in rows if r.get("id", "").startswith("pii/")]
    rows = [r for r in rows if not r.get("id", "").startswith("pii/")]
    first, second, third, fourth = cut(rows, 0.66, 0.84, 0.92)
    first += hidden
    rng.shuffle(first)

    lines = encode(first, rng)
    data = b"\n".join(lines) + b"\n"
    middle = len(data) * 2 // 3  # within a line
    yield "part-00.jsonl.zst", (
        zstd_frame(data[:middle]) + skippable_frame(b"This frame holds no data.") + zstd_frame(data[middle:])
    )

    lines = encode(second, rng)
    half = len(lines) // 2
    yield "part-01.jsonl.gz", (
        gzip_member(BOM + b"\n".join(lines[:half]) + b"\n")
        + gzip_member(b"")
        + gzip_member(BOM + b"\n".join(lines[half:]) + b"\n")
    )

    # Plain: a mark, ends of both kinds, blank lines, none at the end.
    lines = encode(third, rng)
    for i in rng.sample(range(len(lines) - 1), 60):
        lines[i] += b"\r"
    for i in rng.sample(range(len(lines)), 12):
        lines.insert(i, rng.choice([b"", b"\r", b"  ", b"\t"]))
    yield "part-02.jsonl", BOM + b"\n".join(lines)

    lines = [t.encode() for t in texts[:260]]
    for i in rng.sample(range(len(lines)), 40):
        lines[i] += b"\r"
    for i in rng.sample(range(len(lines)), 10):
        lines.insert(i, b"")
    yield "part-03.txt", b"\n".join(lines) + b"\n"

    yield "part-04.ndjson.gz", gzip_member(b"\n".join(encode(fourth, rng)) + b"\n")
    yield "part-05.txt.zst", zstd_frame("\n".join(texts[260:]).encode())


def cut(rows, *shares):
    at = [0, *(round(len(rows) * s) for s in shares), len(rows)]
    return [rows[a:b] for a, b in zip(at, at[1:])]


def encode(rows, rng):
    """Writes records as lines of JSON, a third with every character beyond ASCII escaped."""
    out = []
    for r in rows:
        line = r.get("raw")
        if line is None:
            v = {"id": r["id"], "text": r["text"]}
            if rng.random() < 0.1:
                v = {"text": r["text"], "lang": None, "tags": ["x", 1], "id": r["id"]}
            line = json.dumps(v, ensure_ascii=rng.random() < 0.33, separators=rng.choice([(",", ":"), (", ", ": ")]))
        out.append(line.encode("utf-8"))
    return out
