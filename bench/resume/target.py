"""The numbers that Rosaline must reach, and whether it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from outcome import LARGE, LENGTHS, MIDDLE, OURS, SMALL, Outcome, ours, theirs

# By what a value belongs to, the value; None where it was not measured.
Values = dict[str, float | None]
UNITS = {SMALL: "1e4", MIDDLE: "3e5", 1_000_000: "1e6", 10_000_000: "1e7", LARGE: "3e7"}
LARGE_TEXT = 5_000_000_000  # bytes
LIBRARY = "records"  # the form of a run that has nothing but its place to find again


@dataclass(frozen=True)
class Target:
    """An upper bound, and what is held against it."""

    title: str
    bound: float
    unit: str
    values: Callable[[Outcome], Values]

    def verdict(self, outcome: Outcome) -> str:
        """Met, missed and where, or not measured."""
        values = self.values(outcome)
        known = {name: value for name, value in values.items() if value is not None}
        missed = [name for name, value in known.items() if value > self.bound]
        if not known:
            return "not measured"
        if missed:
            return "**missed** on " + ", ".join(missed)
        return "met" if len(known) == len(values) else "met where measured"

    def row(self, outcome: Outcome) -> str:
        """The line of the table."""
        told = ", ".join(
            f"{name}: {number(value)}"
            for name, value in self.values(outcome).items()
            if value is not None
        )
        verdict = self.verdict(outcome)
        return f"| {self.title} | ≤ {self.bound:g}{self.unit} | {told or '–'} | {verdict} |"


def number(value: float) -> str:
    """Three digits that count."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def size(count: int) -> str:
    """Bytes of a file."""
    return f"{count / 1e9:.2g} GB" if count >= 1e9 else f"{count / 1e6:.3g} MB"


def commit(quantile: float) -> Callable[[Outcome], Values]:
    """Our whole commit, times that of their tracker alone."""
    return lambda o: {
        f"at {UNITS[n]}": o.ratio(ours("both", n), theirs("tracker"), quantile)
        for n in (SMALL, MIDDLE)
    }


def log(o: Outcome) -> Values:
    return {"p50": o.ratio(ours("log", LARGE), ours("log", SMALL))}


def memory(name: str) -> Callable[[Outcome], Values]:
    """Bytes a hash of logs that were opened."""

    def values(o: Outcome) -> Values:
        found = {n: o.reopened.get((OURS, n)) for n in LENGTHS}
        return {UNITS[n]: r.held(name, n) if r else None for n, r in found.items()}

    return values


def linear(o: Outcome) -> Values:
    """The longest time a hash over the shortest."""
    each = [o.reopened[OURS, n].each(n) for n in LENGTHS if (OURS, n) in o.reopened]
    whole = len(each) == len(LENGTHS)
    return {"1e6, 1e7, 3e7": max(each) / min(each) if whole else None}


def library(o: Outcome) -> Values:
    """Seconds from the start of the process, in the worst round; the bound is of 5 GB."""
    found: Values = {}
    if o.text:
        took = o.text.first.get((OURS, LIBRARY))
        found[f"in {size(o.text.bytes)}"] = max(took.process) if took else None
    if not o.text or o.text.bytes < LARGE_TEXT:
        found[f"in {size(LARGE_TEXT)}"] = None
    return found


def command(o: Outcome) -> Values:
    """Seconds of `rosaline run --state`, from its start to its first commit, in the worst round."""
    found: Values = {}
    if o.text and o.text.bytes >= LARGE_TEXT:
        found = {form: max(took) for form, took in o.text.command.items()}
    return found or {"5 GB": None}


TARGETS = (
    Target("commit, p50 over that of their tracker", 2.3, "×", commit(0.5)),
    Target("commit, p99 over that of their tracker", 2.3, "×", commit(0.99)),
    Target("log of 3e7 hashes, one more, over that of 1e4", 1.25, "×", log),
    Target("memory of hashes, resident", 40, " B", memory("resident")),
    Target("memory of hashes, heap", 40, " B", memory("heap")),
    Target("reopening, time a hash, longest over shortest", 1.5, "×", linear),
    Target("resuming at 99 %, to the first batch, library", 1, " s", library),
    Target("resuming at 99 %, to the first batch, command", 1, " s", command),
)


def table(outcome: Outcome) -> str:
    """The targets, what was measured, and the verdict."""
    lines = ["| what | target | measured | |", "|---|--:|---|---|"]
    return "\n".join(lines + [t.row(outcome) for t in TARGETS]) + "\n"
