"""What is measured: jobs on inputs, on both sides or on ours alone."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product

SHORT, MIDDLE, LONG, WORST = 10_000, 100_000, 1_000_000, 10_000_000
LENGTHS = (SHORT, MIDDLE, LONG)
TEXTS = ("English", "source code")
IDS = "65,536 ids"
BATCHES = ("English", "random bytes")
ROWS, ROW = 64, 10_000  # of a batch
STREAMS = (("step", 0, 0), ("prefill", 0, 0), ("prefill into", 0, 0))
CANDIDATES = (
    ("candidates step", 1, 1),
    ("candidates prefill", 4, 4),
    ("candidates prefill into", 4, 4),
    ("candidates prefill", 16, 4),
    ("candidates prefill into", 16, 4),
)
ABI1 = (("abi1 step", 0, 0), ("abi1 candidates step", 1, 1), ("abi1 candidates step", 16, 4))
ABI1_LENGTHS = (SHORT, MIDDLE)
BURSTS = ("English twice", "a^n b")  # a long match breaks


@dataclass(frozen=True)
class Input:
    """A file of tokens."""

    name: str
    kind: str  # usual; worst: made to be slow; burst: made for one slow step
    n: int
    file: str


@dataclass(frozen=True)
class Case:
    """One row of a table."""

    job: str
    input: str
    n: int
    k: int = 0
    r: int = 0
    threads: int = 1
    rival: bool = True  # whether the other side does it too

    @property
    def name(self) -> str:
        """What `--cases` is matched with."""
        candidates = f"@K{self.k}R{self.r}" if self.k else ""
        threads = f"@{self.threads} threads" if self.job.startswith("batch") else ""
        return f"{self.job}@{self.input}@{self.n}{candidates}{threads}"

    def arguments(self) -> dict[str, str]:
        """What both sides are told, besides the file."""
        found = {"job": self.job, "n": str(self.n), "threads": str(self.threads)}
        if self.k:
            found |= {"k": str(self.k), "r": str(self.r)}
        if self.job.startswith("batch"):
            found["rows"] = str(ROWS)
        return found


@dataclass
class Side:
    """What one side told about a case, over all rounds."""

    seconds: list[float] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)  # the worst of the rounds
    checks: set[str] = field(default_factory=set)
    failed: str = ""  # why there is nothing, or less

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def add(self, line: dict) -> None:
        """Takes in the line of a run."""
        self.seconds += line["seconds"]
        for name, value in line.get("figures", {}).items():
            self.figures[name] = max(value, self.figures.get(name, value))
        if line.get("check"):
            self.checks.add(line["check"])


@dataclass
class Pair:
    """Both sides of a case."""

    ours: Side = field(default_factory=Side)
    theirs: Side = field(default_factory=Side)

    def ratio(self) -> float | None:
        """Their median over ours: above 1, we are faster."""
        if not self.ours.seconds or not self.theirs.seconds:
            return None
        return self.theirs.median / self.ours.median

    def differs(self) -> bool:
        return len(self.ours.checks | self.theirs.checks) > 1

    def compared(self) -> bool:
        return bool(self.ours.checks and self.theirs.checks)


class Outcome(dict[Case, Pair]):
    """All that was measured."""

    def fastest(self, case: Case, side: Callable[[Pair], Side]) -> float | None:
        """The median of a side's fastest form: results in fresh memory, or in used."""
        forms = (case, replace(case, job=f"{case.job} into"))
        sides = [side(self[form]) for form in forms if form in self]
        return min((s.median for s in sides if s.seconds), default=None)

    def speed(self, case: Case) -> float | None:
        """Our tokens a second, of the fastest form."""
        seconds = self.fastest(case, lambda pair: pair.ours)
        return case.n / seconds if seconds else None

    def ratio(self, case: Case) -> float | None:
        """Their fastest form over ours: above 1, we are faster."""
        ours = self.fastest(case, lambda pair: pair.ours)
        theirs = self.fastest(case, lambda pair: pair.theirs)
        return theirs / ours if ours and theirs else None

    def figure(self, case: Case, name: str) -> float | None:
        pair = self.get(case)
        return pair.ours.figures.get(name) if pair else None


def top(job: str, name: str, n: int) -> Case:
    """Step or prefill of one stream."""
    return Case(job, name, n)


def batch(job: str, name: str, threads: int) -> Case:
    return Case(f"batch {job}", name, ROWS * ROW, threads=threads)


def worst(name: str, n: int) -> Case:
    return Case("step", name, n, rival=False)


def latency(name: str, n: int, bounded: bool = False) -> Case:
    return Case("latency bounded" if bounded else "latency", name, n, rival=False)


def memory(name: str) -> Case:
    return Case("memory", name, LONG)


def cases(inputs: list[Input], threads: int) -> Iterator[Case]:
    """All cases, those of one kind together."""
    names = list(dict.fromkeys(i.name for i in inputs if i.kind == "usual"))
    for job, k, r in STREAMS + CANDIDATES:
        yield from (Case(job, name, n, k, r) for name in names for n in LENGTHS)
    for job, k, r in ABI1:
        yield from (Case(job, name, n, k, r) for name in names for n in ABI1_LENGTHS)
    for job in ("step", "prefill"):
        yield from (batch(job, name, t) for name in BATCHES for t in (1, 2) if t <= threads)
    yield from (worst(i.name, i.n) for i in inputs if i.kind == "worst" and i.n > SHORT)
    for name, n in [*product(TEXTS, LENGTHS), *product(BURSTS, (LONG,))]:
        yield from (latency(name, n, bounded) for bounded in (False, True))
    yield from (memory(name) for name in names)
