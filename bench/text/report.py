"""Writes what a comparison measured as Markdown."""

from __future__ import annotations

import math
import platform
import sys
from pathlib import Path

import profiles
import target
from comparison import Comparison
from longrun import LongRun
from outcome import RIVALS, Outcome, Timing, faster
from profiles import Profiles

sys.path.append(str(Path(__file__).resolve().parents[1]))
from facts import facts as about  # noqa: E402

NOTES = Path(__file__).parent / "NOTES.md"
LIBRARIES = ("luminamoon", "pyarrow", "polars")  # that have a column each in the table
NAMES = {"go": "Go libraries"}
# What each job is, in the order of the table.
TITLES = {
    "from strings": "column from a list of strings",
    "from offsets": "column from offsets and payload, validated",
    "prefix": "rows that begin with 3 given bytes",
    "prefix select": "the same, as row numbers in reused memory",
    "equal": "two equal columns compared",
    "memcpy": "memcpy of what packing writes",
    "pack": "pack to offsets and payload",
    "memcpy into": "memcpy into reused memory",
    "pack into": "pack into reused memory",
    "hash": "64-bit hash of each row",
    "utf8": "check of UTF-8",
    "clean": "clean: line ends and trim",
    "quality": "quality: verdict of the preset, words by white space",
    "quality by script": "the same, words by script",
    "dedup": "exact dedup",
    "dedup a million": "dedup of a million short texts, one by one",
    "pii": "PII: key, e-mail, card, IP",
    "pii email": "PII: e-mail only",
    "fused": "clean + quality + dedup",
    "fused + pii": "clean + quality + dedup + PII",
    "field": "text and id of JSON lines",
    "jsonl": "JSONL → JSONL: clean + quality + dedup",
    "jsonl + pii": "JSONL → JSONL: clean + quality + dedup + PII",
    "chain": "JSONL → JSONL, beside datatrove's chain: all stages",
    "chain, gopher": "JSONL → JSONL, beside datatrove's chain: with the rules of Gopher",
}


def markdown(
    comparison: Comparison, command: str, setting: dict[str, str], hot: Profiles | None
) -> str:
    """Returns the whole report."""
    one = comparison.one
    parts = [
        "# Text beside other systems\n",
        "Written by `make bench`; do not edit. Free text comes from `NOTES.md`.",
        f"A ratio is the other system's best time divided by ours, of {one.base}: above 1, Rosaline",
        "is faster. In brackets the same of the medians.\n",
        facts(comparison, command, setting),
        "## Targets\n",
        target.table(comparison),
        NOTES.read_text(encoding="utf-8"),
        "## Times on one core\n",
        "Rows in which another system wins are in **bold**. The columns of the other levels are",
        f"how much faster {one.base} is than they are.\n",
        table(one),
        f"## Times on {comparison.cores} cores\n",
        shared(comparison),
        "## The command on a large input\n",
        long_runs(comparison),
        "## Reading it\n",
        notes(comparison),
        "## Where the time goes\n",
        profile(hot),
    ]
    return "\n".join(parts)


def name(system: str) -> str:
    return NAMES.get(system, system)


def facts(comparison: Comparison, command: str, setting: dict[str, str]) -> str:
    versions = ", ".join(
        f"{'rosaline' if s in comparison.one.levels else name(s)} {v}"
        for s, v in comparison.one.versions.items()
    )
    return about(
        command,
        {
            "versions": f"{versions}, Python {platform.python_version()}",
            "share of a core": shares(comparison.one)
            + " (well below 100 %: something else was running, and long jobs look slower)",
            f"with {comparison.cores} cores": shares(comparison.all),
            "left out": "; ".join(comparison.missing),
            **setting,
        },
    )


def shares(outcome: Outcome) -> str:
    return "; ".join(
        f"{name(s)} {', '.join(f'{share:.0%}' for share in found)}"
        for s, found in outcome.shares.items()
    )


