"""All that one run of the comparison measured."""

from __future__ import annotations

from dataclasses import dataclass, field

from longrun import LongRun
from outcome import Outcome

Key = tuple[str, str]  # job and data


@dataclass
class Comparison:
    """Two outcomes, on one core and on all, and the long runs of the command."""

    one: Outcome
    all: Outcome
    cores: int
    runs: list[LongRun] = field(default_factory=list)  # on the large input
    larger: list[LongRun] = field(default_factory=list)  # on twice of it, with --long
    missing: list[str] = field(default_factory=list)  # what could not be measured, and why

    def scaling(self, key: Key) -> float | None:
        """How much faster all cores are than one, for us."""
        one, every = self.one.fastest(key, self.one.base), self.all.fastest(key, self.all.base)
        return one.best / every.best if one and every else None

    def command(self, cores: int) -> LongRun | None:
        """The fastest of the runs on so many cores."""
        runs = [run for run in self.runs if run.cores == cores]
        return min(runs, key=lambda run: run.seconds) if runs else None
