"""Does one job with rosa-torch-native and prints a line of JSON, as the Go program does.

Making the arrays of a state is not timed, nor is anything else before the first token.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import rosa_native_step

import state

# Answers of steps are kept for the check up to so many tokens: each is an array or five.
CHECKED_STEPS = 100_000


class Job:
    """What is done with an input."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        tokens = np.fromfile(args.input, dtype="<i8")
        self.tokens = tokens[: args.n] if args.n else tokens
        self.figures: dict[str, float] = {}
        self.owner: state.Owner | None = None

    def begin(self, rows: int = 1) -> object:
        """An empty state for the tokens."""
        self.owner = None
        gc.collect()
        length = len(self.tokens) // rows
        if "candidates" in self.args.job:
            self.owner = state.candidates(rows, length, self.args.k, self.args.r)
            return rosa_native_step.NativeCandidateState(self.owner)
        self.owner = state.top(rows, length)
        return rosa_native_step.NativeState(self.owner)

    def repeat(self, rows: int, run: Callable[[object], object]) -> tuple[list[float], object]:
        """Times run on states made anew until the time is over."""
        seconds: list[float] = []
        while not seconds or (
            sum(seconds) < self.args.min_time and len(seconds) < self.args.repetitions
        ):
            result = None
            native = self.begin(rows)
            start = time.perf_counter()
            result = run(native)
            seconds.append(time.perf_counter() - start)
        return seconds, result

    def rows(self) -> np.ndarray:
        """The tokens, a part for each row."""
        rows = self.args.rows if self.args.job.startswith("batch") else 1
        return np.ascontiguousarray(self.tokens.reshape(rows, -1))

    def step(self) -> dict:
        """Steps all tokens, a position after the other."""
        rows = self.rows()
        columns = np.ascontiguousarray(rows.T)

        def run(native: object) -> None:
            step = native.step
            for column in columns:
                step(column)

        seconds, _ = self.repeat(len(rows), run)
        check = None
        if self.args.check and len(columns) <= CHECKED_STEPS:
            step = self.begin(len(rows)).step
            answers = [step(column) for column in columns]
            if isinstance(answers[0], tuple):
                check = check_of(map(np.stack, zip(*answers, strict=True)))
            else:
                check = check_of([np.stack(answers)])
        return self.line(seconds, check)

    def prefill(self) -> dict:
        """Takes all tokens at once."""
        rows = self.rows()
        seconds, answers = self.repeat(len(rows), lambda native: native.prefill(rows))
        if not isinstance(answers, tuple):
            answers = (answers,)
        return self.line(seconds, check_of(answers) if self.args.check else None)

    def step_into(self) -> dict:
        """Steps all tokens of a row, candidates into memory that is made once."""
        columns = np.ascontiguousarray(self.rows().T)
        row = state.results((1,), self.args.k * self.args.r)

        def run(native: object) -> None:
            step = native.step_into
            for column in columns:
                step(column, *row)

        seconds, _ = self.repeat(1, run)
        check = None
        if self.args.check and len(columns) <= CHECKED_STEPS:
            answers = state.results((len(columns), 1), self.args.k * self.args.r)
            step = self.begin().step_into
            for i, column in enumerate(columns):
                step(column, *(a[i] for a in answers))
            check = check_of(answers)
        return self.line(seconds, check)

    def prefill_into(self) -> dict:
        """Takes all tokens at once, candidates into memory that is made once and used again."""
        rows = self.rows()
        answers = state.results(rows.shape, self.args.k * self.args.r)
        seconds, _ = self.repeat(len(rows), lambda native: native.prefill_into(rows, *answers))
        return self.line(seconds, check_of(answers) if self.args.check else None)

    def memory(self) -> dict:
        """Bytes a token of the arrays, and of resident memory."""
        before = resident()
        native = self.begin()
        for column in self.tokens.reshape(-1, 1):
            native.step(column)
        self.figures["held"] = state.size(self.owner) / len(self.tokens)
        self.figures["resident"] = (resident() - before) / len(self.tokens)
        return self.line([], None)

    def line(self, seconds: list[float], check: str | None) -> dict:
        line = {"seconds": seconds, "figures": self.figures}
        return {**line, "check": check} if check else line


def check_of(answers: Iterable[np.ndarray]) -> str:
    """The CRC-32 of arrays."""
    crc = 0
    for a in answers:
        crc = zlib.crc32(np.ascontiguousarray(a).reshape(-1).view(np.uint8), crc)
    return f"{crc:08x}"


def resident() -> int:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--job", required=True)
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--n", type=int, default=0)
    parser.add_argument("--k", type=int, default=16)
    parser.add_argument("--r", type=int, default=4)
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--min-time", type=lambda s: float(s.removesuffix("s")), default=0.3)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    os.environ["ROSA_NATIVE_THREADS"] = str(args.threads)
    job = Job(args)
    jobs = {
        "prefill into": job.prefill,  # results are always made by the other side
        "candidates prefill into": job.prefill_into,
        "abi1 candidates step": job.step_into,
    }
    last = {"step": job.step, "prefill": job.prefill, "memory": job.memory}
    print(json.dumps((jobs.get(args.job) or last[args.job.split()[-1]])()))


if __name__ == "__main__":
    main()
