"""What was measured."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

SMALL, MIDDLE, LARGE = 10_000, 300_000, 30_000_000  # hashes that were committed before
LENGTHS = (1_000_000, 10_000_000, LARGE)  # of logs that are opened again
STATE = 1024  # bytes of state in a commit
OURS, THEIRS = "ours", "theirs"


@dataclass(frozen=True)
class Lane:
    """One kind of commits of one side, beside so many hashes."""

    side: str
    kind: str  # tracker; log: one hash alone; both: one hash and the tracker
    hashes: int = 0
    state: int = 0  # bytes, which only our log keeps

    @property
    def name(self) -> str:
        return f"{self.side} {self.kind} {self.hashes}"


def at(nanoseconds: list[int], quantile: float) -> float:
    """A quantile in microseconds."""
    return sorted(nanoseconds)[round(quantile * (len(nanoseconds) - 1))] / 1e3


@dataclass
class Commits:
    """How long commits took, in nanoseconds, each round apart."""

    rounds: list[list[int]] = field(default_factory=list)

    def at(self, quantile: float) -> float:
        """Microseconds that so many of all commits took at most."""
        return at([ns for each in self.rounds for ns in each], quantile)

    def each(self, quantile: float) -> list[float]:
        """The same of each round."""
        return [at(each, quantile) for each in self.rounds]


@dataclass
class Reopened:
    """What it took to open files again, of all rounds."""

    seconds: list[float] = field(default_factory=list)
    bytes: dict[str, list[int]] = field(default_factory=dict)  # by what was counted

    def add(self, answer: dict) -> None:
        self.seconds.append(answer["seconds"])
        for name in ("heap", "resident", "peak"):
            if name in answer:
                self.bytes.setdefault(name, []).append(answer[name])

    def each(self, hashes: int) -> float:
        """Nanoseconds a hash, in the median."""
        return statistics.median(self.seconds) / hashes * 1e9

    def held(self, name: str, hashes: int) -> float | None:
        """Bytes a hash, in the worst round."""
        found = self.bytes.get(name)
        return max(found) / hashes if found else None


@dataclass
class First:
    """How long it took to the first batch of a resumed run, in seconds, of all rounds."""

    resume: list[float] = field(default_factory=list)  # of opening and the batch
    process: list[float] = field(default_factory=list)  # with the start of the process


@dataclass
class Text:
    """The file that a run is resumed in, and what it takes to go through it."""

    bytes: int
    rows: int
    at: int  # rows before the place
    scan: list[float] = field(default_factory=list)  # seconds, of its lines
    run: dict[str, float] = field(default_factory=dict)  # seconds to the place, by form
    first: dict[tuple[str, str], First] = field(default_factory=dict)  # by side and form
    whole: dict[str, float] = field(default_factory=dict)  # seconds of the command to the place
    command: dict[str, list[float]] = field(default_factory=dict)  # to its first commit


@dataclass
class Outcome:
    """All of it."""

    commits: dict[Lane, Commits] = field(default_factory=dict)
    reopened: dict[tuple[str, int], Reopened] = field(default_factory=dict)  # by side and hashes
    text: Text | None = None
    skipped: list[str] = field(default_factory=list)  # what was not measured, and why
    wrong: list[str] = field(default_factory=list)  # answers that are not what they must be

    def at(self, lane: Lane, quantile: float) -> float | None:
        """Microseconds of a quantile of commits."""
        found = self.commits.get(lane)
        return found.at(quantile) if found and found.rounds else None

    def ratio(self, one: Lane, other: Lane, quantile: float = 0.5) -> float | None:
        """The median of the ratios of rounds, whose commits were made at nearly the same time."""
        ratios = self.ratios(one, other, quantile)
        return statistics.median(ratios) if ratios else None

    def ratios(self, one: Lane, other: Lane, quantile: float = 0.5) -> list[float]:
        """The ratios of single rounds."""
        a, b = self.commits.get(one), self.commits.get(other)
        if not a or not b:
            return []
        pairs = zip(a.each(quantile), b.each(quantile), strict=False)  # one may have failed
        return [x / y for x, y in pairs]


def ours(kind: str, hashes: int = 0) -> Lane:
    return Lane(OURS, kind, hashes, STATE if kind == "both" else 0)


def theirs(kind: str, hashes: int = 0) -> Lane:
    return Lane(THEIRS, kind, hashes)
