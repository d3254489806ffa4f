"""A peer in Node (tests/node): a process that takes commands as JSON lines and says what happens as JSON lines."""

import json
import subprocess
import sys
import threading
import time
import unittest

from parts import PATIENCE, REPOSITORY, die_with_parent

FOLDER = REPOSITORY / "tests/node"
NOT_INSTALLED = 127


class NodePeer:
    """Runs a script. `heard` gets every event on a thread of its own, before anybody who waits for one."""

    def __init__(self, script, *arguments, heard=None):
        self.script, self.heard = script, heard
        self.changed = threading.Condition()
        self.events, self.ended, self.commands = [], False, 0
        self.process = subprocess.Popen(
            [str(FOLDER / "node.sh"), str(FOLDER / script), *map(json.dumps, arguments)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, encoding="utf-8", preexec_fn=die_with_parent)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            if event.get("event") == "fault":
                print(f"{self.script}: {event}", file=sys.stderr)
            if self.heard is not None:
                self.heard(event)
            with self.changed:
                self.events.append(event)
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def tell(self, **command):
        """Sends a command; returns its number, counted from 1."""
        with self.changed:
            self.commands += 1
            try:
                self.process.stdin.write(json.dumps(command) + "\n")
                self.process.stdin.flush()
            except BrokenPipeError:
                self.changed.wait_for(lambda: self.ended, 10)
                self.check_runs()
                raise
            return self.commands

    def wait_event(self, what, holds, seconds=30.0, since=0):
        """The first event of which `holds` is true."""
        deadline, looked_at = time.monotonic() + seconds * PATIENCE, since
        with self.changed:
            while True:
                for event in self.events[looked_at:]:
                    if event.get("event") == "fault":
                        raise AssertionError(f"{self.script}: {event['text']} of {event['line']}")
                    if holds(event):
                        return event
                looked_at = len(self.events)
                self.check_runs(what)
                if not self.changed.wait(deadline - time.monotonic()):
                    raise AssertionError(f"not within {seconds * PATIENCE:.0f} s: {what}; last {self.events[-3:]}")

    def check_runs(self, what="its end"):
        """Unless it was never installed, it has no reason to end by itself."""
        if self.ended:
            if self.process.wait(10) == NOT_INSTALLED:
                raise unittest.SkipTest("packaging/install-dependencies.sh installs the Connect libraries for Node")
            raise AssertionError(f"{self.script} ended before {what}")

    def ask(self, seconds=30.0, **command):
        """Sends a command and waits until it is done."""
        since = len(self.events)
        number = self.tell(**command)
        return self.wait_event(f"{command} is done", lambda e: e.get("done") == number, seconds, since)

    def close(self):
        """Ends it by the end of its stdin; returns the exit code."""
        if self.process.poll() is None:
            try:
                self.process.stdin.close()
                self.process.wait(10 * PATIENCE)
            except (BrokenPipeError, subprocess.TimeoutExpired):
                self.process.kill()
        code = self.process.wait()
        with self.changed:
            self.changed.wait_for(lambda: self.ended, 10)
        self.process.stdout.close()
        return code
