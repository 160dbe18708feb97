"""Times Rosaline, luminamoon, pyarrow and Polars in one run and writes RESULTS.md.

Each system runs in a process of its own, on one thread and one core. The processes take
turns, round after round, so that whatever else the machine does meets all of them alike.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import report
from outcome import OURS, RIVALS, Outcome

HERE = Path(__file__).parent
GO = os.environ.get("GO", "go")
ONE_THREAD = {
    "GOMAXPROCS": "1",
    "POLARS_MAX_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}
# Rows that are profiled whether or not another system wins them.
SLOW_STAGES = (("quality", "docs"), ("pii", "pii"), ("fused", "docs"), ("fused + pii", "docs"))
MODULE = "github.com/rosaline-go/rosaline/"
# What functions of the Go runtime stand for.
RUNTIME = {
    "runtime.memmove": " (copying)",
    "runtime.memclrNoHeapPointers": " (zeroing fresh memory)",
    "runtime.tryDeferToSpanScan": " (garbage collector)",
    "runtime.(*mspan).moveInlineMarks": " (garbage collector)",
    "runtime.scanObject": " (garbage collector)",
    "memeqbody": " (comparing)",
    "runtime.mallocgc": " (allocating)",
    "runtime.madvise": " (giving memory back)",
}


def pinned(command: list[str]) -> list[str]:
    """The command, on the last core this process may use, where the system can say so."""
    if not shutil.which("taskset"):
        return command
    return ["taskset", "-c", str(max(os.sched_getaffinity(0))), *command]


def command_of(system: str, args: argparse.Namespace) -> list[str]:
    """The command line of one system's run."""
    common = [f"--data={args.data}", f"--jobs={args.jobs}"]
    if system == OURS:
        return [str(args.program), f"--rosaline={args.rosaline}", *common]
    return [sys.executable, str(HERE / "rival.py"), system, *common]


def run(system: str, args: argparse.Namespace, outcome: Outcome, check: bool) -> None:
    """Runs one system once and takes in its lines."""
    command = command_of(system, args)
    if check:
        folder = outcome.checks / system
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        command.append(f"--checks={folder}")
    start, before = time.monotonic(), os.times()
    done = subprocess.run(
        pinned(command), env={**os.environ, **ONE_THREAD}, stdout=subprocess.PIPE, check=True
    )
    took, after = time.monotonic() - start, os.times()
    busy = after.children_user + after.children_system
    busy -= before.children_user + before.children_system
    outcome.shares.setdefault(system, []).append(busy / took)
    for line in done.stdout.splitlines():
        outcome.add(system, json.loads(line))
    print(f"  {system}: {took:.1f} s, {busy / took:.0%} of a core", file=sys.stderr)


def profile(key: tuple[str, str], args: argparse.Namespace, outcome: Outcome) -> str:
    """Profiles one row of ours and names the functions that take most of its time."""
    path = args.scratch / "cpu.prof"
    name = "@".join((*key, outcome.fastest(key, OURS).form))
    command = [str(args.program), f"--data={args.data}", f"--jobs=^\\Q{name}\\E$"]
    command += [f"--cpuprofile={path}", "--min-time=1s", "--max-reps=100000"]
    # A signal to preempt that comes with one to sample hides the function that was running.
    env = {**os.environ, **ONE_THREAD, "GODEBUG": "asyncpreemptoff=1"}
    subprocess.run(pinned(command), env=env, stdout=subprocess.DEVNULL, check=True)
    top = subprocess.run(
        [GO, "tool", "pprof", "-top", "-nodecount=5", str(args.program), str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
        text=True,
    )
    return hot_functions(top.stdout)


def profiles(args: argparse.Namespace, outcome: Outcome) -> dict[tuple[str, str], str]:
    """Profiles the rows that another system wins and the slowest stages.

    A file job runs in a process of its own, which this profile does not see.
    """
    wanted = [*outcome.losing(), *(key for key in outcome.rows() if key in SLOW_STAGES)]
    seen = dict.fromkeys(key for key in wanted if not key[0].startswith("jsonl"))
    return {key: profile(key, args, outcome) for key in seen}


def hot_functions(top: str) -> str:
    """Turns the table of `pprof -top` into one line."""
    found = []
    for line in top.splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and fields[1].endswith("%") and float(fields[1][:-1]) >= 3:
            name = fields[5].removesuffix(" (inline)").removeprefix(MODULE)
            found.append(f"`{name}`{RUNTIME.get(name, '')} {float(fields[1][:-1]):.0f} %")
    return ", ".join(found) or "too short to sample"


def setting(args: argparse.Namespace, load: tuple[float, ...]) -> dict[str, str]:
    """What else a reader needs to run it again."""
    revision = subprocess.run(
        ["git", "describe", "--always", "--dirty"], stdout=subprocess.PIPE, text=True, cwd=HERE
    )
    compiler = subprocess.run([GO, "env", "GOVERSION"], stdout=subprocess.PIPE, text=True)
    sums = (args.data / "SHA256SUMS").read_text().splitlines()
    pairs = (line.split() for line in sums)
    return {
        "Go": compiler.stdout.strip(),
        "revision": revision.stdout.strip() or "unknown",
        "rounds": f"{args.rounds}, in turns: {', '.join((OURS, *RIVALS))}",
        "load": f"{load[0]:.2f} before, {os.getloadavg()[0]:.2f} after",
        "data": ", ".join(f"{n} {s[:8]}" for s, n in pairs) + " (SHA-256)",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--program", type=Path, required=True, help="the Go program beside this")
    parser.add_argument("--rosaline", type=Path, required=True, help="the rosaline command")
    parser.add_argument("--scratch", type=Path, required=True, help="folder for checks, profiles")
    parser.add_argument("--out", type=Path, default=HERE / "RESULTS.md", help="report to write")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each system")
    parser.add_argument("--jobs", default="", help="only jobs whose `job@data@form` matches it")
    parser.add_argument("--command", default="compare.py", help="what the report says was typed")
    parser.add_argument("--no-profile", action="store_true", help="do not say where time goes")
    args = parser.parse_args()
    if args.rounds < 1:
        parser.error("--rounds must be at least 1")
    args.scratch.mkdir(parents=True, exist_ok=True)

    outcome, load = Outcome(args.scratch / "checks"), os.getloadavg()
    for turn in range(args.rounds):
        print(f"round {turn + 1} of {args.rounds}", file=sys.stderr)
        for system in (OURS, *RIVALS):
            run(system, args, outcome, check=turn == 0)
    facts = setting(args, load)
    hot = {} if args.no_profile else profiles(args, outcome)
    text = report.markdown(outcome, args.command, facts, hot)
    print(text)
    args.out.write_text(text, encoding="utf-8")
    print(f"written to {args.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
