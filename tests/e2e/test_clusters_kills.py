"""Clusters while the controller, the actuator's program and the API server are killed between any two of their steps:
there is one of each cluster, never two, and nothing is left of one that was deleted.

DAVIT_SEED repeats the plan, not the timing. DAVIT_ROUNDS says how many rounds; DAVIT_LONG=1: 200.
"""

import json
import os
import random
import signal
import threading
import time
import unittest
from pathlib import Path

from api_proxy import ApiProxy
from clusters_parts import CLUSTERS, ClustersCase
from parts import REPOSITORY, threads_of, wait_until

ROUNDS = int(os.environ.get("DAVIT_ROUNDS", "200" if os.environ.get("DAVIT_LONG") == "1" else "12"))
PROGRAM = REPOSITORY / "sdk/examples/actuator_python/actuator.py"
NAMES = ("a", "b", "c")
LATER = "\nrequest_timeout_ms = 3000\n"


class OnKubernetes(ClustersCase):
    def test_one_cluster_never_two_and_nothing_is_left(self):
        seed = int(os.environ.get("DAVIT_SEED", random.SystemRandom().randrange(1_000_000)))
        print(f"DAVIT_SEED={seed}", flush=True)
        self.dice, self.kills = random.Random(seed), {"controller": 0, "program": 0, "API server": 0}
        self.striking = threading.Lock()
        folder = self.world.folder / "proxy"
        folder.mkdir()
        self.proxy = ApiProxy(self.management.kubernetes, folder)
        self.addCleanup(self.proxy.down)
        self.process = self.begin(LATER, actuator=PROGRAM, kubeconfig=self.proxy.kubeconfig)
        for _ in range(ROUNDS):
            self.round()
        # Perhaps it has only just been started again.
        wait_until(lambda: f"it is ready: {self.process.tail()}", self.process.is_ready, 60)
        self.assertEqual(self.process.stop(), 0)
        print(f"rounds {ROUNDS}, kills {self.kills}", flush=True)
        self.assertGreater(min(self.kills.values()), 0)

    def round(self):
        uids = {}
        for name in NAMES:
            value = {"apiVersion": "folders.example/v1", "nodes": self.dice.randrange(1, 5),
                     "bootSeconds": self.dice.choice((0, 1))}
            uids[name] = self.again(lambda name=name, value=value: self.make(name, value), name)["metadata"]["uid"]
        self.trouble(lambda: all(self.is_ready(name) for name in NAMES))
        self.assertEqual({path.name: json.loads((path / "owner.json").read_text(encoding="utf-8"))["uid"]
                          for path in self.built.iterdir()},
                         {f"default_{name}": uid for name, uid in uids.items()})
        for name in NAMES:
            self.again(lambda name=name: self.remove(name), name)
        self.trouble(lambda: all(self.get(name) is None for name in NAMES))
        self.assertEqual(list(self.built.iterdir()), [])

    def again(self, does, name):
        """People try again when the API server does not answer; what a lost answer has done counts."""
        while True:
            try:
                return does()
            except (OSError, AssertionError):
                time.sleep(0.1)
                try:
                    found = self.get(name)
                except (OSError, AssertionError):
                    continue
                if found:
                    return found

    def is_ready(self, name):
        return (self.condition(name) or "").startswith("True")

    def trouble(self, done):
        """Kills something up to three times, then all is mended and becomes as it should."""
        for _ in range(self.dice.randrange(1, 4)):
            victim = self.dice.choice(("controller", "controller", "program", "program", "API server"))
            getattr(self, "kill_" + victim.replace(" ", "_").lower())()
            time.sleep(self.dice.uniform(0, 0.4))
            if not self.process.alive():
                self.bring_back()
        self.bring_back()

        def settled():
            try:
                return done()
            except (OSError, AssertionError):
                return False
        wait_until(lambda: f"all is as it should be: {self.management.items(CLUSTERS)}\n{self.process.tail()}\n"
                           f"{sorted(map(str, self.built.glob('**/*')))}\n{self.process.threads()}\n"
                           f"{[threads_of(program) for program in self.programs()]}", settled, 60, 0.05)

    def bring_back(self):
        """Nothing strikes any more, and the controller runs."""
        with self.striking:
            self.proxy.reset()
            self.strikes_left = 0
        if not self.process.alive():
            self.assertEqual(self.process.process.returncode, -signal.SIGKILL, self.process.tail())
            self.kills["controller"] += 1
            self.process.start()

    def kill_controller(self):
        """Just before the API server hears a write, or when its answer is there and has not gone out."""
        self.strikes_left = self.dice.randrange(1, 6)

        def strike(call):
            if not call.mutation:
                return
            with self.striking:  # a call may be here when nothing is to strike any more
                self.strikes_left -= 1
                if self.strikes_left == 0:
                    self.process.kill()
        if self.dice.random() < 0.5:
            self.proxy.rule = strike
        else:
            self.proxy.answered = strike

    def kill_program(self):
        """A program that runs, if there is one soon."""
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            for program in self.programs():
                time.sleep(self.dice.uniform(0, 0.05))
                try:
                    os.kill(program, 9)
                except ProcessLookupError:
                    continue
                self.kills["program"] += 1
                return
            time.sleep(0.001)

    def programs(self):
        if not self.process.alive():
            return []
        children = []
        try:  # a strike may end it at any time
            for task in Path(f"/proc/{self.process.process.pid}/task").iterdir():
                children += (task / "children").read_text(encoding="utf-8").split()
        except OSError:
            pass
        return [int(child) for child in children]

    def kill_api_server(self):
        self.kills["API server"] += 1
        self.management.kubernetes.rig_command("kill-apiserver")
        self.management.kubernetes.rig_command("start-apiserver")


if __name__ == "__main__":
    unittest.main(verbosity=2)
