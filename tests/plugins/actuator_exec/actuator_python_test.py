"""The actuator in Python (sdk/examples/actuator_python) is killed before each of its lines, one after the other. What is
then called again finds what is there: one cluster, never two, and nothing when it is deleted."""

import importlib.util
import io
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

ACTUATOR = Path(__file__).resolve().parents[3] / "sdk" / "examples" / "actuator_python" / "actuator.py"
SPEC = importlib.util.spec_from_file_location("actuator", ACTUATOR)
actuator = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(actuator)

# They change nothing.
PURE = ("invalid", "number", "text", "read_spec")


def kill_before(line):
    """Kills this process before its line number `line` of the program, as they are executed."""
    left = line

    def trace(frame, event, _):
        nonlocal left
        if frame.f_code.co_filename != str(ACTUATOR) or frame.f_code.co_name in PURE:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), 9)
        return trace

    sys.settrace(trace)


def run(request, clusters, line):
    """In a child: the program, as far as it comes. Its output goes to the pipe."""
    os.environ["CLUSTERS"] = str(clusters)
    os.fsync = lambda _: None  # what a killed process has written is there
    sys.stdin, sys.stdout = io.StringIO(request), io.StringIO()
    if line > 0:
        kill_before(line)
    actuator.main()
    sys.settrace(None)
    return sys.stdout.getvalue()


class ActuatorPython(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.clusters = Path(folder.name)

    def call(self, operation, uid="u-1", line=0, **value):
        """The answer; None: it was killed."""
        spec = {"providerSpec": {"value": {"apiVersion": "folders.example/v1", **value}}} if value else {}
        request = {"apiVersion": "davit.dev/actuator/v1", "operation": operation, "namespace": "default",
                   "name": "shop", "uid": uid, "deadline": "2026-11-28T17:00:00.000Z", "cluster": {"spec": spec}}
        output, answer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(answer, run(json.dumps(request), self.clusters, line).encode())
            finally:
                os._exit(0)
        os.close(answer)
        with open(output, encoding="utf-8") as file:
            text = file.read()
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            self.assertEqual(os.WTERMSIG(status), 9)
            return None
        return json.loads(text)

    def things(self):
        return {str(path.relative_to(self.clusters)): path.is_file() and path.read_text(encoding="utf-8")
                for path in self.clusters.rglob("*")}

    def built(self, **value):
        answer = self.call("reconcile", **value)
        self.assertNotIn("error", answer)
        self.assertNotIn("requeueAfterSeconds", answer)
        return {name: content for name, content in self.things().items() if not name.endswith("control-plane.json")}

    def test_killed_before_each_line_of_a_creation(self):
        wanted = self.built(nodes=2)
        self.call("delete")
        line = 1
        while self.call("reconcile", line=line, nodes=2) is None:
            if line % 2:
                self.assertEqual(self.built(nodes=2), wanted, f"killed before line {line}")
            self.assertEqual(self.call("delete"), {})
            self.assertEqual(self.things(), {}, f"killed before line {line}")
            line += 1
        self.assertGreater(line, 60)

    def test_killed_before_each_line_of_a_change(self):
        self.built(nodes=1, size="large")
        wanted = self.built(nodes=1, size="large")
        self.built(nodes=3)
        line = 1
        while self.call("reconcile", line=line, nodes=1, size="large") is None:
            self.assertEqual(self.built(nodes=1, size="large"), wanted, f"killed before line {line}")
            self.built(nodes=3)
            line += 1
        self.assertGreater(line, 60)

    def test_killed_before_each_line_of_a_deletion(self):
        line = 1
        self.built(nodes=1)
        while self.call("delete", line=line) is None:
            # The name may already be another's.
            answer = self.call("reconcile", uid="u-2", nodes=1)
            taken = answer.get("error", {}).get("code") == "ALREADY_EXISTS"
            self.assertEqual(self.call("delete"), {})
            left = {path.name for path in self.clusters.iterdir()}
            self.assertEqual(left, set() if taken else {"default_shop"}, f"killed before line {line}")
            self.assertEqual(self.call("delete", uid="u-2"), {})
            self.assertEqual(self.things(), {})
            self.built(nodes=1)
            line += 1
        self.assertGreater(line, 15)

    def test_a_folder_that_is_away_is_not_a_deletion(self):
        self.clusters = self.clusters / "away"
        for operation in ("delete", "reconcile"):
            self.assertEqual(self.call(operation, nodes=1)["error"]["code"], "UNAVAILABLE")


if __name__ == "__main__":
    unittest.main(verbosity=2)
