"""Tests of what the comparison makes of the measurements.

    .venv/bin/python -m unittest discover -s bench/text
"""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import dataset
import longrun
import measure
import profiles
import report
import target
from comparison import Comparison
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
        self.outcome.add("avx2", {"system": "rosaline", "version": "1 (avx2)"})
        self.outcome.add("generic", {"system": "rosaline", "version": "1 (generic)"})
        self.outcome.add("generic", line("views", [16.0]))
        self.outcome.add("avx2", line("views", [4.0, 2.0, 3.0]))
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

    def test_ratio_of_another_level(self) -> None:
        self.assertEqual(self.outcome.levels, ["generic", "avx2"])
        self.assertEqual(self.outcome.ratio(KEY, "luminamoon", "generic"), 0.5)

    def test_base_is_the_highest_there_is(self) -> None:
        outcome = Outcome(self.outcome.checks)
        outcome.add("generic", {"version": "1"})
        self.assertEqual(outcome.base, "generic")

    def test_ratio_is_of_rates_where_a_system_works_on_a_part(self) -> None:
        self.outcome.add("datatrove", {**line("chain", [3.0]), "bytes": 10})
        self.assertEqual(self.outcome.ratio(KEY, "datatrove"), 150.0)

    def test_figures_are_the_worst_of_the_rounds(self) -> None:
        for value in (0.0, 2.0, 1.0):
            self.outcome.add("avx2", {**line("packed", [9.0]), "figures": {"allocations": value}})
        self.assertEqual(self.outcome.form(KEY, "avx2", "packed").figures["allocations"], 2.0)

    def test_losing(self) -> None:
        self.assertEqual(self.outcome.losing(), [KEY])

    def test_rounds_add_up(self) -> None:
        self.outcome.add("avx2", line("views", [1.0]))
        ours = self.outcome.fastest(KEY, "avx2")
        self.assertEqual((ours.best, ours.median), (1.0, 2.5))

    def test_difference(self) -> None:
        self.check("avx2", "views", [b"a", b"b"])
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
        self.assertIn("| **0.50× (0.33)** 1000 ms · | – | – |", row)
        self.assertIn("| 8.0× |", row)


class ReportTest(unittest.TestCase):
    def test_number(self) -> None:
        for value, text in ((1234.5, "1234"), (99.95, "100.0"), (0.0123, "0.0123"), (0, "0")):
            self.assertEqual(report.number(value), text)


class TargetTest(unittest.TestCase):
    def comparison(self, ratio: float) -> Comparison:
        one = Outcome(Path("none"))
        one.add("avx2", {"version": "1"})
        for data in target.COLUMNS:
            one.add("avx2", {**line("Filter", [1.0]), "job": "prefix", "data": data})
            seconds = ratio if data == "med" else 9.0
            theirs = {**line("tensor", [seconds]), "job": "prefix", "data": data}
            one.add("luminamoon", theirs)
        return Comparison(one, Outcome(Path("none")), 2)

    def test_verdict(self) -> None:
        prefix = target.TARGETS[0]
        self.assertEqual(prefix.verdict(self.comparison(4.0)), "met")
        self.assertEqual(prefix.verdict(self.comparison(3.99)), "**missed** on med")
        nothing = Comparison(Outcome(Path("none")), Outcome(Path("none")), 2)
        self.assertEqual(prefix.verdict(nothing), "not measured")

    def test_upper_bound(self) -> None:
        allocations = next(t for t in target.TARGETS if t.title.startswith("allocations"))
        self.assertTrue(allocations.most and allocations.met(0.0))
        self.assertFalse(allocations.met(0.001))

    def test_table_has_every_target(self) -> None:
        lines = target.table(self.comparison(5.0)).splitlines()
        self.assertEqual(len(lines), 2 + len(target.TARGETS))
        self.assertIn("short 9, med 5, docs 9", lines[2])

    def test_scaling(self) -> None:
        c = self.comparison(5.0)
        c.all.add("avx2", {"version": "1"})
        c.all.add("avx2", {**line("2 workers", [0.5]), "job": "prefix", "data": "med"})
        self.assertEqual(c.scaling(("prefix", "med")), 2.0)
        self.assertIsNone(c.scaling(("prefix", "docs")))


class LongRunTest(unittest.TestCase):
    def test_input_is_numbered(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            documents, path = Path(folder) / "docs.jsonl", Path(folder) / "large.jsonl"
            texts = ["a", 'quoted "b"\r\n']
            dataset.write_jsonl(documents, texts)
            longrun.write_input(path, documents, 3 * documents.stat().st_size)
            got = [json.loads(text)["text"] for text in path.read_text().splitlines()]
            self.assertEqual(got[:4], [f"{text} {turn}" for turn in (0, 1) for text in texts])
            self.assertEqual(len(got) % 2, 0)
            self.assertGreaterEqual(path.stat().st_size, 3 * documents.stat().st_size)

    def test_run_watches_the_memory(self) -> None:
        # A command that writes the report and takes long enough to be looked at.
        script = (
            "import json, sys, time; data = b'x' * 50_000_000; time.sleep(0.3);"
            "path = [a for a in sys.argv if a.startswith('--report=')][0][9:];"
            "open(path, 'w').write(json.dumps({'dedup': {'bytes': 7}}))"
        )
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "in.jsonl"
            source.write_text("{}")
            run = longrun.run([sys.executable, "-c", script], source, 2, dict(os.environ))
            self.assertEqual((run.cores, run.bytes, run.dedup), (2, 2, 7))
            self.assertEqual(list(Path(folder).iterdir()), [source])
            if Path("/proc/self/status").exists():
                self.assertGreater(run.peak, 50_000_000)
                self.assertEqual(len(run.eighths()), 8)

    def test_a_run_that_fails_leaves_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "in.jsonl"
            source.write_text("{}")
            with self.assertRaises(subprocess.CalledProcessError):
                longrun.run([sys.executable, "-c", "exit(3)"], source, 1, dict(os.environ))
            self.assertEqual(list(Path(folder).iterdir()), [source])


class ProfilesTest(unittest.TestCase):
    def test_line(self) -> None:
        self.assertEqual(
            profiles.line(profiles.parse(PPROF)),
            "`runtime.memmove` (copying) 60 %, `stringtensor.pack` 31 %",
        )

    def test_table(self) -> None:
        self.assertIn(
            "| `stringtensor.pack` | 31.0 % | 93.0 % |", profiles.table(profiles.parse(PPROF))
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
