"""An API server that refuses, stalls, cuts and forgets: afterwards the cluster equals the desired state exactly.

The faults come from a proxy between the agent and a real API server; the tests and the judge go around it.
DAVIT_SEED repeats a plan. DAVIT_LONG=1: all faults of the table, each for several rounds; otherwise some, drawn by the seed.
"""

import itertools
import json
import os
import random
import threading
import time
import unittest

import expected
import parts
from api_proxy import ApiProxy, Cut, Lines, Refuse, Slow
from converge import Rounds
from parts import deployment, sentinel, wait_until

SIZES = {"deployment": 8, "sentinel": 3, "cilium_network_policy": 3}
EAGERNESS = 3.0
SHORT = 6  # faults of the table, drawn by the seed, when it is not long
LONG = os.environ.get("DAVIT_LONG") == "1"
# What was parked is tried again after a second, and a watch that was refused comes back within one.
QUICK = """
[plugin.applier]
resync_interval_ms = 1000
parked_retry_ms = 1000
retry_most_ms = 2000
"""


class Sometimes:
    """A rule that holds for a share of the calls that `which` chooses; counts how often."""

    def __init__(self, share, fault, which=lambda call: True, seed=0):
        self.share, self.fault, self.which = share, fault, which
        self.dice, self.lock, self.hits = random.Random(seed), threading.Lock(), 0

    def __call__(self, call):
        with self.lock:
            if not self.which(call) or self.dice.random() >= self.share:
                return None
            self.hits += 1
        return self.fault() if callable(self.fault) else self.fault


def is_mutation(call):
    return call.mutation


def is_watch(call):
    return call.watch


def expired():
    """A watch that shows a few events and then that its position is too old."""
    left = itertools.count(3, -1)
    error = json.dumps({"type": "ERROR", "object": json.loads(Refuse(410).body)}).encode() + b"\n"

    def each(line):
        count = next(left)
        return line if count > 0 else error if count == 0 else None
    return Lines(each)


def without_bookmarks():
    """A watch whose bookmarks are lost, but for the one that ends its first picture; it ends after a while."""
    left = itertools.count(12, -1)

    def each(line):
        if b'"BOOKMARK"' in line and b"initial-events-end" not in line:
            return b""
        return line if next(left) > 0 else None
    return Lines(each)


def before_the_first_bookmark():
    """A watch that is cut when its first picture would be complete."""
    return Lines(lambda line: None if b"initial-events-end" in line else line)


TROUBLE = {
    "429": lambda: Sometimes(0.4, Refuse(429, retry_after=1), is_mutation),
    "500": lambda: Sometimes(0.4, Refuse(500)),
    "503": lambda: Sometimes(0.4, Refuse(503, retry_after=1), is_watch),
    "409": lambda: Sometimes(0.4, Refuse(409), is_mutation),
    "410": lambda: Sometimes(0.4, Refuse(410)),
    "403": lambda: Sometimes(0.3, Refuse(403)),
    "slow": lambda: Sometimes(0.3, Slow(1.5)),
    "no answer": lambda: Sometimes(0.3, Cut(), is_mutation),
    "done, but no answer": lambda: Sometimes(0.3, Cut(late=True), is_mutation),
    "watches expire": lambda: Sometimes(0.7, expired, is_watch),
    "bookmarks lost": lambda: Sometimes(0.9, without_bookmarks, is_watch),
    # Last, and in the long form only: with many objects it takes minutes until all watches have got through.
    "first pictures cut": lambda: Sometimes(0.6, before_the_first_bookmark, is_watch),
}


