#!/usr/bin/env python3
"""Adds up the JUnit files of a test run: `summary.py FOLDER [SKIP...]`. The last lines say what was skipped and why,
and how the output of each failed test ended."""

import os
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

SHOWN_LINES = 60  # of a failed test


def main(folder, skips):
    passed, failures = 0, []
    for path in sorted(Path(folder).glob("*.xml")):
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            name = f"{path.stem}: {case.get('name')}"
            if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
                reason = case.find("skipped")
                skips.append(f"{name}: {'' if reason is None else reason.get('message', '')}")
            elif case.find("failure") is not None or case.get("status") == "fail":
                failures.append((name, case.findtext("system-out", "").splitlines()[-SHOWN_LINES:]))
            else:
                passed += 1
    for name, output in failures:
        print(f"failed   {name}", *(f"  | {line}" for line in output), sep="\n")
    for skip in skips:
        print(f"skipped  {skip}")
    print(f"{passed} passed, {len(failures)} failed, {len(skips)} skipped")
    forbidden = bool(skips) and bool(os.environ.get("DAVIT_NO_SKIPS"))
    if forbidden:
        print("nothing may be skipped here (DAVIT_NO_SKIPS)", file=sys.stderr)
    return 1 if failures or forbidden or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
