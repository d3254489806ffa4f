"""The agent killed after every single call of a recorded run: the end state is always the same.

A run takes records of every kind from nothing to one state and on to another. It is first recorded undisturbed; then it
is done again with a kill -9 right after the k-th call was answered, or just before its answer went out, for every k
(DAVIT_LONG=1) or some of them, spread evenly. After a kill the agent starts again and meets no more faults.
"""

import os
import threading
import time
import unittest

import expected
import parts
from api_proxy import ApiProxy
from parts import deployment, policy, sentinel

LONG = os.environ.get("DAVIT_LONG") == "1"
RUNS = 3  # of each variant, in the short form


class OnKubernetes(parts.KubernetesCase):
    def setUp(self):
        super().setUp()
        self.proxy = ApiProxy(self.kubernetes, self.world.folder)
        self.server = self.world.server().start()
        self.agent = self.world.agent(kubeconfig=self.proxy.kubeconfig, extra=parts.AT_ONCE)
        self.reader = expected.Reader(self.kubernetes)
        self.world.wait_ready(self.server)
        self.run_number = 0

    def tearDown(self):
        self.proxy.down()
        super().tearDown()

    def states(self):
        """Two states of records of their own: made; then changed, taken over, archived and made."""
        base = self.run_number * 10
        where = f"kill-{self.run_number % 5}"
        scaled = deployment(base + 2, where)
        del scaled["spec"]["replicas"]
        scaled["spec"]["autoscaling"] = {"min_replicas": 1, "max_replicas": 2}
        first = [deployment(base + 1, where, replicas=2), scaled, deployment(base + 3, where), sentinel(base + 1),
                 sentinel(base + 2), policy(base + 1, where), policy(base + 2, where)]
        successor = deployment(base + 4, where)
        successor["spec"]["k8s_name"] = first[2]["spec"]["k8s_name"]
        second = [deployment(base + 1, where, replicas=2, image="registry.example/app:2"), successor,
                  sentinel(base + 1, replicas=2), policy(base + 2, where), policy(base + 3, where)]
        second[3]["spec"]["policy"]["spec"]["endpointSelector"] = {"matchLabels": {"app": "other"}}
        return first, second

    def wait_equal(self, documents, what):
        """The agent that was killed is started again whenever it happened."""
        faults = []

        def equal():
            if not self.agent.alive() and self.killed.is_set():
                self.agent.start()
                self.killed.clear()
            faults[:] = self.reader.faults(documents)
            return not faults
        parts.wait_until(lambda: f"{what}: {faults[:6]}\n{self.agent.tail()}", equal, 60, pause=0.2)

    def run_once(self, what, kill_at=None, before_the_answer=False):
        """Returns how many calls it took."""
        self.run_number += 1
        first, second = self.states()
        self.killed = threading.Event()

        def hook(call):
            if call.number == kill_at:
                self.agent.kill()
                self.killed.set()
        self.proxy.reset()
        self.proxy.begin_counting()
        if before_the_answer:
            self.proxy.answered = hook
        else:
            self.proxy.sent = hook
        self.agent.start()
        self.world.apply(first)
        self.wait_equal(first, f"{what}, first state")
        gone = {(d["kind"], d["id"]) for d in first} - {(d["kind"], d["id"]) for d in second}
        for kind, name in sorted(gone):
            self.world.delete(kind, name)
        self.world.apply(second)
        self.wait_equal(second, f"{what}, second state")
        self.world.wait_running([d["id"] for d in second if d["kind"] == "deployment"])
        calls = len(self.proxy.calls)
        reached = kill_at is None or any(c.number == kill_at for c in self.proxy.calls)
        self.proxy.reset()
        self.world.apply([{**d, "state": "archived"} for d in second])
        self.wait_equal([], f"{what}, nothing")
        self.agent.kill()
        return calls, reached

    def test_same_end_state_after_a_kill_at_every_call(self):
        recorded, _ = self.run_once("recorded")
        self.assertGreater(recorded, 30)
        step = 1 if LONG else -(-recorded // RUNS)
        missed = 0
        began = time.monotonic()
        for before in (False, True):
            # The two variants fall on different calls in the short form.
            for k in range(1 + (step // 2 if before else 0), recorded + 1, step):
                what = f"killed {'before' if before else 'after'} the answer to call {k} of {recorded}"
                _, reached = self.run_once(what, k, before)
                missed += not reached
        print(f"{self.run_number - 1} kills in {time.monotonic() - began:.0f} s, {missed} runs ended earlier")
        # Runs differ by a few calls: those at the end may not be reached.
        self.assertLess(missed, self.run_number / 4)
        self.assertEqual(self.server.stop(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
