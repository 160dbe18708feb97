"""Runs of the rosaline command on an input that is much larger than its memory should be."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

PERIOD = 0.01  # seconds between two looks at the memory of the process


@dataclass
class LongRun:
    """One `rosaline run`, JSONL to JSONL."""

    stages: str
    cores: int
    bytes: int  # of the input
    seconds: float
    cpu: float  # seconds of processor time
    dedup: int  # bytes of the set of deduplication at the end
    peak: int  # most resident memory, in bytes; 0 where the system does not tell
    resident: list[int] = field(default_factory=list)  # bytes, every PERIOD

    @property
    def megabytes(self) -> float:
        """MB of input a second."""
        return self.bytes / self.seconds / 1e6

    @property
    def besides(self) -> float:
        """The peak in MB without the set of deduplication."""
        return (self.peak - self.dedup) / 1e6

    def eighths(self) -> list[float]:
        """The most resident memory in each eighth of the run, in MB."""
        n = len(self.resident)
        parts = [self.resident[i * n // 8 : (i + 1) * n // 8] for i in range(8)]
        return [max(part) / 1e6 for part in parts if part]


def write_input(path: Path, documents: Path, size: int) -> int:
    """Writes the lines of documents again and again, numbered, until size is reached.

    The numbers keep the copies from being duplicates of those of an earlier turn.
    """
    ends = [
        line.rstrip(b"\n").removesuffix(b'"}') for line in documents.read_bytes().splitlines(True)
    ]
    written = turn = 0
    with path.open("wb") as file:
        while written < size:
            mark = b' %d"}\n' % turn
            written += file.write(mark.join(ends) + mark)
            turn += 1
    return written


def has_room(folder: Path, size: int) -> bool:
    """Whether the disk holds an input of this size, and half of it more."""
    return shutil.disk_usage(folder).free > 1.5 * size


ALL_STAGES = "clean,quality,dedup,pii"
KEEPS_NOTHING = "clean,quality,pii"  # its memory is to stay the same however long it runs


def run(
    command: list[str], source: Path, cores: int, env: dict[str, str], stages: str = ALL_STAGES
) -> LongRun:
    """Runs a command that ends in `run` and its flags, and watches its memory.

    The output goes to the null device: a disk would be measured else.
    """
    report = source.with_suffix(".report.json")
    os.sync()  # The input may be still on its way to the disk.
    command = [*command, f"--stages={stages}", f"--workers={cores}", "--progress=off", f"--report={report}"]
    command += ["--output=-", str(source)]
    try:
        start, before = time.monotonic(), os.times()
        process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
        peak, resident = 0, []
        while process.poll() is None:
            now, most = memory(process.pid)
            peak = max(peak, most)
            resident += [now] if now else []
            time.sleep(PERIOD)
        took, after = time.monotonic() - start, os.times()
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        told = json.loads(report.read_text())
    finally:
        report.unlink(missing_ok=True)
    busy = after.children_user + after.children_system
    busy -= before.children_user + before.children_system
    dedup = told.get("dedup", {}).get("bytes", 0)
    return LongRun(stages, cores, source.stat().st_size, took, busy, dedup, peak, resident)


def memory(pid: int) -> tuple[int, int]:
    """Resident memory of a process now and at most, in bytes; 0 where it is not known."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0, 0
    found = dict(re.findall(r"^(VmRSS|VmHWM):\s*(\d+) kB", status, re.M))
    return 1024 * int(found.get("VmRSS", 0)), 1024 * int(found.get("VmHWM", 0))
