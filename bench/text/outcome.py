"""What the runs of one comparison measured, put together."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

OURS = "rosaline"
RIVALS = ("luminamoon", "pyarrow", "polars")


@dataclass
class Timing:
    """All repetitions of one form of one job, over all rounds."""

    form: str
    items: int
    bytes: int
    seconds: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


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

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yields the job and data of each row that we have a time for."""
        for key, systems in self.forms.items():
            if OURS in systems:
                yield key

    def fastest(self, key: tuple[str, str], system: str) -> Timing | None:
        """The fastest form of a system, or None where it does not do the job."""
        forms = self.forms[key].get(system)
        return min(forms.values(), key=lambda t: t.best) if forms else None

    def ratio(self, key: tuple[str, str], system: str) -> float | None:
        """Their best time over ours: above 1, we are faster."""
        theirs, ours = self.fastest(key, system), self.fastest(key, OURS)
        return theirs.best / ours.best if theirs and ours else None

    def losing(self) -> list[tuple[str, str]]:
        """The rows in which some system is faster than we are."""
        return [k for k in self.rows() if any((self.ratio(k, s) or 1) < 1 for s in RIVALS)]

    def difference(self, key: tuple[str, str], system: str) -> str | None:
        """How the rows of a system's result differ from ours.

        None means equal; "" that at least one of the two has no rows to compare.
        """
        theirs, ours = self.fastest(key, system), self.fastest(key, OURS)
        if not theirs or not ours:
            return ""
        a = self.check(key, OURS, ours.form)
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