def table(outcome: Outcome) -> str:
    """A line for each row, the rivals' ratios beside ours."""
    others = [level for level in outcome.levels if level != outcome.base]
    head = ["job", "data", "MB", outcome.base, "GB/s", "M rows/s", *others, *LIBRARIES, "other"]
    lines = ["| " + " | ".join(head) + " |", "|---|---|" + "--:|" * (len(head) - 2)]
    losing = set(outcome.losing())
    for key in ordered(outcome):
        ours = outcome.fastest(key, outcome.base)
        title = TITLES[key[0]]
        cells = [
            f"**{title}**" if key in losing else title,
            key[1],
            f"{ours.bytes / 1e6:.1f}",
            times(ours),
            number(ours.gigabytes),
            number(ours.millions),
            *(level_cell(outcome, key, level) for level in others),
            *(ratio(outcome, key, system) for system in LIBRARIES),
            other(outcome, key),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def ordered(outcome: Outcome) -> list[tuple[str, str]]:
    order = {job: i for i, job in enumerate(TITLES)}
    return sorted(outcome.rows(), key=lambda k: order[k[0]])


def level_cell(outcome: Outcome, key: tuple[str, str], level: str) -> str:
    value = outcome.ratio(key, level)
    return f"{number(value, 2)}×" if value else "–"


def other(outcome: Outcome, key: tuple[str, str]) -> str:
    """The cells of the systems that have no column, with what they are."""
    cells = [
        f"{outcome.fastest(key, s).form if s == 'go' else s} {ratio(outcome, key, s)}"
        for s in RIVALS
        if s not in LIBRARIES and outcome.fastest(key, s)
    ]
    return ", ".join(cells) or "–"


def shared(comparison: Comparison) -> str:
    """The jobs that run on all cores: our gain over one core, and the rivals."""
    every = comparison.all
    head = ["job", "data", every.base, "GB/s", "M rows/s", "times of one core", *LIBRARIES]
    lines = ["| " + " | ".join(head) + " |", "|---|---|" + "--:|" * (len(head) - 2)]
    for key in ordered(every):
        ours, gain = every.fastest(key, every.base), comparison.scaling(key)
        cells = [
            TITLES[key[0]],
            key[1],
            times(ours),
            number(ours.gigabytes),
            number(ours.millions),
            f"{number(gain)}×" if gain else "–",
            *(ratio(every, key, system) for system in LIBRARIES),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n" if len(lines) > 2 else "Not measured.\n"


def long_runs(comparison: Comparison) -> str:
    """The runs of the command on input that is larger than its memory, the fastest of each kind."""
    head = ["stages", "GB", "cores", "time", "MB/s", "cores busy", "peak MB", "set of dedup, MB"]
    head.append("by eighths")
    lines = ["| " + " | ".join(head) + " |", "|" + "--:|" * len(head)]
    best: dict[tuple[str, int, int], LongRun] = {}
    for run in (*comparison.runs, *comparison.larger):
        kind = (run.stages, run.bytes, run.cores)
        if kind not in best or run.seconds < best[kind].seconds:
            best[kind] = run
    for run in best.values():
        cells = [
            run.stages,
            f"{run.bytes / 1e9:.2f}",
            str(run.cores),
            f"{run.seconds:.2f} s",
            f"{run.megabytes:.0f}",
            f"{run.cpu / run.seconds:.2f}",
            f"{run.peak / 1e6:.0f}" if run.peak else "–",
            f"{run.dedup / 1e6:.0f}",
            ", ".join(f"{e:.0f}" for e in run.eighths()) or "–",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    if not best:
        return "Not measured.\n"
    lines.append(
        "\n`rosaline run`, from a file to the null device, so that no disk is "
        "measured. The input is\ndocuments, repeated with a number each: the set of dedup grows with "
        "it. Memory is resident memory; by\neighths, the most in each eighth of the time. "
        "`bench/text/run --long` adds runs on 2 GB."
    )
    return "\n".join(lines) + "\n"


def times(timing: Timing) -> str:
    return f"{number(timing.best * 1e3)} ms ({number(timing.median * 1e3)})"


def ratio(outcome: Outcome, key: tuple[str, str], system: str) -> str:
    """The cell of a rival: its ratio, that of the medians, its time, a mark if results differ."""
    theirs, ours = outcome.fastest(key, system), outcome.fastest(key, outcome.base)
    if not theirs:
        return "–"
    best, median = outcome.ratio(key, system), faster(theirs, ours, median=True)
    mark = {None: "", "": " ·"}.get(outcome.difference(key, system), " ≠")
    text = f"{number(best, 2)}× ({number(median, 2)})"
    return (f"**{text}**" if best < 1 else text) + f" {number(theirs.best * 1e3)} ms{mark}"


def number(value: float, digits: int = 3) -> str:
    """A number with so many digits that count, and never an exponent."""
    places = digits - 1 - math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:.{max(places, 0)}f}"


def notes(comparison: Comparison) -> str:
    one = comparison.one
    lines = [
        "- On one core every system has one thread, pinned; the runs of the systems take turns, one "
        "process a system and level. On all cores the others have as many threads, "
        "ours as many workers that share batches (of columns: slices).",
        "- Times are the best (median) of all repetitions. What the other systems free, they free "
        "outside of the time; Go's garbage collector runs inside ours, which the medians show.",
        "- The fastest form of each library counts. A library without a form for reused memory "
        "stands in those rows with the form it has.",
        "- `–`: the library does not do this. `·`: the results cannot be compared (Polars uses "
        "another hash function; datatrove has other rules and works on the first documents only, "
        "its ratio is of bytes a second). Else the rows of the results were compared one by one: no "
        "mark means equal, `≠` is explained here.",
        "- JSONL → JSONL is the whole process of `rosaline run`, start included, against Python "
        "loops in a running interpreter.",
        "- Allocations are counted over a second pass, in the memory of the first.",
    ]
    for key in one.rows():
        for system in (*one.levels, *RIVALS):
            if difference := one.difference(key, system):
                why = "as docs/pii.md asks for" if "pii" in key[0] else "which should not be"
                if system in one.levels:
                    why = "which should not be"
                lines.append(f"- ≠ {TITLES[key[0]]}, {key[1]}, {name(system)}: {difference}, {why}.")
    for key in comparison.all.rows():
        if difference := between(comparison, key):
            lines.append(
                f"- ≠ {TITLES[key[0]]}, {key[1]}, {comparison.cores} cores: {difference}, "
                "which should not be."
            )
    lines += forms(one)
    return "\n".join(lines) + "\n"


def between(comparison: Comparison, key: tuple[str, str]) -> str | None:
    """How our result on all cores differs from that on one; None if it does not."""
    one, every = comparison.one, comparison.all
    ours = one.fastest(key, one.base)
    if not ours:
        return None
    a = one.check(key, one.base, ours.form)
    b = every.check(key, every.base, every.fastest(key, every.base).form)
    if a is None or b is None or (len(a) == len(b) and (a == b).all()):
        return None
    return f"{len(b)} rows, {len(a)} on one core" if len(a) != len(b) else "rows differ"


def forms(outcome: Outcome) -> list[str]:
    """Which form of each library was the fastest, where it has several."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for job, data in outcome.rows():
        for system in (outcome.base, *RIVALS):
            if len(outcome.forms[job, data].get(system, {})) > 1:
                form = outcome.fastest((job, data), system).form
                found.setdefault((job, system), {}).setdefault(form, []).append(data)
    return [
        f"- Fastest form of {name(system)}, {TITLES[job]}: "
        + "; ".join(f"{form} ({', '.join(data)})" for form, data in forms.items())
        + "."
        for (job, system), forms in found.items()
    ]


def profile(hot: Profiles | None) -> str:
    if not hot:
        return "No profile was taken.\n"
    lines = [
        f"- {TITLES[job]}, {data}: {profiles.line(shares)}"
        for (job, data), shares in hot.rows.items()
    ]
    parts = []
    if hot.fused:
        parts += ["The fused pass of all four stages, packed, on the documents:\n"]
        parts += [profiles.table(hot.fused)]
    parts += ["Rows that another system wins and the slowest stages, functions with the most time"]
    parts += ["of their own:\n", *lines]
    return "\n".join(parts) + "\n"
