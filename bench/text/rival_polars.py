"""The jobs as Polars does them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

import dataset
from measure import Job, encoded, flags, spans

EMAIL = r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}\b"


def version() -> str:
    return pl.__version__


def column_jobs(data: str, path: Path) -> Iterator[Job]:
    rows = dataset.read_column(path)
    offsets, payload = dataset.read_buffers(path)
    column = pl.Series(rows, dtype=pl.String)
    twin = pl.Series(dataset.read_column(path), dtype=pl.String)
    job = partial(Job, data=data, items=len(rows), bytes=len(payload), form="Series")
    prefix = rows[5][:3]
    yield job("from strings", run=lambda: pl.Series(rows, dtype=pl.String), rows=series)
    yield job("from offsets", run=lambda: from_offsets(offsets, payload), rows=series)
    yield job("equal", run=lambda: column.equals(twin), rows=lambda same: flags([same]))
    # It has no forms that use the caller's memory: the ones it has stand in those rows too.
    for name in ("prefix", "prefix select"):
        yield job(name, run=lambda: column.filter(column.str.starts_with(prefix)), rows=series)
    for name in ("pack", "pack into"):
        yield job(name, run=lambda: pack(column), rows=packed)
    # Another hash function: the time can be compared, the hashes cannot.
    yield job("hash", run=column.hash)


def text_jobs(data: str, path: Path) -> Iterator[Job]:
    rows = dataset.read_column(path)
    column = pl.Series(rows, dtype=pl.String)
    size = sum(len(row.encode()) for row in rows)
    job = partial(Job, data=data, items=len(rows), bytes=size, form="Series")
    yield job("clean", run=lambda: clean(column), rows=series)
    yield job("dedup", run=lambda: column.unique(maintain_order=True), rows=series)
    yield job("pii email", run=lambda: column.str.replace_all(EMAIL, "[EMAIL]"), rows=series)


def from_offsets(offsets: np.ndarray, payload: np.ndarray) -> pl.Series:
    """A series over the payload after the checks that every form here makes."""
    column = pa.StringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(payload)
    )
    column.validate(full=True)
    return pl.Series(pl.from_arrow(column))


def clean(column: pl.Series) -> pl.Series:
    column = column.str.replace_all("\r\n", "\n", literal=True)
    return column.str.replace_all("\r", "\n", literal=True).str.strip_chars()


def pack(column: pl.Series) -> pa.Array:
    return column.to_arrow(compat_level=pl.CompatLevel.oldest())


def series(result: pl.Series) -> Iterable[bytes]:
    return encoded(result.to_list())


def packed(result: pa.Array) -> Iterable[bytes]:
    _, offsets, payload = result.buffers()
    width = "<i8" if pa.types.is_large_string(result.type) else "<i4"
    return spans(np.frombuffer(offsets, width)[: len(result) + 1], payload.to_pybytes())
