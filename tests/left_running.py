#!/usr/bin/env python3
"""What a run of tests has started and still runs: `left_running.py MARK [--end]`.

MARK stands in the environment of every such process as DAVIT_TEST_RUN, of those that have left the run's session, too.
Prints a line for each; with --end also ends them, by SIGTERM and, three seconds later, SIGKILL.
"""

import os
import signal
import sys
import time
from pathlib import Path

GRACE_SECONDS = 3


def marked(mark):
    """Command lines by process id."""
    wanted, found = f"DAVIT_TEST_RUN={mark}".encode(), {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int(folder.name) != os.getpid() and wanted in (folder / "environ").read_bytes().split(b"\0"):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                if command:  # a process that has ended and is not waited for has none
                    found[int(folder.name)] = command
        except OSError:
            pass  # it ended meanwhile, or is somebody else's
    return found


def send(number, processes):
    for process in processes:
        try:
            os.kill(process, number)
        except ProcessLookupError:
            pass


def main(mark, end):
    found = marked(mark)
    for process, command in found.items():
        print(process, command[:200])
    if not end or not found:
        return
    send(signal.SIGTERM, found)
    deadline = time.monotonic() + GRACE_SECONDS
    while marked(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    while left := marked(mark):
        send(signal.SIGKILL, left)
        time.sleep(0.05)


if __name__ == "__main__":
    main(sys.argv[1], "--end" in sys.argv[2:])
