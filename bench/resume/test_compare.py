"""Tests of how a comparison is put together."""

from __future__ import annotations

import struct
import sys
import tempfile
import unittest
from pathlib import Path

import command
import compare
import report
import target
from outcome import (
    LARGE,
    LENGTHS,
    MIDDLE,
    OURS,
    SMALL,
    THEIRS,
    Commits,
    First,
    Outcome,
    Reopened,
    Text,
    ours,
    theirs,
)
from side import Side, SideError

ECHO = """
import json, sys
for line in sys.stdin:
    order = json.loads(line)
    if order["do"] == "leave":
        sys.exit(3)
    print(json.dumps({"error": "no"} if order["do"] == "fail" else order), flush=True)
"""


def outcome(us: float = 100) -> Outcome:
    """All that targets are about; each of our commits took so long, each of theirs 100 µs."""
    o = Outcome()
    for lane in compare.lanes(long=True):
        ns = us * 1e3 if lane.side == OURS else 100e3
        o.commits[lane] = Commits([[int(ns)] * 10])
    for side in (OURS, THEIRS):
        for n in LENGTHS:
            o.reopened[side, n] = Reopened([n * 1e-7], {"heap": [30 * n], "resident": [39 * n]})
    o.text = Text(5_000_000_000, 1000, 768, [2.0], {"records": 3.0})
    o.text.command = {"place alone": [0.5], "dedup": [0.5, 0.9]}
    for side, forms in compare.FORMS.items():
        for form in forms:
            o.text.first[side, form] = First([0.5], [0.75])
    return o


def named(title: str) -> target.Target:
    return next(t for t in target.TARGETS if t.title.startswith(title))


class TestOutcome(unittest.TestCase):
    def test_quantiles_are_of_all_rounds(self) -> None:
        found = Commits([[3000, 1000], [2000]])
        self.assertEqual((found.at(0), found.at(0.5), found.at(1)), (1, 2, 3))
        self.assertEqual(found.each(1), [3, 2])
        many = Commits([[i * 1000 for i in range(1, 102)]])
        self.assertEqual((many.at(0.5), many.at(0.99)), (51, 100))

    def test_ratios(self) -> None:
        a, b = ours("tracker"), theirs("tracker")
        o = Outcome({a: Commits([[2000], [6000], [1000]]), b: Commits([[1000], [2000], [9000]])})
        self.assertEqual(o.ratios(a, b), [2, 3, 1 / 9])
        self.assertEqual(o.ratio(a, b), 2)
        o.commits[a].rounds[0] = [1000, 1000, 4000]
        self.assertEqual(o.ratio(a, b, 1), 3)
        self.assertIsNone(o.ratio(a, theirs("log", SMALL)))
        self.assertEqual(o.ratios(theirs("log", SMALL), a), [])

    def test_memory_is_of_the_worst_round(self) -> None:
        found = Reopened()
        for seconds, resident in ((1, 30), (3, 50), (2, 40)):
            found.add({"seconds": seconds, "resident": resident, "hashes": 10})
        self.assertEqual(found.held("resident", 10), 5)
        self.assertIsNone(found.held("heap", 10))
        self.assertEqual(found.each(2_000_000_000), 1)


class TestTargets(unittest.TestCase):
    def test_commit(self) -> None:
        self.assertEqual(named("commit, p50").verdict(outcome(230)), "met")
        told = named("commit, p99").verdict(outcome(240))
        self.assertEqual(told, "**missed** on at 1e4, at 3e5")
        self.assertEqual(named("commit, p50").verdict(Outcome()), "not measured")

    def test_log_is_held_against_the_short_one(self) -> None:
        o = outcome()
        self.assertEqual(named("log").values(o), {"p50": 1})
        o.commits[ours("log", LARGE)] = Commits([[130_000]])
        self.assertEqual(named("log").verdict(o), "**missed** on p50")

    def test_memory(self) -> None:
        o = outcome()
        self.assertEqual(named("memory of hashes, resident").verdict(o), "met")
        o.reopened[OURS, LENGTHS[1]].bytes["resident"] = [41 * LENGTHS[1]]
        self.assertEqual(named("memory of hashes, resident").verdict(o), "**missed** on 1e7")
        self.assertEqual(named("memory of hashes, heap").verdict(o), "met")

    def test_linear(self) -> None:
        o, one = outcome(), named("reopening")
        self.assertAlmostEqual(one.values(o)["1e6, 1e7, 3e7"] or 0, 1)
        o.reopened[OURS, LARGE].seconds = [LARGE * 1.6e-7]
        self.assertEqual(one.verdict(o), "**missed** on 1e6, 1e7, 3e7")
        del o.reopened[OURS, LENGTHS[0]]
        self.assertEqual(one.verdict(o), "not measured")

    def test_resuming_is_held_against_the_large_file(self) -> None:
        o, one = outcome(), named("resuming at 99 %, to the first batch, library")
        self.assertEqual(one.values(o), {"in 5 GB": 0.75})
        assert o.text
        o.text.bytes = 500_000_000
        self.assertEqual(one.verdict(o), "met where measured")
        o.text.first[OURS, "records"].process = [0.5, 1.5]
        self.assertEqual(one.verdict(o), "**missed** on in 500 MB")
        self.assertEqual(one.verdict(Outcome()), "not measured")

    def test_the_command_is_held_against_the_large_file(self) -> None:
        o, one = outcome(), named("resuming at 99 %, to the first batch, command")
        self.assertEqual(one.values(o), {"place alone": 0.5, "dedup": 0.9})
        assert o.text
        o.text.command["dedup"].append(1.1)
        self.assertEqual(one.verdict(o), "**missed** on dedup")
        o.text.bytes = 500_000_000
        self.assertEqual(one.verdict(o), "not measured")

    def test_all_targets_are_measured(self) -> None:
        for t in target.TARGETS:
            self.assertEqual(t.verdict(outcome()), "met", t.title)


