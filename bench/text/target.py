"""The numbers that Rosaline must reach, and whether it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from comparison import Comparison
from outcome import BASE, faster

COLUMNS = ("short", "med", "docs")
ENGLISH = ("docs", "plain", "prose", "pii")  # mostly ASCII
TEXTS = (*ENGLISH, "cjk")
PACKED = "batches of 1024, packed"

# By what a value belongs to, mostly a data set, the value; None where it was not measured.
Values = dict[str, float | None]


@dataclass
class Target:
    """A bound, and what of a comparison is held against it, at one level."""

    title: str
    bound: float
    unit: str
    values: Callable[[Comparison, str], Values]
    most: bool = False  # the bound is an upper one
    levels: bool = True  # the value depends on the level; else it is that of BASE

    def goal(self) -> str:
        return f"{'≤' if self.most else '≥'} {self.bound:g}{self.unit}"

    def met(self, value: float) -> bool:
        return value <= self.bound if self.most else value >= self.bound

    def verdict(self, comparison: Comparison) -> str:
        """Met, missed and where, or not measured."""
        values = self.values(comparison, comparison.one.base)
        known = {name: value for name, value in values.items() if value is not None}
        missed = [name for name, value in known.items() if not self.met(value)]
        if not known:
            return "not measured"
        if not missed:
            return "met" if len(known) == len(values) else "met where measured"
        return "**missed**" if len(values) == 1 else f"**missed** on {', '.join(missed)}"


def against(job: str, rivals: tuple[str, ...], sets: tuple[str, ...]):
    """The ratio to the best of the rivals on each data set."""

    def values(c: Comparison, level: str) -> Values:
        found: Values = {}
        for data in sets:
            ratios = [c.one.ratio((job, data), rival, level) for rival in rivals]
            found[data] = min((r for r in ratios if r is not None), default=None)
        return found

    return values


def of_memcpy(job: str, copy: str):
    """Packing as a share of memcpy of the same bytes, in percent."""

    def values(c: Comparison, level: str) -> Values:
        share = faster(c.one.fastest((copy, "docs"), level), c.one.fastest((job, "docs"), level))
        return {"docs": 100 * share if share else None}

    return values


def gigabytes(jobs: dict[str, str], data: str):
    """GB/s of jobs by what they are called."""

    def values(c: Comparison, level: str) -> Values:
        timings = {name: c.one.fastest((job, data), level) for name, job in jobs.items()}
        return {name: t.gigabytes if t else None for name, t in timings.items()}

    return values


def packed(pick: Callable):
    """Something of the pass of all stages that packs, on documents of 500 bytes."""

    def values(c: Comparison, level: str) -> Values:
        found: Values = {}
        for data in ("docs", "plain", "pii"):
            timing = c.one.form(("fused + pii", data), level, PACKED)
            found[data] = pick(timing) if timing else None
        return found

    return values


def entry_bytes(c: Comparison, level: str) -> Values:
    timing = c.one.fastest(("dedup a million", "short"), level)
    return {"1 M entries": timing.figures.get("bytes an entry") if timing else None}


def scaling(c: Comparison, level: str) -> Values:
    jobs = {"clean, quality, dedup": "fused", "all stages": "fused + pii"}
    return {name: c.scaling((job, "docs")) for name, job in jobs.items()}


def command(pick: Callable):
    """Something of the fastest long run on all cores."""

    def values(c: Comparison, level: str) -> Values:
        run = c.command(c.cores)
        return {f"{c.cores} cores": pick(run) if run else None}

    return values


LUMINAMOON = ("luminamoon",)
PYARROW = ("pyarrow",)
TARGETS = (
    Target("prefix filter, times of luminamoon", 4, "×", against("prefix", LUMINAMOON, COLUMNS)),
    Target(
        "two columns compared, times of the better of pyarrow and Polars",
        0.8,
        "×",
        against("equal", ("pyarrow", "polars"), COLUMNS),
    ),
    Target(
        "packing into reused memory, of memcpy", 85, " %", of_memcpy("pack into", "memcpy into")
    ),
    Target("packing into fresh memory, of memcpy", 85, " %", of_memcpy("pack", "memcpy")),
    Target(
        "packing into reused memory, times of pyarrow's cast",
        1.2,
        "×",
        against("pack into", PYARROW, COLUMNS),
    ),
    Target(
        "packing into fresh memory, times of pyarrow's cast",
        1.2,
        "×",
        against("pack", PYARROW, COLUMNS),
    ),
    Target(
        "views of offsets and payload, times of pyarrow's cast",
        1,
        "×",
        against("from offsets", PYARROW, COLUMNS),
    ),
    Target("clean, times of luminamoon", 20, "×", against("clean", LUMINAMOON, TEXTS)),
    Target(
        "quality of ASCII, times of luminamoon", 5, "×", against("quality", LUMINAMOON, ENGLISH)
    ),
    Target(
        "quality of Chinese",
        0.45,
        " GB/s",
        gigabytes({"words by white space": "quality", "by script": "quality by script"}, "cjk"),
    ),
    Target("dedup, times of luminamoon", 3, "×", against("dedup", LUMINAMOON, TEXTS)),
    Target("memory of dedup", 36, " bytes an entry", entry_bytes, most=True),
    Target(
        "PII with two hits a document, times of luminamoon",
        200,
        "×",
        against("pii", LUMINAMOON, ("pii",)),
    ),
    Target(
        "PII without hits, times of luminamoon", 400, "×", against("pii", LUMINAMOON, ("plain",))
    ),
    Target(
        "text and id of a JSON line, times of fastjson",
        1.5,
        "×",
        against("field", ("go",), ("docs", "prose")),
    ),
    Target(
        "clean, quality and dedup fused, times of luminamoon",
        5,
        "×",
        against("fused", LUMINAMOON, TEXTS),
    ),
    Target(
        "all four stages fused and packed", 0.8, " M documents/s", packed(lambda t: t.millions)
    ),
    Target(
        "allocations of that, a document",
        0,
        "",
        packed(lambda t: t.figures.get("allocations")),
        most=True,
    ),
    Target("fused pass, all cores against one", 1.9, "×", scaling, levels=False),
    Target(
        "`rosaline run`, JSONL → JSONL, all stages, all cores",
        400,
        " MB/s",
        command(lambda r: r.megabytes),
        levels=False,
    ),
    Target(
        "the same on one core, times of datatrove's chain",
        300,
        "×",
        against("chain", ("datatrove",), ("docs", "prose")),
    ),
    Target(
        "the same with the rules of Gopher (and repairs, where the command has them)",
        300,
        "×",
        against("chain, gopher", ("datatrove",), ("docs", "prose")),
    ),
    Target(
        "peak memory of the command on the large input, besides the set of dedup",
        300,
        " MB",
        command(lambda r: r.besides if r.peak else None),
        most=True,
        levels=False,
    ),
)


def table(comparison: Comparison) -> str:
    """The targets, what was measured at each level, and the verdict."""
    base = comparison.one.base
    others = [level for level in comparison.one.levels if level != base]
    lines = [
        f"| what | target | {' | '.join((base, *others))} | |",
        "|---|--:|" + "---|" * (len(others) + 2),
    ]
    for target in TARGETS:
        cells = [cell(target.values(comparison, base))]
        for level in others:
            cells.append(cell(target.values(comparison, level)) if target.levels else "")
        row = [target.title, target.goal(), *cells, target.verdict(comparison)]
        lines.append("| " + " | ".join(row) + " |")
    if base != BASE:
        lines.append(f"\nThis machine lacks {BASE}: the targets are held against {base}.")
    return "\n".join(lines) + "\n"


def cell(values: Values) -> str:
    """The values by what they belong to; one alone without its name."""
    texts = {name: "–" if value is None else number(value) for name, value in values.items()}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return ", ".join(f"{name} {text}" for name, text in texts.items())


def number(value: float) -> str:
    """Three digits that count; no exponent from a ten-thousandth up."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if value >= 0.001 or value == 0 else f"{value:.1g}"
