"""What the runs of one comparison measured, put together; every ratio is computed here."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

# Rosaline, by the instructions its loops use. The ratios are those of BASE.
LEVELS = ("generic", "avx2", "avx512")
BASE = "avx2"
# The other systems; `go` are the libraries in Go.
RIVALS = ("luminamoon", "pyarrow", "polars", "go", "datatrove")


@dataclass
class Timing:
    """All repetitions of one form of one job, over all rounds."""

    form: str
    items: int
    bytes: int
    seconds: list[float] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)  # the worst of the rounds

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def gigabytes(self) -> float:
        """GB/s of the best repetition."""
        return self.bytes / self.best / 1e9

    @property
    def millions(self) -> float:
        """Millions of rows a second of the best repetition."""
        return self.items / self.best / 1e6


@dataclass
class Outcome:
    """The timings by job, data and system, and the folder of checks."""

    checks: Path
    versions: dict[str, str] = field(default_factory=dict)
    shares: dict[str, list[float]] = field(default_factory=dict)  # of a core, run by run
    forms: dict[tuple[str, str], dict[str, dict[str, Timing]]] = field(default_factory=dict)

    def add(self, system: str, line: dict) -> None:
        """Takes in one line of a run."""
        if "version" in line:
            self.versions[system] = line["version"]
            return
        forms = self.forms.setdefault((line["job"], line["data"]), {}).setdefault(system, {})
        timing = forms.setdefault(line["form"], Timing(line["form"], line["items"], line["bytes"]))
        timing.seconds += line["seconds"]
        for name, value in line.get("figures", {}).items():
            timing.figures[name] = max(value, timing.figures.get(name, value))

    @property
    def levels(self) -> list[str]:
        """The levels that were measured."""
        return [level for level in LEVELS if level in self.versions]

    @property
    def base(self) -> str:
        """The level of the ratios: BASE, or where a machine lacks it the highest it has."""
        return BASE if BASE in self.levels else (self.levels or [BASE])[-1]

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yields the job and data of each row that we have a time for."""
        for key, systems in self.forms.items():
            if self.base in systems:
                yield key

    def fastest(self, key: tuple[str, str], system: str) -> Timing | None:
        """The fastest form of a system, or None where it does not do the job."""
        forms = self.forms.get(key, {}).get(system)
        return min(forms.values(), key=lambda t: t.best / t.bytes) if forms else None

    def form(self, key: tuple[str, str], system: str, name: str) -> Timing | None:
        """One form of a system, or None where it was not measured."""
        return self.forms.get(key, {}).get(system, {}).get(name)

    def ratio(self, key: tuple[str, str], system: str, level: str = "") -> float | None:
        """Their best time over ours, of a level: above 1, we are faster."""
        ours = self.fastest(key, level or self.base)
        return faster(self.fastest(key, system), ours)

    def losing(self) -> list[tuple[str, str]]:
        """The rows in which some system is faster than we are."""
        return [k for k in self.rows() if any((self.ratio(k, s) or 1) < 1 for s in RIVALS)]

    def difference(self, key: tuple[str, str], system: str) -> str | None:
        """How the rows of a system's result differ from ours.

        None means equal; "" that at least one of the two has no rows to compare.
        """
        theirs, ours = self.fastest(key, system), self.fastest(key, self.base)
        if not theirs or not ours:
            return ""
        a = self.check(key, self.base, ours.form)
        b = self.check(key, system, theirs.form)
        if a is None or b is None:
            return ""
        if len(a) != len(b):
            return f"{len(b)} rows, ours has {len(a)}"
        wrong = int((a != b).sum())
        return f"{wrong} of {len(a)} rows differ" if wrong else None

    def check(self, key: tuple[str, str], system: str, form: str) -> np.ndarray | None:
        path = self.checks / system / f"{key[0]}@{key[1]}@{form}"
        return np.fromfile(path, dtype="<u4") if path.exists() else None


def faster(theirs: Timing | None, ours: Timing | None, median: bool = False) -> float | None:
    """Their time over ours, each for its bytes; None where one is missing.

    The bytes differ only where a slow system works on a part of the data.
    """
    if not theirs or not ours:
        return None
    a, b = (theirs.median, ours.median) if median else (theirs.best, ours.best)
    return (a / theirs.bytes) / (b / ours.bytes)
