"""Times jobs inside one process and reports them as JSON lines.

The Go program beside this file does the same; both follow one protocol:

    {"job", "data", "form", "seconds": [...], "items", "bytes"}   one line a job

and, with a folder for checks, one file a job that holds the CRC-32 of each row of its result
(uint32, little endian), from which the driver sees whether two systems did the same work.
"""

from __future__ import annotations

import gc
import json
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

# The jobs that are also timed with all cores: those that we share among workers.
PARALLEL = (
    "prefix select",
    "equal",
    "pack into",
    "clean",
    "quality",
    "pii",
    "pii email",
    "fused",
    "fused + pii",
    "jsonl",
    "jsonl + pii",
)


@dataclass
class Job:
    """One thing to time: `run` is timed, `rows` turns its result into rows for the check."""

    job: str
    data: str
    form: str  # which form of the library this is; the fastest form counts
    items: int
    bytes: int
    run: Callable[[], Any]
    rows: Callable[[Any], Iterable[bytes]] | None = None

    @property
    def key(self) -> str:
        """The name of the job's check, and what `--jobs` is matched with."""
        return f"{self.job}@{self.data}@{self.form}"


@dataclass
class Limits:
    """How long a job is repeated: until `min_time` seconds have passed or `max_reps` were done."""

    min_time: float
    max_reps: int
    checks: Path | None = None


def measure(job: Job, limits: Limits) -> None:
    """Times one job and prints its line. The time to free a result is not counted.

    The first run pages in what later ones reuse. It counts only if it fills the time alone.
    """
    first, result = timed(job)
    if limits.checks and job.rows:
        write_check(limits.checks / job.key, job.rows(result))
    del result
    seconds: list[float] = []
    if first >= limits.min_time:
        seconds.append(first)
    while sum(seconds) < limits.min_time and len(seconds) < limits.max_reps:
        seconds.append(timed(job)[0])
    line = {
        "job": job.job,
        "data": job.data,
        "form": job.form,
        "seconds": seconds,
        "items": job.items,
        "bytes": job.bytes,
    }
    print(json.dumps(line), flush=True)


def timed(job: Job) -> tuple[float, Any]:
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    result = job.run()
    seconds = time.perf_counter() - start
    gc.enable()
    return seconds, result


def write_check(path: Path, rows: Iterable[bytes]) -> None:
    np.fromiter(map(zlib.crc32, rows), dtype="<u4").tofile(path)


def encoded(rows: Iterable[str]) -> Iterable[bytes]:
    """The rows of a list of strings."""
    return (row.encode() for row in rows)


def flags(rows: Iterable[bool]) -> Iterable[bytes]:
    """The rows of a list of verdicts."""
    return (b"\x01" if row else b"\x00" for row in rows)


def hashes(rows: Iterable[int]) -> Iterable[bytes]:
    """The rows of a list of 64-bit hashes."""
    return (row.to_bytes(8, "little") for row in rows)


def spans(offsets: Iterable[int], payload: bytes) -> Iterable[bytes]:
    """The rows of a buffer of offsets and one of payload."""
    return (payload[start:end] for start, end in pairwise(map(int, offsets)))
