#!/usr/bin/env python3
"""Adds up a test run: `summary.py FOLDER [SKIP...]`.

FOLDER has `<run>.xml`, what CTest says of each run of tests; `<run>/<test>.xml`, what a GoogleTest program says of its
test cases; and `parts.tsv`, how many seconds each part of the whole took. Writes FOLDER/times.tsv: every part and every
test with its seconds. Prints what failed and how its output ended, what was skipped and why, the parts beside their
budget (the table in tests/README.md), and the longest tests. The last line counts.
"""

import os
import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

SHOWN_LINES = 60  # of a failed test
LONGEST = 20
README = Path(__file__).with_name("README.md")


@dataclass
class Case:
    name: str
    seconds: float = 0
    state: str = "passed"  # or failed, skipped
    text: str = ""  # why it was skipped, or the end of its output


@dataclass
class Program:
    """One test of CTest; its cases are those of a GoogleTest program, or itself."""
    name: str
    seconds: float
    cases: list = field(default_factory=list)


def last_lines(text):
    return "\n".join(text.splitlines()[-SHOWN_LINES:])


def gtest_cases(path):
    """None if the program wrote nothing, because it died."""
    try:
        root = ElementTree.parse(path).getroot()
    except (FileNotFoundError, ElementTree.ParseError):
        return None
    cases = []
    for found in root.iter("testcase"):
        if found.get("status") == "notrun":
            continue  # another shard's, or filtered out
        case = Case(f"{found.get('classname')}.{found.get('name')}", float(found.get("time", 0)))
        failures = [f.get("message", "") for f in found.findall("failure")]
        if failures:
            case.state, case.text = "failed", last_lines("\n".join(failures))
        elif found.find("skipped") is not None:
            case.state, case.text = "skipped", found.find("skipped").get("message", "")
        cases.append(case)
    return cases


def program_of(found, folder):
    program = Program(found.get("name"), float(found.get("time") or 0))
    output = found.findtext("system-out", "")
    whole = Case("", program.seconds)
    skipped = found.find("skipped")
    if skipped is not None or found.get("status") in ("notrun", "disabled"):
        whole.state, whole.text = "skipped", "" if skipped is None else skipped.get("message", "")
    elif found.find("failure") is not None or found.get("status") == "fail":
        whole.state, whole.text = "failed", last_lines(output)
    cases = gtest_cases(folder / f"{program.name}.xml")
    if cases is None or (whole.state == "failed" and all(c.state != "failed" for c in cases)):
        # It died, in the test that it had begun last, or after all of them.
        begun = re.findall(r"^\[ RUN      \] (\S+)", output, re.MULTILINE)
        if whole.state == "failed" and begun and cases is None:
            whole.name = begun[-1]
        program.cases = [whole] + [c for c in cases or [] if c.state != "passed"]
    elif not cases:
        # A filter that fits nothing passes, too.
        whole.state, whole.text = "failed", "none of its test cases ran"
        program.cases = [whole]
    else:
        program.cases = cases
    return program


def read_runs(folder):
    runs = {}
    for path in sorted(folder.glob("*.xml")):
        runs[path.stem] = [program_of(found, folder / path.stem)
                           for found in ElementTree.parse(path).getroot().iter("testcase")]
    return runs


def read_parts(folder):
    path = folder / "parts.tsv"
    if not path.exists():
        return {}
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return {name: float(seconds) for name, seconds in rows}


def compiled_anew(folder):
    """Whether the compile cache had less than half of what was compiled."""
    path = folder / "ccache.log"
    events = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    hits = sum(event in ("direct_cache_hit", "preprocessed_cache_hit") for event in events)
    return events.count("cache_miss") > hits


def budgets(cold):
    """Minutes by part, from the table in README.md: | `part` | with caches | without |."""
    found = re.findall(r"^\| `([a-z ]+)` \| ([\d.]+) \| ([\d.]+) \|", README.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: float(without if cold else within) for name, within, without in found}


def write_times(folder, parts, runs):
    rows = [("part", name, seconds) for name, seconds in parts.items()]
    for run, programs in runs.items():
        for program in programs:
            rows.append((run, program.name, program.seconds))
            rows += [(run, f"{program.name} {case.name}", case.seconds) for case in program.cases if case.name]
    text = "".join(f"{run}\t{name}\t{seconds:.3f}\n" for run, name, seconds in rows)
    cases = folder / "e2e-cases.tsv"  # which the end-to-end tests have written themselves
    if cases.exists():
        text += cases.read_text(encoding="utf-8")
        cases.unlink()
    (folder / "times.tsv").write_text(text, encoding="utf-8")


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def print_parts(parts, cold):
    if not parts:
        return
    limits = budgets(cold)
    print(f"\n{'part':<20}{'took':>8}{'budget':>8}   ({'without' if cold else 'with'} compile caches)")
    over = []
    for name, seconds in [*parts.items(), ("all", sum(parts.values()))]:
        limit = limits.get(name)
        late = limit is not None and seconds > 60 * limit
        if late:
            over.append(name)
        budget = "none" if limit is None else clock(60 * limit)
        print(f"{name:<20}{clock(seconds):>8}{budget:>8}{'   over its budget' if late else ''}")
    if over:
        print(f"warning: over budget (tests/README.md): {', '.join(over)}")


def print_longest(runs):
    tests = [(p.seconds, f"{run}: {p.name}") for run, programs in runs.items() for p in programs]
    if not tests:
        return
    print(f"\nthe {min(LONGEST, len(tests))} longest of {len(tests)} tests:")
    for seconds, name in sorted(tests, reverse=True)[:LONGEST]:
        print(f"{seconds:8.1f} s  {name}")


def main(folder, skips):
    folder = Path(folder)
    runs, parts = read_runs(folder), read_parts(folder)
    write_times(folder, parts, runs)
    passed, failures = 0, []
    for run, programs in runs.items():
        for program in programs:
            for case in program.cases:
                name = f"{run}: {program.name} {case.name}".rstrip()
                if case.state == "skipped":
                    skips.append(f"{name}: {case.text}")
                elif case.state == "failed":
                    failures.append((name, case.text))
                else:
                    passed += 1
    print_parts(parts, compiled_anew(folder))
    print_longest(runs)
    print()
    for name, text in failures:
        print(f"failed   {name}", *(f"  | {line}" for line in text.splitlines()), sep="\n")
    for skip in skips:
        print(f"skipped  {skip}")
    forbidden = bool(skips) and bool(os.environ.get("DAVIT_NO_SKIPS"))
    if forbidden:
        print("nothing may be skipped here (DAVIT_NO_SKIPS)")
    print(f"{passed} passed, {len(failures)} failed, {len(skips)} skipped", flush=True)
    return 1 if failures or forbidden or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
