"""The jobs as pyarrow does them, on `string` and on `string_view` where it can."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import dataset
from measure import Job, encoded, flags, spans

EMAIL = r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}\b"


def version() -> str:
    pa.set_cpu_count(int(os.environ.get("OMP_NUM_THREADS", "1")))
    return pa.__version__


def column_jobs(data: str, path: Path) -> Iterator[Job]:
    rows, twins = dataset.read_column(path), dataset.read_column(path)
    offsets, payload = dataset.read_buffers(path)
    job = partial(Job, data=data, items=len(rows), bytes=len(payload))
    prefix = rows[5][:3]
    for form, kind in (("string", pa.string()), ("string_view", pa.string_view())):
        column, twin = pa.array(rows, kind), pa.array(twins, kind)
        yield job("from strings", form=form, run=partial(pa.array, rows, kind), rows=array)
        yield job("equal", form=form, run=partial(column.equals, twin), rows=lambda r: flags([r]))
    strings = pa.array(rows, pa.string())
    views = pa.array(rows, pa.string_view())
    # It has no forms that use the caller's memory: the ones it has stand in those rows too.
    for name in ("prefix", "prefix select"):
        yield job(
            name,
            form="string",
            run=lambda: strings.filter(pc.starts_with(strings, prefix)),
            rows=array,
        )
    # A `string` array has this layout already and needs no packing; a column of views does.
    for name in ("pack", "pack into"):
        yield job(name, form="string_view cast", run=lambda: views.cast(pa.string()), rows=packed)
    yield job(
        "from offsets",
        form="cast to views, validated",
        run=lambda: from_offsets(offsets, payload),
        rows=array,
    )


def text_jobs(data: str, path: Path) -> Iterator[Job]:
    rows = dataset.read_column(path)
    column = pa.array(rows, pa.string())
    size = sum(len(row.encode()) for row in rows)
    job = partial(Job, data=data, items=len(rows), bytes=size)
    yield job("clean", form="string", run=lambda: clean(column), rows=array)
    yield job("utf8", form="string", run=partial(column.validate, full=True), rows=valid)
    yield job("dedup", form="string", run=lambda: pc.unique(column), rows=array)
    yield job(
        "pii email",
        form="RE2",
        run=lambda: pc.replace_substring_regex(column, EMAIL, "[EMAIL]"),
        rows=array,
    )


def from_offsets(offsets: np.ndarray, payload: np.ndarray) -> pa.Array:
    """Views over the payload after the checks that every form here makes."""
    column = pa.StringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(payload)
    )
    column.validate(full=True)
    return column.cast(pa.string_view())


def clean(column: pa.Array) -> pa.Array:
    column = pc.replace_substring(column, "\r\n", "\n")
    return pc.utf8_trim_whitespace(pc.replace_substring(column, "\r", "\n"))


def valid(_: None) -> Iterable[bytes]:
    """The row of a validation that raised nothing."""
    return flags([True])


def array(result: pa.Array) -> Iterable[bytes]:
    return encoded(result.to_pylist())


def packed(result: pa.Array) -> Iterable[bytes]:
    _, offsets, payload = result.buffers()
    return spans(np.frombuffer(offsets, "<i4")[: len(result) + 1], payload.to_pybytes())
