"""A model of the reader: what each line of a file is as a record."""

import codecs
import json
import re

from .container import Lines

# A byte that is not UTF-8 is kept as a private code point at the end of Unicode, which the files have no other use for.
# So a line can be parsed before it is known whether its text has such a byte.
MARK = 0x10FF00
MAX_DEPTH = 1000  # of arrays and objects within each other


def mark_bytes(error):
    bad = error.object[error.start:error.end]
    return "".join(chr(MARK + b) for b in bad), error.end


codecs.register_error("mark_bytes", mark_bytes)


class Bad(Exception):
    """A line that is not a record: the reason code of the reader, a value and its bound."""

    def __init__(self, reason, value=0, bound=0):
        super().__init__(reason)
        self.reason, self.value, self.bound = reason, value, bound


class Integer(str):
    """A JSON number without point and exponent, as it was spelt."""


class Float(Integer):
    """Any other JSON number, as it was spelt."""


class Record:
    """One line: where it stands, its id, and its text, which is None for null, or how it is bad."""

    def __init__(self, file, line):
        self.file, self.line = file, line
        self.id, self.text, self.bad = f"{file}:{line}", None, None


def read(root, paths, max_line=None):
    """Returns the records of the files in order and the counts of what was met on the way."""
    records, stats = [], {"files": len(paths), "lines": 0, "blank": 0, "boms": 0, "replaced": 0}
    for path in paths:
        name = path.relative_to(root).as_posix()
        is_text = ".txt" in path.suffixes
        lines = Lines(path)
        stats["boms"] += lines.boms
        for n, line in enumerate(lines.lines, 1):
            stats["lines"] += 1
            line = line.removesuffix(b"\r")
            if not (line if is_text else line.strip(b" \t\r")):
                stats["blank"] += 1
                continue
            r = Record(name, n)
            try:
                if max_line and len(line) > max_line:
                    raise Bad("line_too_long", len(line), max_line)
                line = line.decode("utf-8", "mark_bytes")
                if is_text:
                    r.text = sound(line)
                else:
                    parse(r, line)
            except Bad as e:
                r.bad = e
            records.append(r)
    return records, stats


def parse(r, line):
    def refuse(_):
        raise ValueError("not a JSON number")

    if depth(line) > MAX_DEPTH:
        raise Bad("too_deep", MAX_DEPTH + 1, MAX_DEPTH)
    try:
        v = json.loads(line, parse_int=Integer, parse_float=Float, parse_constant=refuse)
    except ValueError:
        raise Bad("bad_json")
    if not isinstance(v, dict):
        raise Bad("missing_key")
    if v.get("id") is not None:
        # A number stays a number.
        r.id = json.loads(v["id"]) if isinstance(v["id"], Integer) else sound(as_text(v["id"]))
    if "text" not in v:
        raise Bad("missing_key")
    if v["text"] is not None:
        r.text = sound(as_text(v["text"]))


def depth(line):
    now = most = 0
    for bracket in re.findall(r"[\[{\]}]", re.sub(r'"(?:[^"\\]|\\.)*"', "", line)):
        now += 1 if bracket in "[{" else -1
        most = max(most, now)
    return most


def sound(text):
    """Returns the text if it is Unicode."""
    if re.search("[\ud800-\udfff]", text):
        raise Bad("bad_surrogate")
    if max(text, default="") >= chr(MARK):
        raise Bad("bad_utf8")
    return text


def as_text(v):
    """The text of a value that is not null: a string, a number, true, false, else compact JSON."""
    return v if type(v) is str else compact(v)


def compact(v):
    """JSON without spaces, keys sorted by their bytes, floats in their shortest form."""
    if isinstance(v, Float):
        if abs(float(v)) == float("inf"):
            raise Bad("bad_number")
        return repr(float(v))
    if isinstance(v, Integer):
        return str(v)
    if isinstance(v, dict):
        keys = sorted(v, key=lambda k: k.encode("utf-8"))
        return "{" + ",".join(compact(k) + ":" + compact(v[k]) for k in keys) + "}"
    if isinstance(v, list):
        return "[" + ",".join(map(compact, v)) + "]"
    return json.dumps(v, ensure_ascii=False)
