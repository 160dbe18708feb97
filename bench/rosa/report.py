"""Writes what a comparison measured as Markdown."""

from __future__ import annotations

import sys
from pathlib import Path

import target
from case import ABI1, ABI1_LENGTHS, CANDIDATES, LENGTHS, STREAMS, Case, Outcome, Side
from target import UNITS, number

sys.path.append(str(Path(__file__).resolve().parents[1]))
from facts import facts  # noqa: E402

NOTES = Path(__file__).parent / "NOTES.md"


def markdown(outcome: Outcome, command: str, setting: dict[str, str]) -> str:
    """Returns the whole report."""
    parts = [
        "# ROSA beside rosa-torch-native\n",
        "Written by `bench/rosa/run`; do not edit. Free text comes from `NOTES.md`. Speeds are",
        "millions of tokens a second, of medians; a ratio is ours divided by theirs: above 1,",
        "Rosaline is faster.\n",
        facts(command, setting),
        "## Answers\n",
        answers(outcome),
        "## Targets\n",
        "The fastest form of each library counts: of prefills, results in fresh memory or in rows",
        "used again. A library without the latter stands in those rows with the form it has: the",
        "other side in prefill without candidates.\n",
        target.table(outcome),
        NOTES.read_text(encoding="utf-8"),
        "## One stream, one thread\n",
        "Ours / theirs = ratio. Rows in which we lose are in **bold**.\n",
        streams(outcome, STREAMS),
        "## Candidates, one thread\n",
        streams(outcome, CANDIDATES),
        "## States in the arrays of ABI 1, one thread\n",
        "Both sides step the same arrays; candidates go into memory of the caller on both.\n",
        streams(outcome, ABI1, ABI1_LENGTHS),
        "## 64 rows of 10,000 tokens\n",
        batches(outcome),
        "## Worst cases, step\n",
        worst(outcome),
        "## Latency of a step, ns\n",
        latency(outcome),
        "## Memory, bytes a token at 1e6\n",
        memory(outcome),
    ]
    return "\n".join(parts)


def answers(outcome: Outcome) -> str:
    """Whether both sides said the same."""
    compared = [c for c, p in outcome.items() if p.compared()]
    wrong = [c.name for c, p in outcome.items() if p.differs()]
    failed = [
        f"{c.name}: {s.failed}" for c, p in outcome.items() for s in (p.ours, p.theirs) if s.failed
    ]
    told = f"{len(compared)} cases were compared by CRC-32 of all answers (next tokens; source, "
    told += "length, state,\nfrequency and count of candidates), "
    told += f"**{len(wrong)} differ**: {'; '.join(wrong)}." if wrong else "all are equal."
    told += "\nSingle steps of the other side are compared up to 1e5; at 1e6 its prefill is.\n"
    if failed:
        told += "\nNot measured, or in part:\n\n" + "\n".join(f"- {f}" for f in failed) + "\n"
    return told


def cell(outcome: Outcome, case: Case) -> tuple[str, bool]:
    """Both speeds and the ratio, and whether we lose."""
    pair = outcome.get(case)
    if not pair or not pair.ours.seconds:
        return "–", False
    ours, ratio = number(case.n / pair.ours.median / 1e6), pair.ratio()
    if ratio is None:
        return ours, False
    return f"{ours} / {number(case.n / pair.theirs.median / 1e6)} = {number(ratio)}×", ratio < 1


def titled(job: str, k: int, r: int) -> str:
    """What a row of a table is called."""
    what = job.removeprefix("abi1 ").removesuffix(" into")
    if k:
        what = f"{what} K{k}R{r}"
        what = what if job.startswith("abi1") else what.removeprefix("candidates ")
    return f"{what}, rows used again" if job.endswith(" into") else what


def streams(
    outcome: Outcome, jobs: tuple[tuple[str, int, int], ...], lengths: tuple[int, ...] = LENGTHS
) -> str:
    lines = [
        f"| input | job | {' | '.join(UNITS[n] for n in lengths)} |",
        "|---|---|" + "--:|" * len(lengths),
    ]
    for name in target.names(outcome):
        for job, k, r in jobs:
            cells = [cell(outcome, Case(job, name, n, k, r)) for n in lengths]
            title = titled(job, k, r)
            if any(lost for _, lost in cells):
                title = f"**{title}**"
            lines.append("| " + " | ".join([name, title, *(text for text, _ in cells)]) + " |")
    return "\n".join(lines) + "\n"


def batches(outcome: Outcome) -> str:
    lines = ["| job | input | threads | ours / theirs = ratio |", "|---|---|--:|--:|"]
    for case in outcome:
        if case.job.startswith("batch"):
            text, _ = cell(outcome, case)
            lines.append(
                f"| {case.job.removeprefix('batch ')} | {case.input} | {case.threads} | {text} |"
            )
    return "\n".join(lines) + "\n"


def worst(outcome: Outcome) -> str:
    found = [c for c in outcome if c.job == "step" and not c.rival]
    lengths = sorted({c.n for c in found})
    lines = [
        f"| input | {' | '.join(UNITS[n] for n in lengths)} |",
        "|---|" + "--:|" * len(lengths),
    ]
    for name in target.slow(outcome):
        cells = [cell(outcome, target.worst(name, n))[0] for n in lengths]
        lines.append("| " + " | ".join([name, *cells]) + " |")
    return "\n".join(lines) + "\n"


def latency(outcome: Outcome) -> str:
    quantiles = ("p50", "p99", "p99.9", "max")
    lines = [
        f"| input | n | steps | {' | '.join(quantiles)} |",
        "|---|--:|---|" + "--:|" * len(quantiles),
    ]
    for case, pair in outcome.items():
        if case.job.startswith("latency"):
            steps = "bounded" if case.job == "latency bounded" else "amortised"
            cells = [figure(pair.ours, q) for q in quantiles]
            lines.append("| " + " | ".join([case.input, UNITS[case.n], steps, *cells]) + " |")
    return (
        "\n".join(lines)
        + "\n\nReading the clock is in it, once a step. Bounded is `rosa.WithBoundedSteps()`. In "
        "English twice a\nmatch of half of the tokens breaks with the last one, in a^n b with that "
        "in the middle: the worst burst.\n"
    )


def memory(outcome: Outcome) -> str:
    lines = [
        "| input | ours, counted | ours, resident | theirs, arrays | theirs, resident |",
        "|---|--:|--:|--:|--:|",
    ]
    for case, pair in outcome.items():
        if case.job == "memory":
            cells = [
                figure(s, name) for s in (pair.ours, pair.theirs) for name in ("held", "resident")
            ]
            lines.append("| " + " | ".join([case.input, *cells]) + " |")
    return (
        "\n".join(lines)
        + "\n\nCounted is `State.Bytes()`. Resident is the growth of resident memory, garbage "
        "given back; it counts\nno page that was never touched. The text is in all of them.\n"
    )


def figure(side: Side, name: str) -> str:
    value = side.figures.get(name)
    return number(value) if value is not None else "–"
