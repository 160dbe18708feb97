"""Tests of what the comparison makes of the measurements.

    .venv/bin/python -m unittest discover -s bench/text
"""

from __future__ import annotations

import random
import struct
import tempfile
import unittest
from pathlib import Path

import compare
import dataset
import measure
import report
from outcome import Outcome

KEY = ("pack", "docs")

PPROF = """\
File: text
Type: cpu
Showing nodes accounting for 940ms, 94% of 1000ms total
      flat  flat%   sum%        cum   cum%
     600ms 60.00% 60.00%      620ms 62.00%  runtime.memmove
     310ms 31.00% 91.00%      930ms 93.00%  github.com/rosaline-go/rosaline/stringtensor.pack (inline)
      10ms  1.00% 92.00%       10ms  1.00%  runtime.futex
"""


def line(form: str, seconds: list[float]) -> dict:
    return dict(job=KEY[0], data=KEY[1], form=form, seconds=seconds, items=10, bytes=1000)


class OutcomeTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.outcome = Outcome(Path(folder.name))
        self.outcome.add("rosaline", line("views", [4.0, 2.0, 3.0]))
        self.outcome.add("luminamoon", line("tensor", [8.0]))
        self.outcome.add("pyarrow", line("string", [5.0]))
        self.outcome.add("pyarrow", line("string_view", [1.0]))

    def check(self, system: str, form: str, rows: list[bytes]) -> None:
        folder = self.outcome.checks / system
        folder.mkdir(exist_ok=True)
        measure.write_check(folder / f"pack@docs@{form}", rows)

    def test_ratio_is_theirs_over_ours(self) -> None:
        self.assertEqual(self.outcome.ratio(KEY, "luminamoon"), 4.0)

    def test_fastest_form_counts(self) -> None:
        self.assertEqual(self.outcome.ratio(KEY, "pyarrow"), 0.5)

    def test_absent_system_has_no_ratio(self) -> None:
        self.assertIsNone(self.outcome.ratio(KEY, "polars"))

    def test_losing(self) -> None:
        self.assertEqual(self.outcome.losing(), [KEY])

    def test_rounds_add_up(self) -> None:
        self.outcome.add("rosaline", line("views", [1.0]))
        ours = self.outcome.fastest(KEY, "rosaline")
        self.assertEqual((ours.best, ours.median), (1.0, 2.5))

    def test_difference(self) -> None:
        self.check("rosaline", "views", [b"a", b"b"])
        self.check("luminamoon", "tensor", [b"a", b"b"])
        self.check("pyarrow", "string_view", [b"a", b"x"])
        self.assertIsNone(self.outcome.difference(KEY, "luminamoon"))
        self.assertEqual(self.outcome.difference(KEY, "pyarrow"), "1 of 2 rows differ")
        self.check("pyarrow", "string_view", [b"a"])
        self.assertEqual(self.outcome.difference(KEY, "pyarrow"), "1 rows, ours has 2")
        self.assertEqual(self.outcome.difference(KEY, "polars"), "")

    def test_table_marks_what_another_system_wins(self) -> None:
        row = report.table(self.outcome).splitlines()[2]
        self.assertTrue(row.startswith("| **pack to offsets and payload** | docs |"), row)
        self.assertIn("| **0.50× (0.33)** 1000 ms · | – |", row)


class ReportTest(unittest.TestCase):
    def test_number(self) -> None:
        for value, text in ((1234.5, "1234"), (99.95, "100.0"), (0.0123, "0.0123"), (0, "0")):
            self.assertEqual(report.number(value), text)


class CompareTest(unittest.TestCase):
    def test_hot_functions(self) -> None:
        self.assertEqual(
            compare.hot_functions(PPROF),
            "`runtime.memmove` (copying) 60 %, `stringtensor.pack` 31 %",
        )


class DatasetTest(unittest.TestCase):
    def test_column_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.col"
            dataset.write_column(path, ["a", "", "é"])
            self.assertEqual(path.read_bytes(), struct.pack("<5I", 3, 0, 1, 1, 3) + "aé".encode())
            self.assertEqual(dataset.read_column(path), ["a", "", "é"])

    def test_card_numbers_pass_the_check(self) -> None:
        rng = random.Random(1)
        for _ in range(100):
            digits = [int(c) for c in dataset.card_number(rng) if c.isdigit()]
            doubled = (sum(divmod(2 * d, 10)) for d in digits[-2::-2])
            self.assertEqual((sum(doubled) + sum(digits[-1::-2])) % 10, 0)


if __name__ == "__main__":
    unittest.main()
