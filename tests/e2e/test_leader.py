"""Two agents of one region on a real API server: one works, one stands by and takes over."""

import time
import unittest

import expected
from api_proxy import ApiProxy, Cut, Slow
from parts import KubernetesCase, deployment, wait_until

COUNT = 50
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/davit-eu-test-1"
LEASE_SECONDS = 8  # an API server that shares a busy machine may take three of them for an answer
LONG_LEASE_SECONDS = 60
EXTRA = """
[plugin.leader]
module = "leader"
cluster = "cluster"
server = "control"
identity = "NAME"
lease_duration_ms = LEASE
renew_deadline_ms = RENEW
retry_ms = RETRY
[plugin.deployment]
min_ready_s = 0
"""


def applies(proxy):
    """What has reached the API server through it."""
    return [c for c in list(proxy.calls) if c.method == "PATCH" and "/replicasets/" in c.path and c.status in (200, 201)]


class OnKubernetes(KubernetesCase):
    def setUp(self):
        super().setUp()
        self.kubernetes.request("DELETE", LEASE)
        self.server = self.world.server().start()
        self.world.wait_ready(self.server)
        self.make_agents(LEASE_SECONDS * 1000, 6000, 500)

    def make_agents(self, lease, renew, retry):
        self.extra = EXTRA.replace("LEASE", str(lease)).replace("RENEW", str(renew)).replace("RETRY", str(retry))
        self.agents = {name: self.world.agent(name, kubeconfig=self.kubernetes.kubeconfig,
                                              extra=self.extra.replace("NAME", name)) for name in ("first", "second")}

    def lease(self):
        status, lease = self.kubernetes.request("GET", LEASE)
        return lease if status == 200 else {"metadata": {}, "spec": {}}

    def holder(self):
        """The agent that the Lease names; the rest of the name is its process's own."""
        return self.lease()["spec"].get("holderIdentity", "").split("_")[0]

    def epoch(self):
        return int(self.lease()["metadata"]["annotations"]["davit.dev/epoch"])

    def wait_holder(self, name, seconds=20.0):
        wait_until(lambda: f"{name} leads; " + "\n".join(a.tail() for a in self.agents.values()),
                   lambda: self.holder() == name, seconds)

    def start_both(self):
        first, second = self.agents.values()
        first.start()
        self.wait_holder("first")
        second.start()
        wait_until(lambda: second.tail(), lambda: "standing by lease=" in second.text())
        return first, second

    def works(self, agent):
        return "stream connected" in agent.text()

    def end(self, namespace, *processes):
        for number in range(COUNT):
            self.world.delete("deployment", f"d_{number}")
        wait_until("nothing is left", lambda: not self.kubernetes.replica_sets([namespace]), 60)
        self.check_clean_end(*processes)

    def test_the_other_takes_over_from_one_that_is_killed_at_work(self):
        namespace = "leader-killed"
        first, second = self.start_both()
        wait_until(lambda: first.tail(), lambda: self.works(first))
        epoch = self.epoch()
        self.world.apply([deployment(n, namespace) for n in range(COUNT)])
        wait_until(lambda: first.tail(), lambda: self.kubernetes.replica_sets([namespace]))
        first.kill()
        killed_at = time.monotonic()
        self.assertFalse(self.works(second), second.tail())
        self.wait_holder("second")
        self.assertGreater(time.monotonic() - killed_at, LEASE_SECONDS / 4)  # what is left of the lease
        self.assertGreater(self.epoch(), epoch)
        self.world.wait_running([f"d_{n}" for n in range(COUNT)])
        # The killed one comes back and stands by.
        first.start()
        wait_until(lambda: first.tail(), lambda: first.text().count("standing by lease=") == 1)
        self.world.apply([deployment(n, namespace, replicas=2) for n in range(COUNT)])
        self.world.wait_running([f"d_{n}" for n in range(COUNT)])
        self.end(namespace, first, second, self.server)

    def test_a_clean_stop_hands_over_at_once(self):
        namespace = "leader-stopped"
        self.make_agents(LONG_LEASE_SECONDS * 1000, 45_000, 5000)
        first, second = self.start_both()
        self.world.apply([deployment(n, namespace) for n in range(COUNT)])
        self.world.wait_running([f"d_{n}" for n in range(COUNT)])
        self.check_clean_end(first)
        released_at = time.monotonic()
        self.assertIn("the Lease is given back", first.text())
        self.wait_holder("second", LONG_LEASE_SECONDS)
        self.assertLess(time.monotonic() - released_at, LONG_LEASE_SECONDS / 2)  # a look, not a lease
        self.world.apply([deployment(n, namespace, replicas=2) for n in range(COUNT)])
        self.world.wait_running([f"d_{n}" for n in range(COUNT)])
        self.end(namespace, second, self.server)

    def test_a_lease_that_is_lost_in_the_middle_of_work_leaves_the_rest_to_the_other(self):
        namespace = "leader-middle"
        proxy = ApiProxy(self.kubernetes, self.world.folder)
        self.addCleanup(proxy.down)
        self.agents["first"] = self.world.agent(
            "first", kubeconfig=proxy.kubeconfig,
            extra=self.extra.replace("NAME", "first") + "[plugin.applier]\nconcurrency_max = 2\n")
        first, second = self.start_both()

        def rule(call):
            if "/leases/" in call.path:
                return Cut() if len(applies(proxy)) > 5 else None
            return Slow(0.5) if call.mutation else None
        proxy.rule = rule
        self.world.apply([deployment(n, namespace) for n in range(COUNT)])
        wait_until(lambda: first.tail(), lambda: not first.alive(), 30)
        self.assertEqual(first.process.returncode, 1)
        self.assertIn("is lost", first.text())
        done = len(applies(proxy))
        self.assertLess(done, COUNT, "nothing was left to do")
        self.wait_holder("second", 30)
        wanted = [deployment(n, namespace, replicas=n % 3) for n in range(COUNT)]
        self.world.apply(wanted)
        reader = expected.Reader(self.kubernetes)
        wait_until(lambda: f"equal: {reader.faults(wanted)[:5]}", lambda: not reader.faults(wanted), 60)
        self.world.wait_running([f"d_{n}" for n in range(COUNT)])
        self.end(namespace, second, self.server)

    def test_one_whose_lease_is_taken_ends_and_says_why(self):
        first, second = self.start_both()
        status, answer = self.kubernetes.request("PATCH", LEASE, {"spec": {"holderIdentity": "somebody"}},
                                                 "application/merge-patch+json")
        self.assertEqual(status, 200, answer)
        wait_until(lambda: first.tail(), lambda: not first.alive(), 10)
        self.assertEqual(first.process.returncode, 1)
        self.assertIn('ends the process reason="Lease kube-system/davit-eu-test-1 is lost: \\"somebody\\" holds it"',
                      first.text())
        self.wait_holder("second", 30)
        self.check_clean_end(second, self.server)


if __name__ == "__main__":
    unittest.main(verbosity=2)
