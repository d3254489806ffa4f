"""The judge of a test run: what is failed must be shown as failed, whatever else a file says."""

import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import summary

CTEST = """<testsuite>{}</testsuite>"""
RAN = '<testcase name="{}" time="1.5" status="run"/>'
FAILED = '<testcase name="{}" time="2" status="fail"><failure message="Failed"/><system-out>{}</system-out></testcase>'
SKIPPED = '<testcase name="{}" time="0" status="notrun"><skipped message="why"/></testcase>'
GTEST = """<testsuites><testsuite name="Cursor">{}</testsuite></testsuites>"""
CASE = '<testcase name="{}" status="run" time="0.25" classname="Cursor">{}</testcase>'


class Summary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="davit-summary-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def summed(self, *skips, environment=()):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), mock.patch.dict(os.environ, {"DAVIT_NO_SKIPS": "", **dict(environment)}):
            code = summary.main(self.folder, list(skips))
        return code, out.getvalue()

    def test_each_case_of_a_program_counts(self):
        self.write("asan.xml", CTEST.format(RAN.format("watcher_test") + RAN.format("e2e.trip")))
        self.write("asan/watcher_test.xml", GTEST.format(CASE.format("Moves", "") + CASE.format("Holds", "")))
        code, text = self.summed()
        self.assertEqual((code, text.splitlines()[-1]), (0, "3 passed, 0 failed, 0 skipped"))

    def test_a_failed_case_is_named_and_the_rest_passes(self):
        self.write("asan.xml", CTEST.format(FAILED.format("watcher_test", "")))
        self.write("asan/watcher_test.xml", GTEST.format(
            CASE.format("Moves", '<failure message="3 is not 4"/>') + CASE.format("Holds", "")))
        code, text = self.summed()
        self.assertEqual((code, text.splitlines()[-1]), (1, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("failed   asan: watcher_test Cursor.Moves\n  | 3 is not 4", text)

    def test_a_program_of_which_nothing_ran_has_failed(self):
        self.write("tsan.xml", CTEST.format(RAN.format("watcher_test")))
        self.write("tsan/watcher_test.xml", "<testsuites></testsuites>")
        code, text = self.summed()
        self.assertEqual((code, text.splitlines()[-1]), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("failed   tsan: watcher_test\n  | none of its test cases ran", text)

    def test_a_program_that_died_has_failed_in_the_test_that_it_had_begun(self):
        self.write("tsan.xml", CTEST.format(FAILED.format(
            "watcher_test", "[ RUN      ] Cursor.Moves\n[       OK ] Cursor.Moves\n[ RUN      ] Cursor.Holds\nraced")))
        code, text = self.summed()
        self.assertEqual((code, text.splitlines()[-1]), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("failed   tsan: watcher_test Cursor.Holds\n", text)
        self.assertIn("  | raced", text)

    def test_a_program_that_failed_after_its_last_case_has_failed(self):
        """A leak that the sanitizer finds at the end."""
        self.write("asan.xml", CTEST.format(FAILED.format("watcher_test", "LeakSanitizer: detected")))
        self.write("asan/watcher_test.xml", GTEST.format(CASE.format("Moves", "")))
        code, text = self.summed()
        self.assertEqual((code, text.splitlines()[-1]), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("LeakSanitizer", text)

    def test_skips_are_told_with_their_reason(self):
        self.write("asan.xml", CTEST.format(RAN.format("e2e.trip") + SKIPPED.format("e2e.krane")))
        code, text = self.summed("kubernetes: no Go")
        self.assertEqual((code, text.splitlines()[-1]), (0, "1 passed, 0 failed, 2 skipped"))
        self.assertIn("skipped  asan: e2e.krane: why", text)
        self.assertIn("skipped  kubernetes: no Go", text)

    def test_a_skip_is_a_failure_where_nothing_may_be_skipped(self):
        self.write("asan.xml", CTEST.format(RAN.format("e2e.trip")))
        code, text = self.summed("kubernetes: no Go", environment={"DAVIT_NO_SKIPS": "1"})
        self.assertEqual((code, text.splitlines()[-1]), (1, "1 passed, 0 failed, 1 skipped"))
        self.assertIn("nothing may be skipped here (DAVIT_NO_SKIPS)", text)

    def test_a_run_without_tests_has_failed(self):
        self.assertEqual(self.summed()[0], 1)

    def test_a_part_over_its_budget_is_warned_of(self):
        self.write("asan.xml", CTEST.format(RAN.format("e2e.trip")))
        self.write("parts.tsv", "fuzzing\t100000\nbench\t1\n")
        code, text = self.summed()
        self.assertEqual(code, 0)
        self.assertIn("warning: over budget (tests/README.md): fuzzing, all", text)
        times = (self.folder / "times.tsv").read_text(encoding="utf-8")
        self.assertEqual(times, "part\tfuzzing\t100000.000\npart\tbench\t1.000\nasan\te2e.trip\t1.500\n")


if __name__ == "__main__":
    unittest.main()
