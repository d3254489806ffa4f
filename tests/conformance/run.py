#!/usr/bin/env python3
"""Runs the Connect project's conformance suite against Davit's RPC layer; README.md says more.

`run.py --build DIR --transport grpc|connect --mode server|client [-- OPTION...]`: options are the runner's, `-v` or
`--run '**/unary/**'`, say. Ends with 77 when the suite cannot be had here, unless DAVIT_NO_SKIPS is set.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from known import Judge, Known

HERE = Path(__file__).resolve().parent
EXPECTED = HERE / "expected"
SKIPPED = 77
PARALLEL = 4  # calls at once: some cases measure time, and the machine may be small
SERVERS = 2  # at once


def programs():
    """The folder of the suite's programs, built when it has to be; None where that cannot be done."""
    built = subprocess.run([HERE / "build.sh"], stdout=subprocess.PIPE, text=True, check=False)
    return Path(built.stdout.strip().splitlines()[-1]) if built.returncode == 0 else None


def command(options, suite):
    """What is put to the test, as the runner starts it."""
    parts = options.build.resolve() / "tests/conformance"
    if options.mode == "client":
        return [parts / "conformance_suite_client", options.transport]
    return [sys.executable, HERE / "server.py", "--transport", options.transport,
            "--plugin", parts / "conformance_service.so", "--descriptors", suite / "descriptors.binpb"]


def runner(options, suite):
    """The command, and the lists that it is given."""
    name = f"{options.transport}_{options.mode}"
    out = [suite / "connectconformance", "--mode", options.mode, "--max-servers", str(SERVERS),
           "--conf", EXPECTED / f"{name}.yaml"]
    lists = []
    for what in ("failing", "flaky"):
        path = EXPECTED / f"{name}_known_{what}.txt"
        if path.exists():
            out += [f"--known-{what}", f"@{path}"]
            lists.append(path)
    if options.mode == "server":
        out += ["--parallel", str(PARALLEL)]
    return [*map(str, out), *options.more, "--", *map(str, command(options, suite))], lists


def run(argv, lists, environment):
    judge = Judge(Known(lists))
    # What the runner has to end by force leaves its files in the folder.
    with tempfile.TemporaryDirectory(prefix="davit-suite-") as folder:
        with subprocess.Popen(argv, env={**environment, "TMPDIR": folder}, stdout=subprocess.PIPE, text=True) as runs:
            for line in runs.stdout:
                if not judge.read(line.rstrip("\n")):
                    print(line, end="", flush=True)
        faults = judge.verdict() + [path.read_text(encoding="utf-8") for path in Path(folder).glob("fault-*")]
    for fault in faults:
        print(fault)
    return runs.returncode or (1 if faults else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--transport", choices=("grpc", "connect"), required=True)
    parser.add_argument("--mode", choices=("server", "client"), required=True)
    parser.add_argument("more", nargs="*", help="options of connectconformance")
    options = parser.parse_args()
    suite = programs()
    if suite is None:
        print("skipped: the conformance suite cannot be built here (it needs Go 1.26, or python3 with venv and pip, "
              "and the Go module proxy); what is missing stands above")
        return 1 if os.environ.get("DAVIT_NO_SKIPS") else SKIPPED
    environment = {**os.environ, "DAVIT_STAGE": str(options.build.resolve() / "stage")}
    if options.mode == "server":
        from server import TOKEN  # what the server asks its callers for
        environment["DAVIT_CONFORMANCE_AUTHORIZATION"] = f"Bearer {TOKEN}"
    return run(*runner(options, suite), environment)


if __name__ == "__main__":
    sys.exit(main())
