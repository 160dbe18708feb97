"""Lines that are not records, for a run that skips them, and good ones between them.

Each bad line has one fault. The last element of a line says which reason code the reader
must give, or None for a good record; expect.py holds the model to it.
"""

import json

from .container import BOM, gzip_member

MAX_LINE = 65536  # the cap on a line that the expectation is made with, bytes

GOOD = "A good line between two bad ones, number {}, is read as if they were not there."

JSON_LINES = [
    (b"not json at all", "bad_json"),
    (b"{", "bad_json"),
    (b'{"id":"cut","text":"A record that was cut off in the mid', "bad_json"),
    (b'{"id":"trailing","text":"Something follows the object."} x', "bad_json"),
    (b'{"id":"two","text":"Two objects on a line."}{"id":"three","text":"The other one."}', "bad_json"),
    (b'{"id":"comma","text":"A comma too many at the end.",}', "bad_json"),
    (b"{'id':'quotes','text':'Quotes of the wrong kind.'}", "bad_json"),
    (b'{"id":"nan","text":NaN}', "bad_json"),
    (b'{"id":"infinity","score":-Infinity,"text":"A number that is none beside the text."}', "bad_json"),
    (b'{"id":"zero","n":012,"text":"A number with a zero in front beside the text."}', "bad_json"),
    (b'{"id":"control","text":"A raw control \x01 character in the text."}', "bad_json"),
    (b'{"id":"escape","text":"An escape \\q that there is not."}', "bad_json"),
    (b'{"id":"short-escape","text":"An escape \\u12 that is too short."}', "bad_json"),
    (BOM + b'{"id":"bom","text":"A byte order mark in front of a later line."}', "bad_json"),
    (b'[{"id":"array","text":"An array is not an object."}]', "missing_key"),
    (b'"a string is not an object"', "missing_key"),
    (b"{}", "missing_key"),
    (b'{"id":"near-miss","txt":"The key of the text is misspelt."}', "missing_key"),
    (b'{"id":"nested","meta":{"text":"A key deeper down is another key."}}', "missing_key"),
    (b'{"id":"high","text":"The first half \\ud800 of a pair alone."}', "bad_surrogate"),
    (b'{"id":"low","text":"\\udc49\\u0430 the second half of a pair alone."}', "bad_surrogate"),
    (b'{"id":"reversed","text":"Both halves \\ude00\\ud83d in the wrong order."}', "bad_surrogate"),
    (b'{"id":"\\ud83d","text":"The id is what is broken here."}', "bad_surrogate"),
    (b'{"id":"raw-surrogate","text":"Half a pair \xed\xa0\x80 in bytes."}', "bad_utf8"),
    (b'{"id":"latin-1","text":"A lonely \xe9 from another encoding."}', "bad_utf8"),
    (b'{"id":"overlong","text":"A slash \xc0\xaf written too long."}', "bad_utf8"),
    (b'{"id":"cut-rune","text":"The last character is cut \xe2\x82"}', "bad_utf8"),
    (b'{"id":"huge","text":1e400}', "bad_number"),
    (b'{"id":"deep","meta":' + b"[" * 5000 + b"]" * 5000 + b',"text":"Nested too deeply."}', "too_deep"),
    (b'{"id":"too-long","text":"' + b"far too long " * 8000 + b'"}', "line_too_long"),
    (b"[" * 70000, "line_too_long"),
]

TEXT_LINES = [
    ("Una línea en Latin-1 después de otras buenas.".encode("latin-1"), "bad_utf8"),
    (b"half a pair \xed\xb1\x89 in bytes", "bad_utf8"),
    (b"x" * (MAX_LINE + 1), "line_too_long"),
]


def files():
    """Yields the name and the bytes of each file."""
    lines = []
    for i, (bad, _) in enumerate(JSON_LINES):
        good = {"id": f"good/{i:02}", "text": GOOD.format(i)}
        lines += [json.dumps(good).encode(), bad]
    lines.append(b'{"id":"good/last","text":"The last line has no end and is read all the same."}')
    yield "lines.jsonl.gz", gzip_member(b"\n".join(lines))

    lines = []
    for i, (bad, _) in enumerate(TEXT_LINES):
        lines += [GOOD.format(f"T{i}").encode(), bad]
    lines.append(b"The last line of the text has an end.\r")
    yield "lines.txt.gz", gzip_member(b"\n".join(lines) + b"\n")
