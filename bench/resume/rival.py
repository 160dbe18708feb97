"""Does with luminamoon what the Go program does: a line of JSON in, a line of JSON out.

doc.go beside this draws the protocol.
"""

from __future__ import annotations

import gc
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import luminamoon.data as lm

HASH = 8  # bytes
PIECE = 1 << 17  # hashes
BATCH = 256  # rows


def tracker_name(folder: str) -> Path:
    return Path(folder) / "tracker"


def wal_name(folder: str) -> Path:
    """Not tracker.dedup: a tracker that is opened empties that."""
    return Path(folder) / "wal"


def fill(order: dict) -> dict:
    """The file of a deduplicator, which is nothing but its hashes; random ones are as good."""
    Path(order["dir"]).mkdir(parents=True, exist_ok=True)
    with wal_name(order["dir"]).open("wb") as file:
        for done in range(0, order["hashes"], PIECE):
            file.write(os.urandom(HASH * min(PIECE, order["hashes"] - done)))
        file.flush()
        os.fsync(file.fileno())
    tracker = lm.StateTracker(tracker_name(order["dir"]))
    tracker.update(global_row_idx=order["hashes"], batch_id=1)
    tracker.commit(1)
    return {}


def reopen(order: dict) -> dict:
    """Opens a tracker, and a deduplicator with the hashes of its file."""
    resident, _ = memory()
    start = time.perf_counter()
    tracker = lm.StateTracker(tracker_name(order["dir"]))
    dedup = lm.StreamDeduplicator(wal_path=wal_name(order["dir"]))
    seconds = time.perf_counter() - start
    now, peak = memory()
    found = {"seconds": seconds, "hashes": dedup.count, "resident": now - resident}
    del tracker
    return found | {"peak": peak - resident}


def memory() -> tuple[int, int]:
    """Resident bytes of the process, and the most there were."""
    gc.collect()
    status = Path("/proc/self/status").read_text()
    kib = dict(re.findall(r"^(VmHWM|VmRSS):\s*(\d+) kB$", status, re.M))
    return int(kib["VmRSS"]) << 10, int(kib["VmHWM"]) << 10


class Lane:
    """Open files, to commit to: as its ResumablePipeline does it, the tracker first."""

    def __init__(self, order: dict) -> None:
        Path(order["dir"]).mkdir(parents=True, exist_ok=True)
        kind = order["kind"]
        self.tracker = self.dedup = None
        if kind in ("tracker", "both"):
            self.tracker = lm.StateTracker(tracker_name(order["dir"]))
        if kind in ("log", "both"):
            self.dedup = lm.StreamDeduplicator(wal_path=wal_name(order["dir"]))
        if not (self.tracker or self.dedup):
            raise ValueError(f"unknown kind {kind!r} of a lane")
        self.numbers = count(self.tracker.committed_batch_id + 1 if self.tracker else 1)

    def commits(self, n: int) -> dict:
        """Makes n commits. A text is hashed and looked up before each, outside of its time."""
        tracker, dedup, took = self.tracker, self.dedup, []
        now = time.perf_counter_ns
        for _ in range(n):
            number = next(self.numbers)
            if tracker:
                tracker.update(row_offset_in_page=number, global_row_idx=number, batch_id=number)
            if dedup and not dedup.is_unique(f"new text {number}"):
                raise ValueError(f"text {number} came before")
            start = now()
            if tracker:
                tracker.commit(number)
            if dedup:
                dedup.commit()
            took.append(now() - start)
        return {"nanoseconds": took}


def run(order: dict) -> dict:
    """Leaves the tracker as its pipeline does behind so many rows: it keeps nothing else."""
    Path(order["dir"]).mkdir(parents=True, exist_ok=True)
    tracker, rows = lm.StateTracker(tracker_name(order["dir"])), order["rows"]
    batch = -(-rows // BATCH)
    tracker.update(row_offset_in_page=rows, global_row_idx=rows, batch_id=batch)
    tracker.commit(batch)
    return {"rows": rows}


def records(path: str) -> Iterator[dict]:
    with open(path, encoding="utf-8") as file:
        yield from map(json.loads, file)


def lines(path: str) -> Iterator[bytes]:
    """Lines as they are: the least work that a source can be."""
    with open(path, "rb") as file:
        yield from file


FORMS = {"records": records, "lines": lines}


def first(order: dict) -> dict:
    """Resumes a run and takes one batch."""
    start = time.perf_counter()
    pipeline = lm.ResumablePipeline(
        FORMS[order["form"]](order["path"]),
        checkpoint_path=tracker_name(order["dir"]),
        batch_size=BATCH,
    )
    batch = next(iter(pipeline))
    seconds = time.perf_counter() - start
    number = re.search(r"\brow (\d+) ", batch[0])
    return {"seconds": seconds, "rows": len(batch), "first": int(number[1]) if number else -1}


def main() -> None:
    lanes: dict[str, Lane] = {}

    def do(order: dict) -> dict:
        match order["do"]:
            case "version":
                return {"version": f"{lm.get_version()} ({lm.data_cpu_isa()})"}
            case "open":
                lanes[order["lane"]] = Lane(order)
                return {}
            case "commit":
                return lanes[order["lane"]].commits(order["commits"])
        return {"fill": fill, "reopen": reopen, "run": run, "first": first}[order["do"]](order)

    for line in sys.stdin:
        try:
            answer = do(json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
