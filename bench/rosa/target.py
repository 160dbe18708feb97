"""The numbers that Rosaline must reach, and whether it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from case import (
    ABI1_LENGTHS,
    BATCHES,
    IDS,
    LENGTHS,
    LONG,
    MIDDLE,
    SHORT,
    TEXTS,
    WORST,
    Case,
    Outcome,
    batch,
    latency,
    memory,
    top,
    worst,
)

# By what a value belongs to, the value; None where it was not measured.
Values = dict[str, float | None]
UNITS = {SHORT: "1e4", MIDDLE: "1e5", LONG: "1e6", WORST: "1e7"}


@dataclass
class Target:
    """A bound, and what is held against it."""

    title: str
    bound: float
    unit: str
    values: Callable[[Outcome], Values]
    most: bool = False  # the bound is an upper one

    def goal(self) -> str:
        return f"{'≤' if self.most else '≥'} {self.bound:g}{self.unit}"

    def met(self, value: float) -> bool:
        return value <= self.bound if self.most else value >= self.bound

    def verdict(self, outcome: Outcome) -> str:
        """Met, missed and where, or not measured."""
        values = self.values(outcome)
        known = {name: value for name, value in values.items() if value is not None}
        missed = [name for name, value in known.items() if not self.met(value)]
        if not known:
            return "not measured"
        if missed:
            return "**missed** on " + ", ".join(missed)
        return "met" if len(known) == len(values) else "met where measured"

    def row(self, outcome: Outcome) -> str:
        """The line of the table: of many values, the extremes."""
        known = [v for v in self.values(outcome).values() if v is not None]
        told = ", ".join(map(number, known))
        if len(known) > 4:
            told = f"{number(min(known))} to {number(max(known))}, {len(known)} values"
        return f"| {self.title} | {self.goal()} | {told or '–'} | {self.verdict(outcome)} |"


def number(value: float) -> str:
    """Three digits that count."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def names(outcome: Outcome) -> list[str]:
    """The inputs that are not made to be slow."""
    return list(dict.fromkeys(c.input for c in outcome if c.rival and "batch" not in c.job))


def slow(outcome: Outcome) -> list[str]:
    """The inputs that are."""
    return list(dict.fromkeys(c.input for c in outcome if c.job == "step" and not c.rival))


def ratios(job: str, lengths: tuple[int, ...], easy: bool = False, k: int = 0, r: int = 0):
    """Times the other side, on all inputs; the many ids at 1e4 have a bound of their own.

    Of each side the fastest form counts.
    """

    def values(o: Outcome) -> Values:
        found: Values = {}
        for name in names(o):
            for n in lengths:
                if job == "prefill" and (name == IDS and n == SHORT) != easy:
                    continue
                found[f"{name} {UNITS[n]}"] = o.ratio(Case(job, name, n, k, r))
        return found

    return values


def millions(which: Callable[[Outcome], dict[str, Case]]):
    """Our speed on cases, in millions of tokens a second."""

    def values(o: Outcome) -> Values:
        speeds = {name: o.speed(case) for name, case in which(o).items()}
        return {name: speed / 1e6 if speed else None for name, speed in speeds.items()}

    return values


def held(chosen: Callable[[str], bool]):
    """Resident bytes a token, of inputs."""
    return lambda o: {n: o.figure(memory(n), "resident") for n in names(o) if chosen(n)}


def growth(o: Outcome) -> Values:
    """Time a token of the longest worst case over that at 1e5; the bound is of that at 1e7."""
    found: Values = {}
    for name in slow(o):
        last = max(
            (c.n for c in o if c.input == name and not c.rival and c.job == "step"), default=0
        )
        short, long = o.speed(worst(name, MIDDLE)), o.speed(worst(name, last))
        if last > MIDDLE:
            found[f"{name} {UNITS[last]}"] = short / long if short and long else None
            found.setdefault(f"{name} {UNITS[WORST]}", None)
    return found


def scaling(o: Outcome) -> Values:
    """Speed on two threads over that on one."""
    found: Values = {}
    for job in ("step", "prefill"):
        for name in BATCHES:
            one, two = o.speed(batch(job, name, 1)), o.speed(batch(job, name, 2))
            found[f"{job}, {name}"] = two / one if one and two else None
    return found


def fallback(o: Outcome) -> dict[str, Case]:
    """Candidates of inputs whose links are long chains."""
    return {
        f"{name} K{k}R4": Case("candidates prefill", name, LONG, k, 4)
        for name in ("unary", "period 16")
        for k in (4, 16)
    }


TARGETS = (
    Target("step, times its step", 20, "×", ratios("step", (SHORT, MIDDLE))),
    Target("step at 1e6, times its step", 12, "×", ratios("step", (LONG,))),
    Target("prefill, times its prefill", 10, "×", ratios("prefill", LENGTHS)),
    Target(
        "prefill of 65,536 ids at 1e4, times its prefill", 5, "×", ratios("prefill", LENGTHS, True)
    ),
    Target(
        "step on text at 1e5",
        14,
        " Mtok/s",
        millions(lambda o: {n: top("step", n, MIDDLE) for n in TEXTS}),
    ),
    Target("memory of text at 1e6", 25, " B/token", held(lambda n: n in TEXTS), most=True),
    Target("memory of any bytes at 1e6", 50, " B/token", held(lambda n: n != IDS), most=True),
    Target("memory of other tokens at 1e6", 60, " B/token", held(lambda n: n == IDS), most=True),
    Target(
        "worst cases at 1e6", 5, " Mtok/s", millions(lambda o: {n: worst(n, LONG) for n in slow(o)})
    ),
    Target("their time a token, times that at 1e5", 2, "×", growth, most=True),
    Target(
        "p99 of a step on text",
        3000,
        " ns",
        lambda o: {
            f"{t} {UNITS[n]}": o.figure(latency(t, n), "p99") for t in TEXTS for n in LENGTHS
        },
        most=True,
    ),
    Target(
        "candidates K1R1, times its step", 20, "×", ratios("candidates step", LENGTHS, k=1, r=1)
    ),
    Target(
        "candidates K4R4, times its prefill",
        6,
        "×",
        ratios("candidates prefill", LENGTHS, k=4, r=4),
    ),
    Target(
        "candidates K16R4, times its prefill",
        6,
        "×",
        ratios("candidates prefill", LENGTHS, k=16, r=4),
    ),
    Target("candidates of unary and period 16 at 1e6", 2, " Mtok/s", millions(fallback)),
    Target("abi1 step, times its step", 1.3, "×", ratios("abi1 step", ABI1_LENGTHS)),
    Target("64 rows on 2 threads, times 1", 1.8, "×", scaling),
)


def table(outcome: Outcome) -> str:
    """The targets, what was measured, and the verdict."""
    lines = ["| what | target | measured | |", "|---|--:|---|---|"]
    return "\n".join(lines + [t.row(outcome) for t in TARGETS]) + "\n"
