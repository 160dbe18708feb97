"""Times Rosaline beside other systems in one run and writes RESULTS.md.

First each system runs in a process of its own on one thread and one core, ours once for each
level of instructions; then those jobs that can be shared run on all cores. The processes take
turns, round after round, so that whatever else the machine does meets all of them alike. Last
comes the rosaline command on a large input.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import longrun
import profiles
import report
from comparison import Comparison
from outcome import BASE, LEVELS, RIVALS, Outcome

HERE = Path(__file__).parent
GO = os.environ.get("GO", "go")
GIGABYTE = 10**9


def threads(count: int) -> dict[str, str]:
    """The environment in which every system uses so many threads."""
    names = ("GOMAXPROCS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS")
    return {**os.environ, **dict.fromkeys(names, str(count))}


def pinned(command: list[str], cores: int = 1) -> list[str]:
    """The command, on the last cores this process may use, where the system can say so."""
    if not shutil.which("taskset"):
        return command
    chosen = sorted(os.sched_getaffinity(0))[-cores:]
    return ["taskset", "-c", ",".join(map(str, chosen)), *command]


def command_of(system: str, args: argparse.Namespace, cores: int) -> list[str]:
    """The command line of one system's run."""
    common = [f"--data={args.data}", f"--jobs={args.jobs}"]
    if system in LEVELS:
        return [str(args.program), f"--rosaline={args.rosaline}", f"--workers={cores}", *common]
    if system == "go":
        return [str(args.rivals), *common]
    python = args.datatrove if system == "datatrove" else sys.executable
    command = [str(python), str(HERE / "rival.py"), system, *common]
    return command + (["--parallel"] if cores > 1 else [])


def run(system: str, args: argparse.Namespace, outcome: Outcome, cores: int, check: bool) -> None:
    """Runs one system once and takes in its lines."""
    command, env = command_of(system, args, cores), threads(cores)
    if system in LEVELS:
        env["ROSALINE_CPU"] = system
    if check:
        folder = outcome.checks / system
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        command.append(f"--checks={folder}")
    start, before = time.monotonic(), os.times()
    done = subprocess.run(pinned(command, cores), env=env, stdout=subprocess.PIPE, check=True)
    took, after = time.monotonic() - start, os.times()
    busy = after.children_user + after.children_system
    busy -= before.children_user + before.children_system
    outcome.shares.setdefault(system, []).append(busy / took)
    for line in done.stdout.splitlines():
        outcome.add(system, json.loads(line))
    print(f"  {system}: {took:.1f} s, {busy / took:.0%} of a core", file=sys.stderr)


def rounds(
    systems: list[str], args: argparse.Namespace, outcome: Outcome, cores: int, count: int
) -> None:
    """Lets the systems take turns. Results are checked in the first round."""
    for turn in range(count):
        print(f"{cores} core(s), round {turn + 1} of {count}", file=sys.stderr)
        for system in systems:
            run(system, args, outcome, cores, check=turn == 0)


def levels(args: argparse.Namespace) -> list[str]:
    """The levels of instructions that this machine has."""
    told = subprocess.run([str(args.program), "--levels"], stdout=subprocess.PIPE, check=True)
    return told.stdout.decode().split()


def present(args: argparse.Namespace, comparison: Comparison) -> list[str]:
    """The other systems that could be set up; what could not is noted."""
    found = list(RIVALS)
    for system, path in (("go", args.rivals), ("datatrove", args.datatrove)):
        if not path or not path.exists():
            found.remove(system)
            comparison.missing.append(f"{system}: it could not be set up")
    return found


