"""Plugins that are built from the frozen copy of the ABI alone, in the host of the day.

Each of frozen/ is compiled, by gcc and by clang, as README.md of the copy says: with its headers, its note and its list
of exported symbols, and no other file of the SDK. `davit check` accepts them, `davit run` runs them until it is ready
and back, and a plugin of today (caller.cpp) calls every table. desired, streamer and recorder stand on the frozen
storage.
"""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FROZEN = sorted((ROOT / "sdk/abi").glob("1.*"))
DAVIT = os.environ.get("DAVIT", ROOT / "build/release/stage/bin/davit")
CALLER = os.environ.get("FROZEN_CALLER", ROOT / "build/release/tests/sdk/abi")

# Name of the plugin, source, roles.
PLUGINS = (
    ("frozen_gate", HERE / "frozen/frozen_gate.cpp", "gate/1"),
    ("frozen_kind", HERE / "frozen/frozen_kind.c", "kind/1"),
    ("frozen_secrets", HERE / "frozen/frozen_secrets.c", "secrets/1"),
    ("frozen_sink", HERE / "frozen/frozen_sink.c", "change_sink/1,status_sink/1"),
    ("frozen_storage", HERE / "frozen/frozen_storage.c", "storage/1"),
    ("status_tee", ROOT / "sdk/examples/status_tee/status_tee.c", "status_sink/1"),
)
CONFIGURATION = """
[host]
plugin_dirs = ["{folder}", "{caller}"]
state_dir = "{folder}/state"
[rpc.server.operator]
listen = "unix:{folder}/operator.sock"
[rpc.server.main]
listen = "127.0.0.1:0"
[[rpc.server.main.token]]
name = "agents"
file = "{folder}/token"
role = "agent"
regions = ["local"]
[plugin.store]
module = "frozen_storage"
[plugin.notes]
module = "frozen_kind"
[plugin.door]
module = "frozen_gate"
[plugin.sink]
module = "frozen_sink"
gate = "door"
[plugin.tee]
module = "status_tee"
next = "sink"
[plugin.vault]
module = "frozen_secrets"
[plugin.streamer]
module = "streamer"
storage = "store"
[plugin.recorder]
module = "recorder"
storage = "store"
[plugin.desired]
module = "desired"
storage = "store"
[plugin.caller]
module = "frozen_caller"
storage = "store"
kind = "notes"
changes = "sink"
statuses = "tee"
secrets = "vault"
"""
# What each call of caller.cpp is answered.
ANSWERS = [
    ("kind.describe", "note TEXT"),
    ("kind.validate", "is missing"),
    ("kind.identify", "n-1 shop list"),
    ("kind.classify", "1"),
    ("kind.reconcile", '{"apply":[{"object":{"apiVersion":"v1","kind":"ConfigMap"'),
    ("kind.attribute", "list"),
    ("its descriptors", '{"id":"n-1","namespace":"shop","name":"list","text":"milk"}'),
    ("storage.limits", "16"),
    ("storage.commit", "the record has another version"),
    ("storage.commit", "1"),
    ("storage.head", "1"),
    ("storage.read", "list=milk b end"),
    ("storage.get", "list=milk b 1"),
    ("storage.history", "1"),
    ("storage.report", "ok"),
    ("storage.statuses", "healthy 1 end"),
    ("storage.progress", "ok"),
    ("storage.agents", "ok"),
    ("storage.agents", "a-1 note"),
    ("storage.maintain", "ok"),
    ("change_sink.open", "ok"),
    ("change_sink.begin", "ok"),
    ("change_sink.offer", "accepted"),
    ("change_sink.bookmark", "ok"),
    ("status_sink.offer", "ok"),
    ("secrets.resolve", "Hello"),
    ("secrets.resolve", "this instance has no secrets of its own"),
]
# Of other threads, in any order.
MEANWHILE = [("gate.wait", "open"), ("settled", "5 1"), ("closed", "ok")]
# What the plugins log of themselves.
SAID = ("sink a stream begins history=2", "sink a bookmark comes live=1", "sink the cursor moves version=6",
        "sink an issue begins version=7", "sink the gate opens waiters=1")
DOCUMENT = "{kind: note, region: local, id: n-2, spec: {id: n-2, namespace: shop, name: todo, text: eggs}}"


