"""Runs the jobs of one other system and prints their times as JSON lines.

    python rival.py luminamoon --data DIR
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import dataset
from measure import Job, Limits, measure

SYSTEMS = ("luminamoon", "pyarrow", "polars")


def jobs(system: str, data: Path, scratch: Path) -> Iterator[Job]:
    """Yields the jobs of a system, set after set, so that only one set is held at a time."""
    rival = importlib.import_module(f"rival_{system}")
    print(json.dumps({"system": system, "version": rival.version()}), flush=True)
    for name in dataset.COLUMNS:
        yield from rival.column_jobs(name, data / f"{name}.col")
    for name in dataset.TEXTS:
        if (data / f"{name}.col").exists():
            yield from rival.text_jobs(name, data / f"{name}.col")
    if hasattr(rival, "file_jobs"):
        yield from rival.file_jobs("docs", data / "docs.jsonl", scratch / "out.jsonl")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("system", choices=SYSTEMS)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--checks", type=Path, help="folder for the CRC-32 of each result row")
    parser.add_argument("--min-time", type=float, default=0.15, help="seconds a job is repeated")
    parser.add_argument("--max-reps", type=int, default=9, help="most repetitions of a job")
    parser.add_argument("--jobs", default="", help="only jobs whose `job@data@form` matches it")
    args = parser.parse_args()
    if args.max_reps < 1:
        parser.error("--max-reps must be at least 1")
    limits = Limits(args.min_time, args.max_reps, args.checks)
    with tempfile.TemporaryDirectory() as scratch:
        for job in jobs(args.system, args.data, Path(scratch)):
            if re.search(args.jobs, job.key):
                measure(job, limits)


if __name__ == "__main__":
    main()
