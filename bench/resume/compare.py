"""Times commits and reopening beside luminamoon in one run and writes RESULTS.md.

Commits are made by one process of each side that takes turns with the other; what is opened
again is opened by a process of its own.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import command
import report
from outcome import (
    LARGE,
    LENGTHS,
    MIDDLE,
    OURS,
    SMALL,
    THEIRS,
    Commits,
    First,
    Lane,
    Outcome,
    Reopened,
    Text,
    ours,
    theirs,
)
from side import Side, SideError
from target import LARGE_TEXT, size

HERE = Path(__file__).parent
WARM = 10  # commits at the beginning of a turn that do not count: the turn before still writes
SLOW = 2  # commits a round of a lane that writes hundreds of megabytes for each
REOPENED = 3  # rounds at most; they take seconds
RESUMED = 5
SMALL_TEXT = 500_000_000  # bytes
FORMS = {OURS: ("records", "dedup"), THEIRS: ("records", "lines")}
ROOM = 3  # times what is written must be free


@dataclass(frozen=True)
class Run:
    """What a comparison needs."""

    args: argparse.Namespace
    folder: Path
    outcome: Outcome

    def start(self, side: str) -> Side:
        rival = [sys.executable, str(HERE / "rival.py")]
        return Side(side, [str(self.args.program)] if side == OURS else rival)

    def of(self, lane: Lane) -> str:
        """The folder of a lane."""
        return str(self.folder / lane.name.replace(" ", "-"))

    def failed(self, what: str, error: SideError) -> None:
        self.outcome.skipped.append(f"{what}: {error}")
        print(f"{what}: {error}", file=sys.stderr)


def say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def lanes(long: bool) -> list[Lane]:
    """All commits, those that are held against each other together."""
    found = [ours("tracker"), theirs("tracker")]
    for kind, n in [("both", SMALL), ("both", MIDDLE), ("log", SMALL), ("log", MIDDLE)]:
        found += [ours(kind, n), theirs(kind, n)]
    return [*found, ours("log", LARGE), *([theirs("log", LARGE)] if long else [])]


def reopen(run: Run) -> None:
    """Opens files with many hashes again, the sides in turns."""
    for n in LENGTHS:
        for side in (OURS, THEIRS):
            say(f"reopening: {side}, making {n} hashes")
            with run.start(side) as process:
                process.ask("fill", dir=run.of(Lane(side, "log", n)), hashes=n)
        for turn in range(min(run.args.rounds, REOPENED)):
            for side in (OURS, THEIRS):
                say(f"reopening: round {turn + 1}, {side}, {n} hashes")
                try:
                    with run.start(side) as process:
                        answer = process.ask("reopen", dir=run.of(Lane(side, "log", n)))
                except SideError as error:
                    run.failed(f"{n} hashes opened again", error)
                    continue
                run.outcome.reopened.setdefault((side, n), Reopened()).add(answer)
                if answer["hashes"] != n:
                    run.outcome.wrong.append(f"{side}: {answer['hashes']} of {n} hashes came back")
        if n != LARGE:  # whose files are those of a lane
            for side in (OURS, THEIRS):
                shutil.rmtree(run.of(Lane(side, "log", n)))


def commit(run: Run) -> None:
    """Commits in turns: one lane after the other, and each round the other way round."""
    with ExitStack() as stack:
        sides = {side: stack.enter_context(run.start(side)) for side in (OURS, THEIRS)}
        opened = []
        for lane in lanes(run.args.long):
            side, folder = sides[lane.side], run.of(lane)
            say(f"commits: opening {lane.name}")
            try:
                if lane.kind != "tracker" and lane.hashes != LARGE:
                    side.ask("fill", dir=folder, hashes=lane.hashes)
                side.ask("open", lane=lane.name, kind=lane.kind, dir=folder, state=lane.state)
            except SideError as error:
                run.failed(lane.name, error)
                continue
            opened.append(lane)
            run.outcome.commits[lane] = Commits()
        for turn in range(run.args.rounds):
            say(f"commits: round {turn + 1} of {run.args.rounds}")
            for lane in list(opened) if turn % 2 == 0 else opened[::-1]:
                try:
                    for n in (WARM, run.args.commits):
                        answer = sides[lane.side].ask(
                            "commit", lane=lane.name, commits=commits(lane, n)
                        )
                except SideError as error:
                    run.failed(lane.name, error)
                    opened.remove(lane)
                    continue
                run.outcome.commits[lane].rounds.append(answer["nanoseconds"])


def commits(lane: Lane, usual: int) -> int:
    """How many commits a lane makes in a turn."""
    return min(usual, SLOW) if lane.side == THEIRS and lane.hashes == LARGE else usual


def resume(run: Run) -> None:
    """Resumes a run in a file of which 99 % are done."""
    want = LARGE_TEXT if run.args.long else SMALL_TEXT
    free = shutil.disk_usage(run.folder).free
    if free < ROOM * want:
        run.outcome.skipped.append(
            f"resuming in {size(want)}: {size(free)} are free, {size(ROOM * want)} are needed"
        )
        return
    path = str(run.folder / "text.jsonl")
    say(f"resuming: making {size(want)} of text")
    with run.start(OURS) as process:
        made = process.ask("text", path=path, bytes=want)
        at = made["rows"] * 99 // 100 // 256 * 256
        text = run.outcome.text = Text(made["bytes"], made["rows"], at)
        for _ in range(min(run.args.rounds, 3)):
            text.scan.append(process.ask("scan", path=path)["seconds"])
    for side, forms in FORMS.items():
        for form in forms:
            say(f"resuming: {side}, {form}, to the place")
            folder = str(run.folder / f"{side}-run-{form}")
            try:
                with run.start(side) as process:
                    answer = process.ask("run", form=form, path=path, dir=folder, rows=at)
            except SideError as error:
                run.failed(f"a run of {form}", error)
                continue
            if side == OURS:
                text.run[form] = answer["seconds"]
            text.first[side, form] = First()
    for turn in range(min(run.args.rounds, RESUMED)):
        for (side, form), found in text.first.items():
            if side == THEIRS and run.args.long and turn > 0:
                continue  # it takes a minute
            say(f"resuming: round {turn + 1}, {side}, {form}")
            folder = str(run.folder / f"{side}-run-{form}")
            try:
                with run.start(side) as process:
                    answer = process.ask("first", form=form, path=path, dir=folder)
                    found.process.append(process.age())
            except SideError as error:
                run.failed(f"{form} resumed", error)
                continue
            found.resume.append(answer["seconds"])
            if answer["first"] != at:
                run.outcome.wrong.append(f"{side}: {form} go on at row {answer['first']}, not {at}")


def resume_command(run: Run) -> None:
    """The same of the command, from which no more is asked than what it leaves on the disk."""
    text = run.outcome.text
    if not text:
        return
    for form in command.FORMS:
        say(f"resuming: the command, {form}, to the place")
        folder = run.folder / f"command-{form.replace(' ', '-')}"
        folder.mkdir()
        stopped = command.StateRun(run.args.rosaline, form, run.folder / "text.jsonl", folder)
        try:
            text.whole[form] = stopped.go_to(text.bytes * 98 // 100)  # it goes on until the signal comes
            for turn in range(min(run.args.rounds, RESUMED)):
                say(f"resuming: round {turn + 1}, the command, {form}")
                text.command.setdefault(form, []).append(stopped.first())
        except command.CommandError as error:
            run.outcome.skipped.append(f"the command, {form}: {error}")
        shutil.rmtree(folder)


def file_system(folder: Path) -> str:
    """What the folder lies on."""
    folder, found = folder.resolve(), ("", "an unknown file system", "")
    mounts = Path("/proc/self/mountinfo")
    for line in mounts.read_text().splitlines() if mounts.exists() else []:
        fields, _, rest = line.partition(" - ")
        point = fields.split()[4].encode().decode("unicode_escape")
        if folder.is_relative_to(point) and len(point) >= len(found[0]):
            kind, _, options = rest.split()[:3]
            names = dict.fromkeys(f"{fields.split()[5]},{options}".split(","))
            found = (point, kind, f" ({','.join(names)})")
    return found[1] + found[2]


def setting(args: argparse.Namespace, load: tuple[float, ...], files: str) -> dict[str, str]:
    """What else a reader needs to run it again."""

    def told(*command: str) -> str:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=HERE)
        return done.stdout.strip() or "unknown"

    with Side(THEIRS, [sys.executable, str(HERE / "rival.py")]) as rival:
        isa = rival.ask("version")["version"]
    after = os.getloadavg()
    # The comparison waits for the disk most of the time, and counts as one itself.
    busy = " (something else was running: times of both sides are longer)"
    return {
        "versions": f"luminamoon {importlib.metadata.version('luminamoon')}, data {isa}, "
        f"Python {sys.version.split()[0]}, {told(os.environ.get('GO', 'go'), 'env', 'GOVERSION')}",
        "revision": told("git", "describe", "--always", "--dirty"),
        "file system": files,
        "rounds": f"{args.rounds} of {args.commits} commits, in turns, behind {WARM} that do not count",
        "load": f"{load[0]:.2f} before, {after[0]:.2f} after" + (busy if load[0] > 1.3 else ""),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True, help="the Go program beside this")
    parser.add_argument("--rosaline", type=Path, required=True, help="the command")
    parser.add_argument(
        "--scratch", type=Path, required=True, help="folder for the files, on the disk to measure"
    )
    parser.add_argument("--out", type=Path, default=HERE / "RESULTS.md", help="report to write")
    parser.add_argument("--rounds", type=int, default=15, help="turns of commits")
    parser.add_argument("--commits", type=int, default=200, help="commits in a turn")
    parser.add_argument("--command", default="compare.py", help="what the report says was typed")
    parser.add_argument(
        "--long",
        action="store_true",
        help="resumes in 5 GB instead of 500 MB, and has the other side commit to 3e7 hashes too",
    )
    args = parser.parse_args()
    if args.rounds < 1 or args.commits < 1:
        parser.error("--rounds and --commits must be at least 1")
    load = os.getloadavg()
    args.scratch.mkdir(parents=True, exist_ok=True)
    files = file_system(args.scratch)
    if files.startswith(("tmpfs", "ramfs")):
        parser.error(f"{args.scratch} is in memory, where a sync does nothing: name a --scratch")
    needed = ROOM * 24 * 2 * LARGE  # bytes; a log is written anew when it is compacted
    if shutil.disk_usage(args.scratch).free < needed:
        parser.error(f"{args.scratch} needs {size(needed)} of room: name another --scratch")
    outcome = Outcome()
    with tempfile.TemporaryDirectory(dir=args.scratch) as folder:
        run = Run(args, Path(folder), outcome)
        phases: tuple[Callable[[Run], None], ...] = (reopen, commit, resume, resume_command)
        for phase in phases:
            try:
                phase(run)
            except SideError as error:
                run.failed(phase.__name__, error)
    text = report.markdown(outcome, args.command, setting(args, load, files))
    print(text)
    args.out.write_text(text, encoding="utf-8")
    say(f"written to {args.out}")
    if outcome.wrong:
        sys.exit("wrong answers: " + "; ".join(outcome.wrong))


if __name__ == "__main__":
    main()
