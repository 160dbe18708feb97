"""A run of `rosaline run --state` that is stopped at a place and goes on."""

from __future__ import annotations

import signal
import struct
import subprocess
import time
from pathlib import Path

# What a run is made of, by what is told of it.
FORMS = {"place alone": ["--stages", "none"], "dedup": ["--stages", "dedup"]}
POLL = 0.0005  # seconds
SLOT, DISTANCE = 64, 4096  # bytes, of the tracker
PATIENCE = 600  # seconds


class CommandError(Exception):
    """The run did not do what it should."""


def committed(tracker: Path) -> tuple[int, int]:
    """The generation of the last commit, and the byte of the input at which it goes on."""
    if not tracker.exists():
        return 0, 0
    raw = tracker.read_bytes()
    slots = [raw[at : at + SLOT] for at in (0, DISTANCE)]
    found = [struct.unpack_from("<Q", s, 16) + struct.unpack_from("<Q", s, 32) for s in slots if len(s) == SLOT]
    return max(found, default=(0, 0))


class StateRun:
    """One run, whatever number of processes it takes."""

    def __init__(self, program: Path, form: str, text: Path, folder: Path) -> None:
        self.state = folder / "state"
        self.tracker = self.state / "tracker"
        out = str(folder / "out.jsonl")
        self.command = [str(program), "run", str(text), "-o", out, "--batch", "256", "--progress", "off"]
        self.command += ["--state", str(self.state), *FORMS[form]]

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def go_to(self, offset: int) -> float:
        """Runs up to a byte of the input, and returns how many seconds that took."""
        begun = time.monotonic()
        process = self.start()
        while committed(self.tracker)[1] < offset:
            if process.poll() is not None or time.monotonic() - begun > PATIENCE:
                process.kill()
                raise CommandError(f"it ended before byte {offset}, with {process.wait()}")
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        code = process.wait(PATIENCE)
        if code != 130:
            raise CommandError(f"interrupted it ended with {code}")
        return time.monotonic() - begun

    def first(self) -> float:
        """Goes on to the first commit, and returns how many seconds that took from the start of the
        process, which is killed then."""
        before = committed(self.tracker)[0]
        begun = time.monotonic()
        process = self.start()
        while committed(self.tracker)[0] == before:
            if process.poll() is not None or time.monotonic() - begun > PATIENCE:
                process.kill()
                raise CommandError(f"it ended before a commit, with {process.wait()}")
            time.sleep(POLL)
        took = time.monotonic() - begun
        process.kill()
        process.wait()
        return took
