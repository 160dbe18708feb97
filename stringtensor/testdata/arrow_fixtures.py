"""Write the Arrow files that the tests of this package read.

    python3 arrow_fixtures.py DIR

needs pyarrow; 26.0.1 wrote the committed files. Each arrow_NAME.arrow (file
format) or .arrows (stream format) has its rows in arrow_fixtures.json: a list of
batches, each a map from column to values. Binary values are given in hex.
"""

import json
import sys
from pathlib import Path

import pyarrow as pa

LONG = "a string that is longer than twelve bytes, "
ROWS = ["", "a", "twelve bytes", "thirteen byte", None, LONG + "one", "\u6771\u4eac", "caf\u00e9 " * 5, None, "\U0001d11e" * 4, "\x00nul\x00"]
MORE = [None, "x" * 40, "short", "", LONG + "two", "\u05e9\u05dc\u05d5\u05dd"]


def table(typ):
    """Two batches, the second a slice that does not begin at a byte border."""
    first = pa.array(ROWS, type=typ)
    second = pa.array(ROWS[:3] + MORE, type=typ)[3:]
    return [first, second]


def dictionary(values, indices, index):
    return pa.DictionaryArray.from_arrays(pa.array(indices, type=index), pa.array(values))


def main(out):
    expected = {}

    def write(name, batches, stream=False, **options):
        schema = batches[0].schema
        options = pa.ipc.IpcWriteOptions(**options)
        if stream:
            path = out / f"arrow_{name}.arrows"
            writer = pa.ipc.new_stream(path, schema, options=options)
        else:
            path = out / f"arrow_{name}.arrow"
            writer = pa.ipc.new_file(path, schema, options=options)
        with writer:
            for batch in batches:
                writer.write_batch(batch)
        rows = []
        for batch in batches:
            columns = {}
            for field, column in zip(batch.schema, batch.columns):
                values = column.to_pylist()
                if pa.types.is_integer(field.type) or pa.types.is_list(field.type):
                    continue
                columns[field.name] = [v.hex() if isinstance(v, bytes) else v for v in values]
            rows.append(columns)
        expected[path.name] = rows

    def batches(typ):
        return [pa.record_batch([a], names=["text"]) for a in table(typ)]

    write("string", batches(pa.string()))
    write("large_string", batches(pa.large_string()), stream=True)
    write("string_view", batches(pa.string_view()))
    write("string_view_zstd", batches(pa.string_view()), stream=True, compression="zstd")
    write("string_lz4", batches(pa.string()), compression="lz4")
    write("binary", [pa.record_batch([pa.array([b"\xff\x00", None, b"bytes that are not UTF-8 \xfe"])], names=["text"])])
    write("empty", [pa.record_batch([pa.array([], type=pa.string_view())], names=["text"])])

    d = [
        dictionary(["red", None, LONG + "green", ""], [2, 0, None, 1, 3, 2], pa.int8()),
        dictionary(["red", None, LONG + "green", ""], [3, 3, 0], pa.int8()),
    ]
    write("dictionary", [pa.record_batch([a], names=["text"]) for a in d])
    # The stream format may replace and extend a dictionary between batches.
    d[1] = dictionary(["red", None, LONG + "green", "", "blue, a colour of more than twelve bytes"], [4, 0, 1], pa.int8())
    write("dictionary_delta", [pa.record_batch([a], names=["text"]) for a in d], stream=True, emit_dictionary_deltas=True)

    mixed = pa.record_batch(
        [
            pa.array([1, 2, 3]),
            pa.array(["x", None, LONG]),
            pa.array([["n1"], [], None], type=pa.list_(pa.string_view())),
            pa.array([LONG, "y", ""], type=pa.string_view()),
            pa.nulls(3),
        ],
        schema=pa.schema(
            [
                ("id", pa.int64()),
                ("text", pa.string()),
                ("tags", pa.list_(pa.string_view())),
                ("title", pa.string_view()),
                ("nothing", pa.null()),
            ],
            metadata={"origin": "arrow_fixtures.py"},
        ),
    )
    write("mixed", [mixed])
    (out / "arrow_fixtures.json").write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")


main(Path(sys.argv[1]))
