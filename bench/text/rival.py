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
from measure import PARALLEL, Job, Limits, measure

SYSTEMS = ("luminamoon", "pyarrow", "polars", "datatrove")


def jobs(system: str, data: Path, scratch: Path) -> Iterator[Job]:
    """Yields the jobs of a system, set after set, so that only one set is held at a time."""
    rival = importlib.import_module(f"rival_{system}")
    print(json.dumps({"system": system, "version": rival.version()}), flush=True)
    for name in dataset.COLUMNS:
        if hasattr(rival, "column_jobs"):
            yield from rival.column_jobs(name, data / f"{name}.col")
    for name in dataset.TEXTS:
        if hasattr(rival, "text_jobs") and (data / f"{name}.col").exists():
            yield from rival.text_jobs(name, data / f"{name}.col")
    for name in dataset.LINES:
        if hasattr(rival, "file_jobs") and (data / f"{name}.jsonl").exists():
            yield from rival.file_jobs(name, data / f"{name}.jsonl", scratch / "out.jsonl")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("system", choices=SYSTEMS)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--checks", type=Path, help="folder for the CRC-32 of each result row")
    parser.add_argument("--min-time", type=float, default=0.1, help="seconds a job is repeated")
    parser.add_argument("--max-reps", type=int, default=9, help="most repetitions of a job")
    parser.add_argument("--jobs", default="", help="only jobs whose `job@data@form` matches it")
    parser.add_argument(
        "--parallel", action="store_true", help="only the jobs that are shared among workers"
    )
    args = parser.parse_args()
    if args.max_reps < 1:
        parser.error("--max-reps must be at least 1")
    limits = Limits(args.min_time, args.max_reps, args.checks)
    with tempfile.TemporaryDirectory() as scratch:
        for job in jobs(args.system, args.data, Path(scratch)):
            if args.parallel and job.job not in PARALLEL:
                continue
            if re.search(args.jobs, job.key):
                measure(job, limits)


if __name__ == "__main__":
    main()