class OnKubernetes(parts.KubernetesCase):
    def setUp(self):
        super().setUp()
        self.proxy = ApiProxy(self.kubernetes, self.world.folder)
        self.seed = int(os.environ.get("DAVIT_SEED", random.SystemRandom().randrange(1_000_000)))

    def tearDown(self):
        self.proxy.down()
        super().tearDown()

    def rounds(self, sizes=None, extra=QUICK):
        print(f"seed {self.seed}", flush=True)
        return Rounds(parts, expected, self.world, self.kubernetes, self.seed, sizes or SIZES,
                      self.proxy.kubeconfig, extra, EAGERNESS)

    def end(self, rounds):
        self.proxy.reset()
        rounds.end()
        self.check_clean_end(rounds.agent, rounds.server)

    def test_rounds_while_it_fails(self):
        rounds = self.rounds()
        self.proxy.rule = Sometimes(0.3, Refuse(500))
        rounds.from_nothing()
        chosen = list(TROUBLE) if LONG else random.Random(self.seed).sample(list(TROUBLE)[:-1], SHORT)
        for name, rule in ((name, TROUBLE[name]) for name in chosen):
            with self.subTest(name):
                self.proxy.rule = fault = rule()
                if fault.which is is_watch:
                    self.proxy.cut_watches()  # those that are there have met no fault
                for number in range(3 if LONG else 1):
                    rounds.round(f"{name} {number}")
                self.assertGreater(fault.hits, 0)
        self.assertTrue(rounds.agent.alive(), rounds.agent.tail())
        self.end(rounds)

    def test_watches_cut_all_the_time(self):
        rounds = self.rounds()
        rounds.from_nothing()
        over = threading.Event()

        def cutter():
            while not over.wait(0.2):
                self.proxy.cut_watches()
        thread = threading.Thread(target=cutter)
        thread.start()
        try:
            rounds.round("watches cut")
        finally:
            over.set()
            thread.join()
        self.end(rounds)

    def test_what_happens_while_it_is_away_is_made_good(self):
        rounds = self.rounds(extra="")  # at its return nothing waits for a resync
        rounds.from_nothing()
        self.proxy.down()
        back = threading.Timer(8 if not LONG else 120, self.proxy.up)
        back.start()
        try:
            rounds.round("away")
        finally:
            back.join()
        self.end(rounds)

    def test_forbidden_is_parked_said_and_tried_again(self):
        rounds = self.rounds()
        rounds.from_nothing()
        self.proxy.rule = Sometimes(1, Refuse(403, "not for you"), lambda c: c.mutation and "/barred/" in c.path)
        rounds.wishes.documents.update({("deployment", d["id"]): d for d in (
            deployment(901, "barred"), deployment(902, "open"))})
        self.world.apply(rounds.documents())
        self.world.wait_running(["d_902"])

        def parked():
            return {i["id"]: i["reason"] for a in self.world.status()["agents"] for i in a.get("issues", [])
                    if i["condition"] == "parked"}
        wait_until(lambda: f"d_901 is parked: {parked()}", lambda: "d_901" in parked())
        self.assertIn("not for you", parked()["d_901"])
        self.proxy.reset()
        self.end_equal(rounds, "allowed")
        self.assertNotIn("d_901", parked())
        self.end(rounds)

    def end_equal(self, rounds, what):
        rounds.wait_equal(what, time.monotonic())

    def test_half_applied_sentinels(self):
        """The agent dies when a part is there; then the record is finished, changed or deleted."""
        rounds = self.rounds(sizes={"deployment": 1, "sentinel": 0, "cilium_network_policy": 0})
        rounds.from_nothing()
        for number, resource in enumerate(("services", "poddisruptionbudgets", "ciliumnetworkpolicies"), 1):
            halves = {f"s_{n}": sentinel(n) for n in range(number * 10, number * 10 + 3)}
            self.proxy.rule = refusing = Sometimes(1, Refuse(500), lambda c, r=resource: c.mutation and r in c.path)
            rounds.wishes.documents.update({("sentinel", i): d for i, d in halves.items()})
            self.world.apply(halves.values())
            wait_until("all three are stuck", lambda r=refusing: r.hits >= 3)
            faults = rounds.reader.faults(rounds.documents())
            self.assertTrue(any(resource in f and "missing" in f for f in faults), faults)
            rounds.agent.kill()
            _, changed, deleted = halves.values()
            changed["spec"].update(replicas=2, image="registry.example/sentinel:2")
            self.world.apply([changed])
            self.world.delete("sentinel", deleted["id"])
            del rounds.wishes.documents["sentinel", deleted["id"]]
            self.proxy.reset()
            rounds.restart()
            self.end_equal(rounds, f"half applied up to {resource}")
        self.end(rounds)

    def test_a_record_nobody_can_read_leaves_its_objects_and_others_alone(self):
        rounds = self.rounds(sizes={"deployment": 4, "sentinel": 0, "cilium_network_policy": 2})
        rounds.from_nothing()
        self.assertEqual(rounds.server.stop(), 0)
        store = self.world.store
        changed = store.ask(f"UPDATE records SET payload = {store.bytes('ffffffff')} WHERE id = 'd_1' RETURNING id")
        self.assertEqual(changed, [("d_1",)])
        rounds.server.start()
        self.world.wait_ready(rounds.server)
        rounds.agent.kill()
        rounds.restart()
        rounds.wishes.documents["deployment", "d_2"]["spec"]["image"] = "registry.example/app:2"
        self.world.apply([rounds.wishes.documents["deployment", "d_2"]])
        wait_until(lambda: rounds.reader.faults(rounds.documents()), lambda: not rounds.reader.faults(
            rounds.documents()), 60)

        def said():
            return [i for a in self.world.status()["agents"] for i in a.get("issues", []) if i["id"] == "d_1"]
        wait_until(lambda: f"d_1 is said to be unreadable; {rounds.agent.tail()}", said)
        self.world.apply([rounds.wishes.documents["deployment", "d_1"]])
        wait_until(lambda: f"no issue is left: {said()}", lambda: not said())
        self.end(rounds)


if __name__ == "__main__":
    unittest.main(verbosity=2)
