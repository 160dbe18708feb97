"""Tests of how a comparison is put together."""

from __future__ import annotations

import unittest
from pathlib import Path

import report
import target
from case import LONG, Case, Input, Outcome, Pair, Side, cases, top


def files() -> list[Input]:
    return [Input(n, False, LONG, "") for n in ("English", "65,536 ids")] + [
        Input("combs", True, n, "") for n in target.LENGTHS
    ]


def outcome(ours: float, theirs: float) -> Outcome:
    """All cases, each of which took so many seconds."""
    return Outcome(
        {c: Pair(Side([ours]), Side([theirs] if c.rival else [])) for c in cases(files(), 2)}
    )


class TestSide(unittest.TestCase):
    def test_figures_are_the_worst(self) -> None:
        side = Side()
        side.add({"seconds": [3, 1], "figures": {"p99": 2}, "check": "a"})
        side.add({"seconds": [5], "figures": {"p99": 1}})
        self.assertEqual((side.median, side.figures, side.checks), (3, {"p99": 2}, {"a"}))

    def test_answers_differ(self) -> None:
        pair = Pair(Side([1], checks={"a"}), Side([2], checks={"b"}))
        self.assertTrue(pair.differs())
        told = report.answers(Outcome({top("step", "x", 5): pair}))
        self.assertIn("**1 differ**: step@x@5", told)


class TestTargets(unittest.TestCase):
    def test_verdicts(self) -> None:
        one = next(t for t in target.TARGETS if t.title == "step, times its step")
        self.assertEqual(one.verdict(outcome(1, 20)), "met")
        self.assertIn("**missed** on English 1e4", one.verdict(outcome(1, 19)))
        self.assertEqual(one.verdict(Outcome()), "not measured")

    def test_ids_have_a_bound_of_their_own(self) -> None:
        both = [t for t in target.TARGETS if t.title.startswith("prefill")]
        values = [t.values(outcome(1, 6)) for t in both]
        self.assertNotIn("65,536 ids 1e4", values[0])
        self.assertEqual(values[1], {"65,536 ids 1e4": 6})

    def test_growth(self) -> None:
        found = outcome(1, 1)  # as long for ten times the tokens
        growth = next(t for t in target.TARGETS if t.title.startswith("their time"))
        self.assertEqual(growth.values(found), {"combs 1e6": 0.1})


class TestReport(unittest.TestCase):
    def test_rows_that_lose_are_bold(self) -> None:
        self.assertIn("**step**", report.streams(outcome(2, 1), [("step", 0, 0)]))
        self.assertNotIn("**", report.streams(outcome(1, 2), [("step", 0, 0)]))

    def test_a_case_that_failed(self) -> None:
        case = Case("candidates prefill", "English", LONG, 16, 4)
        found = Outcome({case: Pair(Side([1]), Side(failed="stopped after 9 s"))})
        self.assertIn(
            "candidates prefill@English@1000000@K16R4: stopped after 9 s", report.answers(found)
        )
        self.assertIn("| 1 |", report.streams(found | outcome(1, 1) | found, [case_of(case)]))

    def test_notes_are_there(self) -> None:
        self.assertTrue((Path(report.__file__).parent / "NOTES.md").exists())


def case_of(case: Case) -> tuple[str, int, int]:
    return case.job, case.k, case.r


if __name__ == "__main__":
    unittest.main()