def long_runs(args: argparse.Namespace, comparison: Comparison) -> None:
    """Times the command on 1 GB, on one core and on all, and with --long on 2 GB, also without
    the stage that keeps something of each text."""
    every = (longrun.ALL_STAGES,)
    runs = [(comparison.runs, args.large, args.rounds, (1, comparison.cores), every)]
    if args.long:
        both = (longrun.ALL_STAGES, longrun.KEEPS_NOTHING)
        runs.append((comparison.larger, 2 * args.large, 1, (comparison.cores,), both))
    level = {"ROSALINE_CPU": comparison.one.base}
    for into, size, count, cores, stages in runs:
        if not longrun.has_room(args.scratch, size):
            comparison.missing.append(f"runs on {size / 1e9:g} GB: the disk has no room for them")
            continue
        path = args.scratch / "large.jsonl"
        try:
            longrun.write_input(path, args.data / "docs.jsonl", size)
            for _ in range(count):
                for n, some in itertools.product(sorted(set(cores)), stages):
                    command = pinned([str(args.rosaline), "run"], n)
                    done = longrun.run(command, path, n, {**threads(n), **level}, some)
                    into.append(done)
                    print(
                        f"  rosaline run, {n} core(s): {done.seconds:.1f} s, "
                        f"{done.cpu / done.seconds:.0%} of a core, {done.peak / 1e6:.0f} MB",
                        file=sys.stderr,
                    )
        finally:
            path.unlink(missing_ok=True)


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
        "rounds": f"{args.rounds}, in turns",
        "load": f"{load[0]:.2f} before, {os.getloadavg()[0]:.2f} after",
        "data": ", ".join(f"{n} {s[:8]}" for s, n in pairs) + " (SHA-256)",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--program", type=Path, required=True, help="the Go program beside this")
    parser.add_argument("--rosaline", type=Path, required=True, help="the rosaline command")
    parser.add_argument("--rivals", type=Path, help="the program of the Go libraries")
    parser.add_argument("--datatrove", type=Path, help="the Python that has datatrove")
    parser.add_argument("--scratch", type=Path, required=True, help="folder for checks, profiles")
    parser.add_argument("--out", type=Path, default=HERE / "RESULTS.md", help="report to write")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each system")
    parser.add_argument("--jobs", default="", help="only jobs whose `job@data@form` matches it")
    parser.add_argument("--command", default="compare.py", help="what the report says was typed")
    parser.add_argument("--no-profile", action="store_true", help="do not say where time goes")
    parser.add_argument("--no-large", action="store_true", help="leave out the runs on 1 GB")
    parser.add_argument("--long", action="store_true", help="also watch the memory of a 2 GB run")
    parser.add_argument(
        "--large", type=int, default=GIGABYTE, metavar="BYTES", help="size of the large input"
    )
    args = parser.parse_args()
    if args.rounds < 1:
        parser.error("--rounds must be at least 1")
    re.compile(args.jobs)
    args.scratch.mkdir(parents=True, exist_ok=True)

    load, cores = os.getloadavg(), len(os.sched_getaffinity(0))
    one = Outcome(args.scratch / "checks")
    comparison = Comparison(one, Outcome(args.scratch / "checks-all"), cores)
    here, others = levels(args), present(args, comparison)
    for level in LEVELS:
        if level not in here:
            comparison.missing.append(f"{level}: this machine or build lacks it")
    rounds([*here, *others], args, one, 1, args.rounds)
    if cores > 1:
        base = BASE if BASE in here else here[-1]
        shared = [base, *(s for s in others if s in ("luminamoon", "pyarrow", "polars"))]
        rounds(shared, args, comparison.all, cores, 1)
        if args.rounds > 1:  # The others, which gain little or nothing, have had theirs.
            run(base, args, comparison.all, cores, check=False)
    else:
        comparison.missing.append("several cores: there is only one")
    if not args.no_large:
        long_runs(args, comparison)
    facts = setting(args, load)
    hot = None if args.no_profile else profiles.take(args, one, pinned, threads(1))
    text = report.markdown(comparison, args.command, facts, hot)
    print(text)
    args.out.write_text(text, encoding="utf-8")
    print(f"written to {args.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
