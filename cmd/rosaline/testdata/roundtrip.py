"""Compares the outputs of one run: roundtrip.py JSONL ARROW STREAM PARQUET.

The tables are read by pyarrow and polars, and by datasets where it is installed. Every
value must be that of the JSONL.
"""

import base64
import datetime
import decimal
import json
import struct
import sys

import polars
import pyarrow
import pyarrow.ipc
import pyarrow.parquet


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def moment(s):
    return datetime.datetime.fromisoformat(s.replace("Z", "+00:00"))


def same(want, got):
    """Whether a value of JSON is that of a table."""
    if isinstance(got, polars.Series):
        got = got.to_list()
    if want is None or got is None:
        return want is None and got is None
    if isinstance(got, bool) or isinstance(got, str):
        return type(want) is type(got) and want == got
    if isinstance(got, decimal.Decimal):
        return decimal.Decimal(want) == got
    if isinstance(got, (int, float)):
        return want == got or single(want) == got
    if isinstance(got, bytes):
        return base64.b64decode(want) == got
    if isinstance(got, datetime.datetime):
        w = moment(want)
        return w.replace(tzinfo=None) == got.replace(tzinfo=None)
    if isinstance(got, datetime.date):
        return datetime.date.fromisoformat(want) == got
    if isinstance(got, tuple):  # an entry of a map
        got = {"key": got[0], "value": got[1]}
    if isinstance(got, dict):
        return want.keys() == got.keys() and all(same(want[k], got[k]) for k in want)
    return len(want) == len(got) and all(same(w, g) for w, g in zip(want, got))


def compare(name, want, got):
    if len(want) != len(got):
        sys.exit(f"{name}: {len(got)} rows, the JSONL has {len(want)}")
    for i, (w, g) in enumerate(zip(want, got)):
        w = {"padded": False} | w if "padded" in g else w
        w["id"] = str(w["id"])
        if w.keys() != g.keys():
            sys.exit(f"{name}: row {i}: columns {list(g)}, the JSONL has {list(w)}")
        for k in w:
            if not same(w[k], g[k]):
                sys.exit(f"{name}: row {i}: {k} is {g[k]!r}, in the JSONL {w[k]!r}")
    print(f"{name}: {len(got)} rows")


lines, arrow, stream, parquet = sys.argv[1:]
with open(lines, encoding="utf-8", newline="\n") as f:
    want = [json.loads(l) for l in f]

for name, table in {
    "pyarrow file": pyarrow.ipc.open_file(arrow).read_all(),
    "pyarrow stream": pyarrow.ipc.open_stream(stream).read_all(),
    "pyarrow parquet": pyarrow.parquet.read_table(parquet),
}.items():
    table.validate(full=True)
    compare(name, want, table.to_pylist())
groups = pyarrow.parquet.ParquetFile(parquet).metadata.num_row_groups
print(f"{pyarrow.ipc.open_file(arrow).num_record_batches} batches, {groups} row groups")
for name, frame in {
    "polars file": polars.read_ipc(arrow),
    "polars stream": polars.read_ipc_stream(stream),
    "polars parquet": polars.read_parquet(parquet),
}.items():
    compare(name, want, frame.to_dicts())

try:
    import datasets
except ImportError:
    print("no datasets here")
    sys.exit()
if want:
    datasets.disable_progress_bars()
    compare("datasets parquet", want, list(datasets.Dataset.from_parquet(parquet, cache_dir=parquet + ".cache")))
    compare("datasets arrow", want, list(datasets.Dataset.from_file(stream)))
