"""A store moves into another one while agents run: `davit storage copy`.

A backend is a class with `settings(name)`, the keys of [plugin.main] for a store of this name, and `close()`. Another
one is one line in BACKENDS: each pair of them is moved there and back.
"""

import itertools
import json
import os
import random
import resource
import signal
import subprocess
import tempfile
import time
import unittest

from parts import DAVIT, REGION, Case, Process, deployment, metrics, wait_until
from postgres import Postgres


class Sqlite:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="davit-sqlite-")

    def file(self, name):
        return f"{self.folder.name}/{name}.db"

    def settings(self, name):
        return f'module = "storage_sqlite"\npath = "{self.file(name)}"'

    def close(self):
        self.folder.cleanup()


BACKENDS = (Sqlite, Postgres)
PAIRS = list(itertools.product(BACKENDS, repeat=2))
RECORDS = 12
KILLS = 30


class Stores(Case):
    def setUp(self):
        super().setUp()
        self.backends = {}

    def tearDown(self):
        super().tearDown()
        for backend in self.backends.values():
            backend.close()

    def server(self, backend, name):
        """A server on a store of this name. All of them are at one address, and one runs at a time."""
        if backend not in self.backends:
            self.backends[backend] = backend()
        return self.world.server(name, store=self.backends[backend].settings(name))

    def start(self, server):
        server.start()
        self.world.wait_ready(server)

    def files(self, source, target):
        return [o for s, option in ((source, "--from"), (target, "--to")) for f in s.argv[2:] for o in (option, f)]

    def copy(self, source, target, *options, check=True):
        return self.world.davit("storage", "copy", *self.files(source, target), *options, check=check)

    def refuses(self, server):
        """No server starts on a copy that is not complete."""
        done = subprocess.run(server.argv, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode == 2 and "a copy into it is not complete" in done.stderr


class Fleet(Stores):
    """With an agent and its cluster, and an operator who watches."""

    def agent(self):
        agent = self.world.agent()
        self.metrics_port = self.world.with_metrics(agent)
        return agent.start()

    def written(self):
        """What the agent has asked of its cluster."""
        seen = metrics(self.metrics_port)
        return {name: seen.get(f"davit_applier_{name}_total", 0) for name in ("applies", "deletes", "repairs")}

    def issues(self, condition):
        return [i for a in self.world.status()["agents"] for i in a.get("issues", []) if i["condition"] == condition]

    def watched(self):
        return [(d["id"], d["state"]) for d in map(json.loads, filter(lambda line: line.startswith("{"),
                                                                      self.watch.lines()))]

    def wait_watched(self, *expected):
        wait_until(lambda: f"{expected} in {self.watch.text()}", lambda: len(self.watched()) >= len(expected))
        self.assertEqual(self.watched(), list(expected))

    def move(self, source, target, agent):
        """In the operator's steps. While the source is stopped, so is the agent, which then has to catch up."""
        said = self.copy(source, target)[1]
        self.assertIn("no server starts on it", said)
        self.assertIn("--finish", said)
        self.assertTrue(self.refuses(target))
        code, _, why = self.copy(source, target, "--finish", check=False)
        self.assertEqual(code, 6, why)
        self.assertIn("must be stopped", why)
        agent.process.send_signal(signal.SIGSTOP)
        self.world.apply([deployment(100)])
        self.world.delete("deployment", "d_1")
        self.assertEqual(source.stop(), 0)
        said = json.loads(self.copy(source, target, "--finish", "-o", "json")[1])
        self.assertTrue(said["complete"], said)
        self.assertEqual(said["source_sha256"], said["copy_sha256"])
        self.start(target)
        agent.process.send_signal(signal.SIGCONT)

    def there_and_back(self, here, there):
        first, second, third = (self.server(b, n) for b, n in ((here, "first"), (there, "second"), (here, "third")))
        self.start(first)
        agent = self.agent()
        self.world.apply([deployment(n) for n in range(RECORDS)], "--wait")
        self.watch = self.world.watch("deployment", "-o", "json")
        all_of_it = sorted((f"d_{n}", "running") for n in range(RECORDS))
        self.wait_watched(*all_of_it)
        before, versions = self.written(), {i: o["version"] for i, o in self.world.objects().items()}
        self.move(first, second, agent)

        rest = {f"d_{n}" for n in range(RECORDS) if n != 1}
        self.world.wait_running(rest | {"d_100"})
        self.world.wait_gone()
        after = self.written()
        # One that is new and one that was deleted: nothing else was touched.
        self.assertEqual(after["deletes"] - before["deletes"], 1)
        self.assertLessEqual(after["applies"] - before["applies"], 2)
        self.assertEqual(self.issues("orphaned"), [])
        objects = self.world.objects()
        self.assertEqual({i: objects[i]["version"] for i in rest}, {i: versions[i] for i in rest})
        self.wait_watched(*all_of_it, ("d_100", "running"), ("d_1", "deleted"))
        self.world.apply([deployment(101)], "--wait")
        self.assertGreater(int(self.world.objects()["d_101"]["version"]), max(map(int, versions.values())))
        self.wait_watched(*all_of_it, ("d_100", "running"), ("d_1", "deleted"), ("d_101", "running"))

        # And back again, with what has come since.
        before = self.written()
        self.copy(second, third)
        self.assertEqual(second.stop(), 0)
        self.assertIn("the same", self.copy(second, third, "--finish")[1])
        self.start(third)
        self.world.apply([deployment(102)], "--wait")
        self.world.wait_running(rest | {"d_100", "d_101", "d_102"})
        self.assertEqual(self.written()["deletes"], before["deletes"])
        self.assertEqual(self.issues("orphaned"), [])
        self.wait_watched(*all_of_it, ("d_100", "running"), ("d_1", "deleted"), ("d_101", "running"),
                          ("d_102", "running"))
        # Each stream has gone on at its cursor.
        self.assertNotIn("begins with a snapshot", agent.text())
        self.watch.kill()
        self.check_clean_end(agent, third)

    def test_between_files(self):
        self.there_and_back(Sqlite, Sqlite)

    def test_from_a_file_to_a_database_and_back(self):
        self.there_and_back(Sqlite, Postgres)

    def test_from_a_database_to_a_file_and_back(self):
        self.there_and_back(Postgres, Sqlite)

    def test_between_databases(self):
        self.there_and_back(Postgres, Postgres)

    def test_a_source_that_runs_again_costs_no_object(self):
        """The operator starts the old server once more, and it gives versions that the copy will give to others."""
        first, second = self.server(Sqlite, "first"), self.server(Sqlite, "second")
        self.start(first)
        agent = self.agent()
        self.world.apply([deployment(n) for n in range(RECORDS)], "--wait")
        self.assertEqual(first.stop(), 0)
        self.copy(first, second, "--finish")
        self.start(first)
        self.world.apply([deployment(99)], "--wait")
        before = self.written()
        self.assertEqual(first.stop(), 0)
        self.start(second)
        self.world.apply([deployment(50)], "--wait")
        wait_until("what the copy never had is orphaned", lambda: self.issues("orphaned"))
        self.assertEqual([i["name"] for i in self.issues("orphaned")], ["app-99"])
        self.world.wait_running({f"d_{n}" for n in range(RECORDS)} | {"d_50"})
        self.assertEqual(self.written()["deletes"], before["deletes"])
        self.check_clean_end(agent, second)

    def test_a_source_that_never_stops_costs_no_object(self):
        """The copy is made from a backup. So the old server goes on in an incarnation that the copy ends, and the agent
        follows it; both stores then give the same versions, and the copy's newest is beyond what the agent has."""
        first, taken, second = (self.server(Sqlite, name) for name in ("first", "taken", "second"))
        self.start(first)
        agent = self.agent()
        self.world.apply([deployment(n) for n in range(RECORDS)], "--wait")
        self.world.davit("storage", "backup", self.backends[Sqlite].file("taken"))
        self.copy(taken, second, "--finish")
        self.world.apply([deployment(2, replicas=3), deployment(98), deployment(99)], "--wait")
        self.world.delete("deployment", "d_3")
        self.world.wait_gone()
        before = self.written()
        self.assertEqual(first.stop(), 0)
        agent.process.send_signal(signal.SIGSTOP)
        self.start(second)
        self.world.apply([deployment(n) for n in range(50, 56)])
        self.world.delete("deployment", "d_4")
        agent.process.send_signal(signal.SIGCONT)
        wait_until(lambda: f"what the copy never had is orphaned; {self.issues('orphaned')}",
                   lambda: len(self.issues("orphaned")) == 2)
        self.assertEqual({i["name"] for i in self.issues("orphaned")}, {"app-98", "app-99"})
        kept = {f"d_{n}" for n in [*range(RECORDS), *range(50, 56)] if n != 4}
        self.assertEqual(set(self.world.objects()), kept)
        wait_until(lambda: f"all is as the copy has it: {json.dumps(self.world.objects()['d_2'])}",
                   lambda: all(is_exactly(o, 1) for o in self.world.objects().values()))
        self.world.wait_gone()
        self.assertEqual(self.written()["deletes"] - before["deletes"], 1, "d_4")
        self.assertIn("where its incarnation ends", agent.text())
        self.check_clean_end(agent, second)


def is_exactly(o, replicas):
    """Observed at this very version, with so many pods."""
    seen = o.get("observed", {})
    return (seen.get("observed_version"), int(seen.get("desired", 0)), int(seen.get("ready", 0))) == (
        o["version"], replicas, replicas)


class Kills(Stores):
    def test_a_full_disk_is_told_and_the_copy_goes_on(self):
        source, target = self.server(Sqlite, "source"), self.server(Sqlite, "target")
        self.start(source)
        self.world.apply([deployment(n) for n in range(500)])
        self.assertEqual(source.stop(), 0)
        # A limit on the size of each file stands in for the disk. Python ignores its signal, and so does the command.
        full = subprocess.run([DAVIT, "storage", "copy", *self.files(source, target), "--finish"], text=True,
                              capture_output=True, timeout=60, check=False, restore_signals=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)))
        self.assertEqual(full.returncode, 1, full.stderr)
        self.assertRegex(full.stderr, "the target: .*no space is left on its disk: make room; nothing was written")
        self.assertTrue(self.refuses(target))
        said = json.loads(self.copy(source, target, "--finish", "-o", "json")[1])
        self.assertEqual((said["records"], said["copy_sha256"]), (500, said["source_sha256"]))
        self.start(target)
        self.assertEqual(len(self.world.objects()), 500)
        self.check_clean_end(target)

    def test_a_copy_that_is_killed_anywhere_is_refused_and_goes_on(self):
        seed = int(os.environ.get("DAVIT_SEED", random.randrange(1 << 30)))
        print(f"DAVIT_SEED={seed}")
        chance = random.Random(seed)
        for here, there in PAIRS:
            with self.subTest(f"{here.__name__} to {there.__name__}"):
                self.kill(chance, here, there)

    def kill(self, chance, here, there):
        source = self.server(here, f"source-{here.__name__}-{there.__name__}")
        self.start(source)
        for n in range(0, 3000, 500):
            self.world.apply([deployment(k) for k in range(n, n + 500)])
        self.world.delete("deployment", "d_7")
        self.assertEqual(source.stop(), 0)
        whole = self.server(there, f"whole-{here.__name__}-{there.__name__}")
        began = time.monotonic()
        expected = json.loads(self.copy(source, whole, "--finish", "-o", "json")[1])
        takes = time.monotonic() - began
        complete = 0
        target = self.server(there, f"target0-{here.__name__}-{there.__name__}")
        for round_ in range(KILLS):
            finish = ["--finish"] if chance.random() < 0.6 else []
            process = Process(f"copy-{round_}", [DAVIT, "storage", "copy", *self.files(source, target), *finish],
                              self.world.folder).start()
            time.sleep(chance.uniform(0, 1.1 * takes))
            process.kill()
            again = self.copy(source, target, "--finish", "-o", "json", check=False) if chance.random() < 0.2 else None
            if again is None:
                continue
            code, out, why = again
            if code == 4:  # the one that was killed had completed it
                self.assertIn("is not empty", why)
            else:
                self.assertEqual(code, 0, why)
                self.assertEqual(json.loads(out)["copy_sha256"], expected["copy_sha256"])
            complete += 1
            target = self.server(there, f"target{complete}-{here.__name__}-{there.__name__}")
        # The last one has only been killed.
        code, out, why = self.copy(source, target, "-o", "json", check=False)
        if code == 0:
            self.assertTrue(self.refuses(target))
            code, out, why = self.copy(source, target, "--finish", "-o", "json", check=False)
            self.assertEqual(code, 0, why)
            self.assertEqual(json.loads(out)["copy_sha256"], expected["copy_sha256"])
        else:
            self.assertIn("is not empty", why)
        self.start(target)
        objects = self.world.objects()
        self.assertEqual(set(objects), {f"d_{n}" for n in range(3000) if n != 7})
        self.assertEqual({o["region"] for o in objects.values()}, {REGION})
        self.check_clean_end(target)


if __name__ == "__main__":
    unittest.main(verbosity=2)
