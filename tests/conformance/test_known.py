"""What is known to fail is looked at, too."""

import tempfile
import unittest
from pathlib import Path

from known import Judge, Known, expression

LIST = """
# Why.
#= it is (red|blue)
Colours/**/wrong
Colours/*/first

# Why else.
#= it is late
Times/**
"""


def known():
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(LIST)
        file.flush()
        return Known([Path(file.name)])


class Patterns(unittest.TestCase):
    def test_stars_stand_for_components(self):
        for pattern, name, matches in (("a/*/c", "a/b/c/", True), ("a/*/c", "a/b/b/c/", False),
                                       ("a/**/c", "a/c/", True), ("a/**/c", "a/b/b/c/", True),
                                       ("**/c", "a/b/c/", True), ("a/**", "a/b/c/", True),
                                       ("a/**", "ab/c/", False), ("a/b", "a/b/c/", False)):
            self.assertEqual(bool(expression(pattern).fullmatch(name)), matches, (pattern, name))


class Verdicts(unittest.TestCase):
    def verdict(self, *lines):
        judge = Judge(known())
        for line in lines:
            judge.read(line)
        return judge.verdict()

    def test_known_failure_is_right(self):
        self.assertEqual(self.verdict("INFO: Colours/x/wrong failed (as expected):", "\tit is red", "",
                                      "1 passed, 0 failed"), [])

    def test_known_failure_of_another_kind_is_a_fault(self):
        for lines in (("\tit is late",), ("\tit is red", "\tand more")):
            faults = self.verdict("INFO: Colours/x/wrong failed (as expected):", *lines, "1 passed, 0 failed")
            self.assertEqual(len(faults), 1, lines)

    def test_case_that_no_list_names_is_a_fault(self):
        self.assertEqual(len(self.verdict("INFO: Shapes/wrong failed (as expected):", "\tit is red",
                                          "1 passed, 0 failed")), 1)

    def test_cases_that_did_not_run_are_a_fault(self):
        self.assertEqual(len(self.verdict("3 passed, 0 failed", "Another 4 could not be run due to ...")), 1)

    def test_nothing_that_passed_is_a_fault(self):
        self.assertEqual(len(self.verdict("0 passed, 0 failed")), 1)
        self.assertEqual(len(self.verdict()), 1)


if __name__ == "__main__":
    unittest.main()
