"""Tests of how a comparison is put together."""

from __future__ import annotations

import unittest
from pathlib import Path

import report
import target
from case import LONG, SHORT, Case, Input, Outcome, Pair, Side, cases, latency, top


def files() -> list[Input]:
    return [Input(n, "usual", LONG, "") for n in ("English", "65,536 ids")] + [
        Input("combs", "worst", n, "") for n in (*target.LENGTHS, target.WORST)
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
        self.assertEqual(growth.values(found), {"combs 1e7": 0.01})
        short = Outcome({c: p for c, p in found.items() if c.n <= LONG})
        self.assertEqual(growth.values(short), {"combs 1e6": 0.1, "combs 1e7": None})
        self.assertEqual(growth.verdict(short), "met where measured")

    def test_the_fastest_form_counts_of_both(self) -> None:
        fresh, used = (Case(f"candidates prefill{s}", "unary", LONG, 4, 4) for s in ("", " into"))
        both = Outcome({fresh: Pair(Side([2]), Side([6])), used: Pair(Side([1]), Side([4]))})
        ratio = next(t for t in target.TARGETS if t.title.startswith("candidates K4R4"))
        speed = next(t for t in target.TARGETS if t.title.startswith("candidates of unary"))
        self.assertEqual(ratio.values(both)["unary 1e6"], 4)
        self.assertEqual(speed.values(both)["unary K4R4"], 1)
        self.assertIsNone(speed.values(both)["unary K16R4"])
        both[used] = Pair(Side(failed="stopped after 9 s"), Side([7]))
        self.assertEqual(ratio.values(both)["unary 1e6"], 3)

    def test_all_cases_of_targets_are_run(self) -> None:
        files = [Input(n, "usual", LONG, "") for n in (*target.TEXTS, "random bytes", target.IDS)]
        files += [Input(n, "usual", LONG, "") for n in ("unary", "period 16")]
        files += [Input("combs", "worst", n, "") for n in (*target.LENGTHS, target.WORST)]
        found = Outcome({c: Pair(Side([1]), Side([1])) for c in cases(files, 2)})
        for pair in found.values():
            pair.ours.figures = {"p99": 1, "resident": 1}
        for t in target.TARGETS:
            self.assertNotIn(None, t.values(found).values(), t.title)
            self.assertTrue(t.values(found), t.title)


class TestReport(unittest.TestCase):
    def test_rows_that_lose_are_bold(self) -> None:
        self.assertIn("**step**", report.streams(outcome(2, 1), (("step", 0, 0),)))
        self.assertNotIn("**", report.streams(outcome(1, 2), (("step", 0, 0),)))

    def test_titles(self) -> None:
        for job, title in {
            ("prefill", 0, 0): "prefill",
            ("prefill into", 0, 0): "prefill, rows used again",
            ("candidates prefill", 4, 4): "prefill K4R4",
            ("candidates prefill into", 16, 4): "prefill K16R4, rows used again",
            ("abi1 candidates step", 1, 1): "candidates step K1R1",
        }.items():
            self.assertEqual(report.titled(*job), title)

    def test_latency_of_both_kinds_of_steps(self) -> None:
        figures: dict[str, float] = {"p50": 1, "p99": 2, "p99.9": 3, "max": 4}
        fast = latency("English", SHORT), Pair(Side([1], figures))
        slow = latency("English", SHORT, bounded=True), Pair(Side(failed="exit 1"))
        told = report.latency(Outcome([fast, slow]))
        self.assertIn("| English | 1e4 | amortised | 1 | 2 | 3 | 4 |", told)
        self.assertIn("| English | 1e4 | bounded | – | – | – | – |", told)

    def test_a_case_that_failed(self) -> None:
        case = Case("candidates prefill", "English", LONG, 16, 4)
        found = Outcome({case: Pair(Side([1]), Side(failed="stopped after 9 s"))})
        self.assertIn(
            "candidates prefill@English@1000000@K16R4: stopped after 9 s", report.answers(found)
        )
        self.assertIn("| 1 |", report.streams(found | outcome(1, 1) | found, (case_of(case),)))

    def test_notes_are_there(self) -> None:
        self.assertTrue((Path(report.__file__).parent / "NOTES.md").exists())


def case_of(case: Case) -> tuple[str, int, int]:
    return case.job, case.k, case.r


if __name__ == "__main__":
    unittest.main()