class Frozen:
    """The tests, for one compiler and every frozen copy."""

    compilers = {}

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="davit-frozen-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.configuration = self.folder / "davit.toml"
        self.configuration.write_text(CONFIGURATION.format(folder=self.folder, caller=CALLER))
        (self.folder / "token").write_text("a-token-of-the-test-that-is-long-enough\n")
        (self.folder / "note.yaml").write_text(DOCUMENT)

    def build(self, frozen):
        for name, source, roles in PLUGINS:
            language = "c++" if source.suffix == ".cpp" else "c"
            standard = {"c": "-std=c99", "c++": "-std=c++11"}[language]
            said = {"NAME": name, "VERSION": "1.0.0", "ROLES": roles, "NEEDS": ""}
            defined = [f'-DDAVIT_PLUGIN_{key}="{value}"' for key, value in said.items()]
            flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-fPIC", "-fvisibility=hidden", *defined,
                     f"-I{frozen}/include"]
            objects = []
            for file, mode in ((source, [standard]), (frozen / "note.c", ["-std=c99"])):
                compiler = self.compilers[language if file == source else "c"]
                objects.append(self.folder / f"{name}.{file.stem}.o")
                self.run_program(compiler, *mode, *flags, "-c", file, "-o", objects[-1])
            self.run_program(self.compilers[language], "-shared", f"-Wl,--version-script={frozen}/plugin.map",
                             "-Wl,-z,defs", *objects, "-lpthread", "-o", self.folder / f"{name}.so")

    def run_program(self, *command):
        run = subprocess.run([str(word) for word in command], text=True, capture_output=True, timeout=60)
        self.assertEqual(run.returncode, 0, f"{' '.join(map(str, command))}\n{run.stdout}{run.stderr}")
        return run.stdout

    def davit(self, *arguments):
        return self.run_program(DAVIT, *arguments, "--server", f"unix:{self.folder}/operator.sock")

    def wait_for(self, process, line):
        """Waits until the log of `davit run` has the line, and returns the log."""
        deadline = time.monotonic() + 60
        while True:
            log = (self.folder / "log").read_text(errors="replace")
            if re.search(line, log):
                return log
            self.assertIsNone(process.poll(), f"davit has ended:\n{log}")
            self.assertLess(time.monotonic(), deadline, f"not in the log: {line}\n{log}")
            time.sleep(0.02)

    def answers(self, log):
        """What caller.cpp has logged: (what, answer)."""
        found = re.findall(r'^.* caller +called what=("[^"]*"|\S+) answer=("(?:\\.|[^"\\])*"|\S*)$', log, re.M)
        return [(what.strip('"'), answer.strip('"').replace('\\"', '"')) for what, answer in found]

    def judge(self, log):
        answers = self.answers(log)
        said = [one for one in answers if one not in MEANWHILE and one[0] != "all"]
        for (what, answer), (expected_what, expected) in zip(said, ANSWERS):
            self.assertEqual(what, expected_what, log)
            self.assertIn(expected, answer, f"{what}\n{log}")
        self.assertEqual(len(said), len(ANSWERS), log)
        for one in MEANWHILE:
            self.assertEqual(answers.count(one), 1, f"{one}\n{log}")
        flat = re.sub(r" +", " ", log)
        for line in SAID:
            self.assertIn(line, flat)

    def test_are_accepted_run_and_called(self):
        self.assertNotEqual(FROZEN, [])
        for frozen in FROZEN:
            with self.subTest(frozen.name):
                self.build(frozen)
                self.run_program(DAVIT, "check", self.configuration)
                self.run_host()

    def run_host(self):
        with open(self.folder / "log", "wb") as log:
            process = subprocess.Popen([DAVIT, "run", self.configuration], stdout=log, stderr=log, cwd=self.folder)
        try:
            self.wait_for(process, r"(?m) ready\b")
            self.wait_for(process, r"what=all answer=called")
            # What is settled comes on another thread.
            log = self.wait_for(process, r"what=closed")
            self.assertIn("created", self.davit("apply", "-f", self.folder / "note.yaml"))
            self.assertRegex(self.davit("get", "note"), r"todo.*eggs")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(30), 0)
        finally:
            process.kill()
            process.wait()
        self.judge(log)
        whole = re.sub(r" +", " ", (self.folder / "log").read_text())
        self.assertIn("sink changes in all count=1", whole)
        self.assertIn("sink statuses in all count=1", whole)
        self.assertIn("tee statuses passed on total=1", whole)


class Gcc(Frozen, unittest.TestCase):
    compilers = {"c": "gcc", "c++": "g++"}


class Clang(Frozen, unittest.TestCase):
    compilers = {"c": "clang", "c++": "clang++"}


if __name__ == "__main__":
    unittest.main()
