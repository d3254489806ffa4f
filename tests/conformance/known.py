"""What is known to fail, and why: the files expected/*_known_*.txt.

They are lists of patterns as the runner reads them. A block of lines says in a comment why its cases fail, and in
lines that begin with `#=` all that the runner may say of them: a case that fails in another way fails the test.
"""

import re


def expression(pattern):
    """A runner's pattern: `*` is one component of a name, `**` any number of them."""
    out = ""
    for component in pattern.split("/"):
        if component == "**":
            out += "(?:[^/]+/)*"
        else:
            out += ("[^/]+" if component == "*" else re.escape(component)) + "/"
    return re.compile(out)


class Known:
    def __init__(self, paths):
        self.blocks = []
        for path in paths:
            for block in path.read_text(encoding="utf-8").split("\n\n"):
                lines = [line.strip() for line in block.splitlines() if line.strip()]
                patterns = [expression(line) for line in lines if not line.startswith("#")]
                reasons = [re.compile(line[2:].strip()) for line in lines if line.startswith("#=")]
                self.blocks.append((patterns, reasons))

    def explains(self, case, reason):
        name = case + "/"
        return any(r.fullmatch(reason) for patterns, reasons in self.blocks
                   if any(p.fullmatch(name) for p in patterns) for r in reasons)


class Judge:
    """Reads what the runner prints, line by line, and says what is wrong that the runner finds right."""

    CASE = re.compile(r"INFO: (.*) failed \(as expected\):")
    COUNT = re.compile(r"(\d+) passed, \d+ failed")

    def __init__(self, known):
        self.known, self.case, self.faults, self.passed = known, None, [], 0

    def read(self, line):
        """Whether the line is about a failure that is known."""
        if begin := self.CASE.match(line):
            self.case = begin.group(1)
            return True
        if self.case is not None and line.startswith("\t"):
            if not self.known.explains(self.case, line.strip()):
                self.faults.append(f"FAILED: {self.case}, as expected, but not in the way that is known:\n{line}")
            return True
        self.case = None
        if count := self.COUNT.match(line):
            self.passed = int(count.group(1))
        if "could not be run" in line:
            self.faults.append(line)
        return False

    def verdict(self):
        return self.faults if self.passed > 0 else [*self.faults, "no case has passed"]
