"""Writes what a comparison measured as Markdown."""

from __future__ import annotations

import math
import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path

from outcome import OURS, RIVALS, Outcome, Timing

# What each job is, in the order of the table.
TITLES = {
    "from strings": "column from a list of strings",
    "from offsets": "column from offsets and payload, validated",
    "prefix": "rows that begin with 3 given bytes",
    "prefix select": "the same, as row numbers in reused memory",
    "equal": "two equal columns compared",
    "pack": "pack to offsets and payload",
    "pack into": "the same, into reused memory",
    "hash": "64-bit hash of each row",
    "clean": "clean: line ends and trim",
    "quality": "quality: verdict of the preset",
    "dedup": "exact dedup",
    "pii": "PII: key, e-mail, card, IP",
    "pii email": "PII: e-mail only",
    "fused": "clean + quality + dedup",
    "fused + pii": "clean + quality + dedup + PII",
    "jsonl": "JSONL → JSONL: clean + quality + dedup",
    "jsonl + pii": "JSONL → JSONL: clean + quality + dedup + PII",
}

Hot = dict[tuple[str, str], str]  # by row, the functions that take its time


def markdown(outcome: Outcome, command: str, setting: dict[str, str], hot: Hot) -> str:
    """Returns the whole report."""
    parts = [
        "# Text beside other systems\n",
        "Written by `make bench`; do not edit.",
        "A ratio is the other system's best time divided by ours: above 1, Rosaline is faster.",
        "In brackets the same of the medians. Rows in which another system wins are in **bold**.",
        "The stages are plain Go so far, without vector instructions: this is the first table, "
        "to know where to start.\n",
        facts(outcome, command, setting),
        "## Times\n",
        table(outcome),
        "## Reading it\n",
        notes(outcome),
        "## Where the time goes\n",
        "CPU profile of rows that another system wins and of the slowest stages: the functions",
        "with the most time of their own.\n",
        profile_lines(hot),
    ]
    return "\n".join(parts) + "\n"


def facts(outcome: Outcome, command: str, setting: dict[str, str]) -> str:
    versions = ", ".join(f"{s} {v}" for s, v in outcome.versions.items())
    rows = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": f"`{command}`".replace("|", r"\|"),
        "machine": machine(),
        "versions": f"{versions}, Python {platform.python_version()}",
        "share of a core": "; ".join(
            f"{s} {', '.join(f'{share:.0%}' for share in shares)}"
            for s, shares in outcome.shares.items()
        )
        + " (well below 100 %: something else was running, and long jobs look slower)",
        **setting,
    }
    lines = ["| | |", "|---|---|"] + [f"| {name} | {text} |" for name, text in rows.items()]
    return "\n".join(lines) + "\n"


def machine() -> str:
    """CPU, cores, memory and kernel of this machine."""
    cpu, memory = platform.processor() or platform.machine(), ""
    if Path("/proc/cpuinfo").exists():
        names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
        cpu = names[0] if names else cpu
        kib = re.search(r"^MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text(), re.M)
        memory = f", {int(kib[1]) / 2**20:.0f} GiB of memory" if kib else ""
    return f"{cpu}, {os.cpu_count()} cores{memory}, {platform.system()} {platform.release()}"


def table(outcome: Outcome) -> str:
    head = ["job", "data", "MB", "Rosaline", "GB/s", "M rows/s", *RIVALS]
    lines = ["| " + " | ".join(head) + " |", "|---|---|--:|--:|--:|--:|" + "--:|" * len(RIVALS)]
    order = {job: i for i, job in enumerate(TITLES)}
    losing = set(outcome.losing())
    for key in sorted(outcome.rows(), key=lambda k: order[k[0]]):
        ours = outcome.fastest(key, OURS)
        title = TITLES[key[0]]
        cells = [
            f"**{title}**" if key in losing else title,
            key[1],
            f"{ours.bytes / 1e6:.1f}",
            times(ours),
            number(ours.bytes / ours.best / 1e9),
            number(ours.items / ours.best / 1e6),
            *(ratio(outcome, key, system) for system in RIVALS),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def times(timing: Timing) -> str:
    return f"{number(timing.best * 1e3)} ms ({number(timing.median * 1e3)})"


def ratio(outcome: Outcome, key: tuple[str, str], system: str) -> str:
    """The cell of a rival: its ratio, that of the medians, its time, a mark if results differ."""
    theirs, ours = outcome.fastest(key, system), outcome.fastest(key, OURS)
    if not theirs:
        return "–"
    best, median = theirs.best / ours.best, theirs.median / ours.median
    mark = {None: "", "": " ·"}.get(outcome.difference(key, system), " ≠")
    text = f"{number(best, 2)}× ({number(median, 2)})"
    return (f"**{text}**" if best < 1 else text) + f" {number(theirs.best * 1e3)} ms{mark}"


def number(value: float, digits: int = 3) -> str:
    """A number with so many digits that count, and never an exponent."""
    places = digits - 1 - math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:.{max(places, 0)}f}"


def notes(outcome: Outcome) -> str:
    lines = [
        "- Every system has one thread, pinned to one core; the runs of the systems take turns.",
        "- Times are the best (median) of all repetitions. What the other systems free, they free "
        "outside of the time; Go's garbage collector runs inside ours, which the medians show.",
        "- The fastest form of each library counts. A library without a form for reused memory "
        "stands in those rows with the form it has.",
        "- `–`: the library does not do this. `·`: the results cannot be compared (Polars uses "
        "another hash function). Else the rows of the results were compared one by one: no mark "
        "means equal, `≠` is explained here.",
        "- JSONL → JSONL is the whole process of `rosaline run`, start included, against a Python "
        "loop in a running interpreter.",
    ]
    for key in outcome.rows():
        for system in RIVALS:
            if difference := outcome.difference(key, system):
                why = "as docs/pii.md asks for" if "pii" in key[0] else "which should not be"
                lines.append(f"- ≠ {TITLES[key[0]]}, {key[1]}, {system}: {difference}, {why}.")
    lines += forms(outcome)
    return "\n".join(lines) + "\n"


def forms(outcome: Outcome) -> list[str]:
    """Which form of each library was the fastest, where it has several."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for job, data in outcome.rows():
        for system in (OURS, *RIVALS):
            if len(outcome.forms[job, data].get(system, {})) > 1:
                form = outcome.fastest((job, data), system).form
                found.setdefault((job, system), {}).setdefault(form, []).append(data)
    return [
        f"- Fastest form of {system}, {TITLES[job]}: "
        + "; ".join(f"{form} ({', '.join(data)})" for form, data in forms.items())
        + "."
        for (job, system), forms in found.items()
    ]


def profile_lines(hot: Hot) -> str:
    if not hot:
        return "No profile was taken."
    return "\n".join(f"- {TITLES[job]}, {data}: {text}" for (job, data), text in hot.items())
