"""Writes what a comparison measured as Markdown."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

import target
from outcome import LARGE, LENGTHS, MIDDLE, OURS, SMALL, THEIRS, Lane, Outcome, ours, theirs
from target import UNITS, number, size

sys.path.append(str(Path(__file__).resolve().parents[1]))
from facts import facts  # noqa: E402

NOTES = Path(__file__).parent / "NOTES.md"
KINDS = {
    "tracker": "tracker alone",
    "both": "one hash and the tracker",
    "log": "one hash alone",
}
FORMS = {
    (OURS, "records"): "records, each checked",
    (OURS, "dedup"): "the same without repeats: the log is read too",
    (THEIRS, "records"): "`json.loads` of each line",
    (THEIRS, "lines"): "lines as they are",
}


def markdown(outcome: Outcome, command: str, setting: dict[str, str]) -> str:
    """Returns the whole report."""
    parts = [
        "# Commits and reopening beside luminamoon\n",
        "Written by `bench/resume/run`; do not edit. Free text comes from `NOTES.md`. A ratio is ours",
        "divided by theirs, of times: below 1, Rosaline is faster.\n",
        facts(command, setting),
        "## Answers\n",
        answers(outcome),
        "## Targets\n",
        target.table(outcome),
        NOTES.read_text(encoding="utf-8"),
        "## Commits, µs\n",
        "Ours of one hash and the tracker has 1 KiB of state too, and syncs two files; theirs keeps no",
        "state. Quantiles are of the commits of all rounds. A ratio is of medians of a round, and the",
        "median of those of all rounds, beside the least and the most of them; targets are of such",
        "ratios too. Rows in which we lose are in **bold**.\n",
        commits(outcome),
        "## Reopening\n",
        "The tracker and the hashes, files in memory of the system. Seconds are medians; bytes a hash",
        "of the worst round: resident after what was not needed is given back, peak before that. Ours",
        "are hashes of 16 bytes and their order, theirs of 8 bytes without.\n",
        reopened(outcome),
        "## Resuming at 99 % of a file\n",
        resumed(outcome),
    ]
    return "\n".join(parts)


def answers(outcome: Outcome) -> str:
    """Whether all came back."""
    told = "How many hashes were there again, and which row came first behind the place, is compared\n"
    told += "with what was written: "
    told += f"**wrong**: {'; '.join(outcome.wrong)}." if outcome.wrong else "all is as it must be."
    if outcome.skipped:
        told += "\n\nNot measured:\n\n" + "\n".join(f"- {s}" for s in outcome.skipped)
    return told + "\n"


def cell(value: float | None) -> str:
    return "–" if value is None else number(value)


def row(title: str, lost: bool, *cells: str) -> str:
    return f"| {f'**{title}**' if lost else title} | {' | '.join(cells)} |"


def commits(outcome: Outcome) -> str:
    lines = [
        "| what | hashes | ours p50 | p99 | theirs p50 | p99 | ratio | of rounds |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    pairs = [("tracker", 0), *((k, n) for k in ("both", "log") for n in (SMALL, MIDDLE))]
    for kind, n in [*pairs, ("log", LARGE)]:
        one, other = ours(kind, n), theirs(kind, n)
        lines.append(compared(outcome, KINDS[kind], one, other, n))
    for n in (SMALL, MIDDLE):
        what = "one hash and the tracker, beside their tracker alone"
        lines.append(compared(outcome, what, ours("both", n), theirs("tracker"), n))
    return "\n".join(lines) + "\n"


def compared(outcome: Outcome, what: str, one: Lane, other: Lane, n: int) -> str:
    """The row of a kind of commits of both sides."""
    ratio, ratios = outcome.ratio(one, other), outcome.ratios(one, other)
    return row(
        what,
        ratio is not None and ratio > 1,
        UNITS.get(n, ""),
        *(cell(outcome.at(lane, q)) for lane in (one, other) for q in (0.5, 0.99)),
        cell(ratio),
        f"{number(min(ratios))} to {number(max(ratios))}" if ratios else "–",
    )


def reopened(outcome: Outcome) -> str:
    lines = [
        "| hashes | ours, s | ns a hash | heap, B | resident, B | peak, B "
        "| theirs, s | ns a hash | resident, B | peak, B |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for n in LENGTHS:
        cells, seconds = [], {}
        for side, names in ((OURS, ("heap", "resident", "peak")), (THEIRS, ("resident", "peak"))):
            found = outcome.reopened.get((side, n))
            if not found:
                cells += ["–"] * (2 + len(names))
                continue
            seconds[side] = statistics.median(found.seconds)
            cells += [number(seconds[side]), number(found.each(n))]
            cells += [cell(found.held(name, n)) for name in names]
        lost = len(seconds) == 2 and seconds[OURS] > seconds[THEIRS]
        lines.append(row(UNITS[n], lost, *cells))
    return "\n".join(lines) + "\n"


def resumed(outcome: Outcome) -> str:
    text = outcome.text
    if not text:
        return "Not measured.\n"
    told = [
        f"{size(text.bytes)} of JSONL, {text.rows:,} rows, committed behind row {text.at:,}; the file is in memory of",
        "the system. Seconds from the call to the first batch of 256 rows, and from the start of the",
        "process; medians, and the worst. Theirs reads all rows before the place again. To go there,",
        f"ours takes {number(statistics.median(text.scan))} s for the lines of the whole file"
        + "".join(
            f", {number(seconds)} s for {FORMS[OURS, form].partition(':')[0]}"
            for form, seconds in text.run.items()
        )
        + ".\n",
        "| side | form | from the call, s | worst | from the start, s | worst |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for (side, form), found in text.first.items():
        cells = [
            number(choose(values)) if values else "–"
            for values in (found.resume, found.process)
            for choose in (statistics.median, max)
        ]
        told.append(f"| {side} | {FORMS[side, form]} | {' | '.join(cells)} |")
    for form, took in text.command.items():
        cells = f"{number(statistics.median(took))} | {number(max(took))}"
        told.append(f"| ours | `rosaline run --state`, {form}, to its first commit | – | – | {cells} |")
    return "\n".join(told) + "\n"