class TestCommand(unittest.TestCase):
    def test_the_later_slot_counts(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            tracker = Path(folder) / "tracker"
            self.assertEqual(command.committed(tracker), (0, 0))
            for a, b, want in [((7, 100), (8, 200), (8, 200)), ((9, 300), (8, 200), (9, 300))]:
                raw = bytearray(2 * command.DISTANCE)
                for slot, (generation, offset) in enumerate((a, b)):
                    struct.pack_into("<Q", raw, slot * command.DISTANCE + 16, generation)
                    struct.pack_into("<Q", raw, slot * command.DISTANCE + 32, offset)
                tracker.write_bytes(raw)
                self.assertEqual(command.committed(tracker), want)


class TestReport(unittest.TestCase):
    def test_rows_that_lose_are_bold(self) -> None:
        self.assertNotIn("**", report.commits(outcome(90)))
        told = report.commits(outcome(150))
        self.assertIn("| **tracker alone** |  | 150 | 150 | 100 | 100 | 1.5 | 1.5 to 1.5 |", told)
        self.assertIn("| **1e6** |", report.reopened(slower()))
        self.assertNotIn("**", report.reopened(outcome()))

    def test_what_was_not_measured(self) -> None:
        o = Outcome(skipped=["resuming in 5 GB: 1 GB are free, 15 GB are needed"])
        self.assertIn("- resuming in 5 GB: 1 GB are free", report.answers(o))
        self.assertIn("| tracker alone |  | – | – | – | – | – | – |", report.commits(o))
        self.assertIn("| 1e6 | – | – | – | – | – | – | – | – | – |", report.reopened(o))
        self.assertEqual(report.resumed(o), "Not measured.\n")

    def test_wrong_answers(self) -> None:
        told = report.answers(Outcome(wrong=["ours: 9 of 10 hashes came back"]))
        self.assertIn("**wrong**: ours: 9 of 10 hashes came back.", told)

    def test_all_forms_have_a_title(self) -> None:
        told = report.resumed(outcome())
        self.assertIn("2 s for the lines of the whole file, 3 s for records", told)
        self.assertIn("| theirs | lines as they are | 0.5 | 0.5 | 0.75 | 0.75 |", told)

    def test_notes_are_there(self) -> None:
        self.assertTrue(report.NOTES.exists())


def slower() -> Outcome:
    """One in which we open more slowly."""
    o = outcome()
    o.reopened[OURS, LENGTHS[0]].seconds = [1.0]
    return o


class TestSide(unittest.TestCase):
    def start(self) -> Side:
        return Side("echo", [sys.executable, "-c", ECHO])

    def test_answers(self) -> None:
        with self.start() as side:
            self.assertEqual(side.ask("open", n=3), {"do": "open", "n": 3})
            with self.assertRaisesRegex(SideError, "echo: fail: no"):
                side.ask("fail")
            self.assertEqual(side.ask("again"), {"do": "again"})

    def test_one_that_ends(self) -> None:
        with self.assertRaisesRegex(SideError, "leave: it ended with 3"), self.start() as side:
            side.ask("leave")
        side = self.start()
        with self.assertRaises(SideError), side:
            with self.assertRaises(SideError):
                side.ask("leave")
            side.ask("open")


class TestFileSystem(unittest.TestCase):
    def test_of_a_folder(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertRegex(compare.file_system(Path(folder)), r"^\w+ \(")
        if Path("/dev/shm").is_mount():
            self.assertRegex(compare.file_system(Path("/dev/shm")), "^tmpfs ")


class TestLanes(unittest.TestCase):
    def test_the_longest_of_theirs_is_for_long_runs(self) -> None:
        self.assertNotIn(theirs("log", LARGE), compare.lanes(long=False))
        self.assertIn(theirs("log", LARGE), compare.lanes(long=True))
        self.assertEqual(compare.commits(theirs("log", LARGE), 200), compare.SLOW)
        self.assertEqual(compare.commits(ours("log", LARGE), 200), 200)
        self.assertEqual(compare.commits(theirs("log", MIDDLE), 200), 200)


if __name__ == "__main__":
    unittest.main()
