"""The program of one side, which answers a line of JSON with a line."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from types import TracebackType


class SideError(Exception):
    """A side could not do what it was asked to."""


class Side:
    """A process that has been started."""

    def __init__(self, name: str, command: list[str]) -> None:
        self.name, self.started = name, time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, do: str, **what: object) -> dict:
        """Has something done, and returns the answer."""
        assert self.process.stdin and self.process.stdout
        with contextlib.suppress(BrokenPipeError):  # the answer will be missing, too
            print(json.dumps({"do": do, **what}), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise SideError(f"{self.name}: {do}: it ended with {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise SideError(f"{self.name}: {do}: {answer['error']}")
        return answer

    def age(self) -> float:
        """Seconds since the process was begun."""
        return time.perf_counter() - self.started

    def __enter__(self) -> Side:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self.process.stdin and self.process.stdout
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()
        if self.process.wait() and not error:
            raise SideError(f"{self.name}: it ended with {self.process.returncode}")
