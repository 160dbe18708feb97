"""Where the time of our jobs goes: the functions with the most time of their own."""

from __future__ import annotations

import argparse
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from outcome import Outcome
from target import PACKED

GO = os.environ.get("GO", "go")
MODULE = "github.com/rosaline-go/rosaline/"
# The pass whose whole profile is shown, and rows that are profiled whoever wins them.
FUSED = ("fused + pii", "docs")
SLOW_STAGES = (("quality", "docs"), ("quality", "cjk"), ("pii", "pii"), ("fused", "docs"))
# What functions of the Go runtime stand for.
RUNTIME = {
    "runtime.memmove": " (copying)",
    "runtime.memclrNoHeapPointers": " (zeroing fresh memory)",
    "runtime.tryDeferToSpanScan": " (garbage collector)",
    "runtime.(*mspan).moveInlineMarks": " (garbage collector)",
    "runtime.scanObject": " (garbage collector)",
    "memeqbody": " (comparing)",
    "runtime.mallocgc": " (allocating)",
    "runtime.madvise": " (giving memory back)",
}
LEAST = 3  # percent; a function with less is not named in a line
ROWS = 20  # of the table


@dataclass
class Share:
    """A function and its time, in percent of all."""

    name: str
    flat: float  # its own
    cumulative: float  # with what it calls

    def __str__(self) -> str:
        return f"`{self.name}`{RUNTIME.get(self.name, '')}"


@dataclass
class Profiles:
    """The whole profile of the fused pass, and the first functions of other rows."""

    fused: list[Share]
    rows: dict[tuple[str, str], list[Share]]


def take(
    args: argparse.Namespace,
    outcome: Outcome,
    pinned: Callable[[list[str]], list[str]],
    env: dict[str, str],
) -> Profiles:
    """Profiles the fused pass, the rows that another system wins, and the slowest stages.

    A job of the command runs in a process of its own, which this profile does not see.
    """

    def shares(key: tuple[str, str], form: str) -> list[Share]:
        path: Path = args.scratch / "cpu.prof"
        command = [str(args.program), f"--data={args.data}", f"--cpuprofile={path}"]
        command += [f"--jobs=^\\Q{'@'.join((*key, form))}\\E$", "--min-time=1s"]
        # A signal to preempt that comes with one to sample hides the function that ran.
        setting = {**env, "ROSALINE_CPU": outcome.base, "GODEBUG": "asyncpreemptoff=1"}
        command.append("--max-reps=100000")
        subprocess.run(pinned(command), env=setting, stdout=subprocess.DEVNULL, check=True)
        top = subprocess.run(
            [GO, "tool", "pprof", "-top", f"-nodecount={ROWS}", str(args.program), str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
            text=True,
        )
        return parse(top.stdout)

    known = set(outcome.rows())
    wanted = [*outcome.losing(), *(key for key in SLOW_STAGES if key in known)]
    seen = [key for key in dict.fromkeys(wanted) if not key[0].startswith(("jsonl", "chain"))]
    rows = {key: shares(key, outcome.fastest(key, outcome.base).form) for key in seen}
    return Profiles(shares(FUSED, PACKED) if FUSED in known else [], rows)


def parse(top: str) -> list[Share]:
    """Reads the table of `pprof -top`: flat flat% sum% cum cum% name."""
    found = []
    for line in top.splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and fields[1].endswith("%") and fields[4].endswith("%"):
            name = fields[5].removesuffix(" (inline)").removeprefix(MODULE)
            found.append(Share(name, float(fields[1][:-1]), float(fields[4][:-1])))
    return found


def line(shares: list[Share]) -> str:
    """The first functions in one line."""
    named = [f"{share} {share.flat:.0f} %" for share in shares[:5] if share.flat >= LEAST]
    return ", ".join(named) or "too short to sample"


def table(shares: list[Share]) -> str:
    """The functions as a table."""
    lines = ["| function | own time | with what it calls |", "|---|--:|--:|"]
    lines += [f"| {s} | {s.flat:.1f} % | {s.cumulative:.1f} % |" for s in shares if s.flat >= 0.5]
    return "\n".join(lines) + "\n"
