"""Times Rosaline beside rosa-torch-native in one run and writes RESULTS.md.

Each case runs in a process of its own, ours and then theirs, round after round, so that
whatever else the machine does meets both alike.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import report
from case import Case, Input, Outcome, Pair, Side, cases

HERE = Path(__file__).parent


def pinned(command: list[str], cores: int) -> list[str]:
    """The command, on the last cores this process may use, where the system can say so."""
    if not shutil.which("taskset"):
        return command
    chosen = sorted(os.sched_getaffinity(0))[-cores:]
    return ["taskset", "-c", ",".join(map(str, chosen)), *command]


def run(
    side: Side, command: list[str], case: Case, path: Path, args: argparse.Namespace, check: bool
) -> None:
    """Runs one side of a case once and takes in its line."""
    if side.failed:
        return
    command = [*command, f"--input={path}", f"--min-time={args.min_time}"]
    command += [f"--{name}={value}" for name, value in case.arguments().items()]
    if check:
        command.append("--check")
    env = {**os.environ, "GOMAXPROCS": str(case.threads), "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            pinned(command, case.threads),
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=args.limit,
        )
    except subprocess.TimeoutExpired:
        side.failed = f"stopped after {args.limit} s"
        return
    if done.returncode:
        side.failed = (
            done.stderr.strip().splitlines()[-1] if done.stderr else f"exit {done.returncode}"
        )
        return
    side.add(json.loads(done.stdout))


def inputs(args: argparse.Namespace) -> list[Input]:
    """Makes the inputs."""
    go = os.environ.get("GO", "go")
    root = subprocess.run([go, "env", "GOROOT"], stdout=subprocess.PIPE, text=True, check=True)
    command = [str(args.program), "-write", str(args.data), *(["-long"] if args.long else [])]
    done = subprocess.run(
        command,
        env={**os.environ, "GOROOT": root.stdout.strip()},
        stdout=subprocess.PIPE,
        check=True,
    )
    return [Input(**json.loads(line)) for line in done.stdout.splitlines()]


def setting(args: argparse.Namespace, load: tuple[float, ...]) -> dict[str, str]:
    """What else a reader needs to run it again."""

    def told(*command: str) -> str:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=HERE)
        return done.stdout.strip() or "unknown"

    after = os.getloadavg()
    busy = " (something else was running: times of both sides are longer, and latencies)"
    return {
        "versions": f"rosa-torch-native {importlib.metadata.version('rosa-torch-native')}, "
        f"numpy {importlib.metadata.version('numpy')}, Python {sys.version.split()[0]}, "
        f"{told(os.environ.get('GO', 'go'), 'env', 'GOVERSION')}",
        "revision": told("git", "describe", "--always", "--dirty"),
        "rounds": f"{args.rounds}, in turns, each on states made anew for {args.min_time} at least",
        "load": f"{load[0]:.2f} before, {after[0]:.2f} after"
        + (busy if max(load[0], after[0]) > 1.3 else ""),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True, help="the Go program beside this")
    parser.add_argument("--data", type=Path, required=True, help="folder for the inputs")
    parser.add_argument("--out", type=Path, help="report to write; RESULTS.md for all cases")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each case")
    parser.add_argument("--cases", default="", help="only those whose job@input@n matches it")
    parser.add_argument("--command", default="compare.py", help="what the report says was typed")
    parser.add_argument("--min-time", default="0.3s", help="how long a case is repeated in a run")
    parser.add_argument(
        "--limit", type=float, default=120, help="seconds after which a run is stopped"
    )
    parser.add_argument("--long", action="store_true", help="worst cases of ten million tokens too")
    args = parser.parse_args()
    if args.rounds < 1:
        parser.error("--rounds must be at least 1")
    pattern, load = re.compile(args.cases), os.getloadavg()
    files = inputs(args)
    outcome = Outcome()
    for case in cases(files, len(os.sched_getaffinity(0))):
        if pattern.search(case.name):
            outcome[case] = Pair()
    rival = [sys.executable, str(HERE / "rival.py")]
    for turn in range(args.rounds):
        for i, (case, pair) in enumerate(outcome.items()):
            least = min(f.n for f in files if f.name == case.input and f.n >= case.n)
            path = args.data / next(f.file for f in files if f.name == case.input and f.n == least)
            run(pair.ours, [str(args.program)], case, path, args, case.rival and turn == 0)
            if case.rival:
                run(pair.theirs, rival, case, path, args, turn == 0)
            if sys.stderr.isatty() or i % 20 == 0:
                print(f"round {turn + 1}, {i + 1} of {len(outcome)}: {case.name}", file=sys.stderr)
    text = report.markdown(outcome, args.command, setting(args, load))
    print(text)
    out = args.out or (None if args.cases else HERE / "RESULTS.md")
    if out:
        out.write_text(text, encoding="utf-8")
        print(f"written to {out}", file=sys.stderr)
    if any(pair.differs() for pair in outcome.values()):
        sys.exit("the answers differ")


if __name__ == "__main__":
    main()
