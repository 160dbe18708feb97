"""Writes the tables of this folder: python write.py, with pyarrow and polars."""

import datetime
import decimal
import gzip
import os

import polars
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

os.chdir(os.path.dirname(os.path.abspath(__file__)))

TEXTS = ["plain", "", None, "thirteen byte", "日本語のテキスト", 'quo"ted, with\nlines', "fourteen bytes"]
N = len(TEXTS)
TABLE = pa.table({
    "id": pa.array([f"r{i}" for i in range(N)]),
    "text": pa.array(TEXTS),
    "n": pa.array([0, -1, None, 3, 4, 5, 2**53 + 1], pa.int64()),
    "score": pa.array([0.5, 1e300, None, 3.0, -0.0, 0.1, 1e-7]),
    "ok": pa.array([True, False, None, True, True, False, True]),
    "when": pa.array([datetime.datetime(2024, 1, 2, 3, 4, 5)] * N, pa.timestamp("us")),
    "tags": pa.array([["a", "b"], [], None, ["c"], [None], ["d"], ["e"]], pa.list_(pa.string())),
    "meta": pa.array([{"lang": f"l{i}", "text": TEXTS[i]} if i != 3 else None for i in range(N)]),
    "price": pa.array([decimal.Decimal("1.50")] * N, pa.decimal128(9, 2)),
    "kind": pa.array(["x", "y", None, "x", "y", "x", "y"]).dictionary_encode(),
    "large": pa.array(TEXTS, pa.large_string()),
    "raw": pa.array([None if t is None else t.encode() for t in TEXTS], pa.binary()),
})
VIEWS = TABLE.append_column("view", pa.array(TEXTS, pa.string_view()))


def batches(path, new, table, **options):
    with new(path, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as w:
        w.write_table(table, max_chunksize=3)


batches("pyarrow.arrow", pa.ipc.new_file, VIEWS)
batches("pyarrow-zstd.arrow", pa.ipc.new_file, TABLE, compression="zstd")
batches("pyarrow-lz4.arrows", pa.ipc.new_stream, TABLE, compression="lz4")
for codec in "none", "snappy", "zstd", "gzip":
    pa.parquet.write_table(TABLE, f"pyarrow-{codec}.parquet", compression=codec, row_group_size=3)
pa.parquet.write_table(TABLE.slice(0, 0), "pyarrow-empty.parquet")
pa.csv.write_csv(TABLE.select(["id", "text", "n"]), "pyarrow.csv")

frame = polars.from_arrow(TABLE.drop_columns(["kind"]))
frame.write_ipc("polars.arrow", compression="zstd", record_batch_size=3)
frame.write_ipc_stream("polars.arrows", compat_level=polars.CompatLevel.newest())
frame.write_parquet("polars.parquet", row_group_size=3)
frame.select("id", "text", "n").write_csv("polars.tsv", separator="\t")
with gzip.GzipFile("polars.csv.gz", "wb", mtime=0) as f:
    f.write(frame.select("id", "text", "n").write_csv().encode())
