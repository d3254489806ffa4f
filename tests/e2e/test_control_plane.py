"""A control plane that is away, forgets, or means something else: the cluster keeps running and ends up as it is told.

On a real API server. DAVIT_LONG=1: the control plane is away for ten minutes, with the shipped settings.
"""

import os
import time
import unittest

import expected
import parts
from parts import REGION, REPOSITORY, deployment, is_running, metrics, policy, sentinel, wait_until
from relay import Relay

LONG = os.environ.get("DAVIT_LONG") == "1"
OUTAGE_SECONDS = 600 if LONG else 8
AGENTS = 8  # that come back together
# The same sequence as with the shipped settings, in less time.
SHORT_BREAKER = "" if LONG else """
[plugin.reporter]
breaker_failures_max = 3
breaker_open_ms = 2000
retry_first_ms = 50
retry_most_ms = 200
progress_interval_ms = 5000
"""
CLOSED, OPEN = 0, 2
RETRY_PARKED = "[plugin.applier]\nresync_interval_ms = 500\nparked_retry_ms = 500\n"


class OnMemory(parts.Case):
    def test_agents_come_back_one_by_one(self):
        """Each reconnects by its own clock, with few calls, however long they have waited together."""
        world = self.world
        regions = [f"herd-{n}" for n in range(AGENTS)]
        server = world.server(regions=regions).start()
        relay = Relay(world.port)
        world.wait_ready(server)
        world.apply([deployment(n, region=region) for region in regions for n in range(10)])
        agents = [world.agent(f"agent-{region}", region=region, port=relay.port, extra=SHORT_BREAKER).start()
                  for region in regions]

        def at_rest():
            objects = [o for o in world.status().get("objects", []) if o["kind"] == "deployment"]
            return len(objects) == 10 * AGENTS and all(is_running(o) for o in objects)
        wait_until("all run", at_rest, 60)
        server.kill()
        relay.cut()
        relay.forget()
        away = time.monotonic()
        wait_until("each has tried three times", lambda: len(relay.connections) >= 3 * AGENTS, 60)
        # Not more often than each stream's reconnect_min_ms allows, all streams on one connection.
        outage = time.monotonic() - away
        self.assertLess(len(relay.connections), AGENTS * (2 * outage + 2))
        # In step, three attempts of all would fall into three moments, or six where each lies across two tenths.
        self.assertGreater(len({int(at * 10) for at in relay.connections}), 6)
        server.start()
        world.wait_ready(server)
        relay.forget()

        def back():
            return len(world.status()["agents"]) == AGENTS and all(
                a.text().count("stream connected again") >= 3 for a in agents)
        wait_until(lambda: "all are back; " + agents[0].tail(), back, 60)
        calls = len(relay.calls)
        self.assertLessEqual(len(relay.connections), 2 * AGENTS)
        # Of each: three streams, a probe, what it says of itself, and no report for each record.
        self.assertLess(calls, 12 * AGENTS)
        wait_until("all run", at_rest, 60)
        relay.close()
        self.check_clean_end(*agents, server)


class OnKubernetes(parts.KubernetesCase):
    def setUp(self):
        super().setUp()
        self.reader = expected.Reader(self.kubernetes)
        self.documents = {}

    def want(self, *documents):
        self.documents.update({(d["kind"], d["id"]): d for d in documents})
        self.world.apply(documents)

    def unwant(self, kind, name):
        del self.documents[kind, name]
        self.world.delete(kind, name)

    def differences(self):
        return self.reader.faults(list(self.documents.values()))

    def wait_equal(self, seconds=60):
        wait_until(lambda: f"equal: {self.differences()[:6]}\n" + "\n".join(p.tail() for p in self.world.parts),
                   lambda: not self.differences(), seconds, pause=0.2)

    def wait_running(self, seconds=60):
        for kind in {k for k, _ in self.documents}:
            self.world.wait_running([i for k, i in self.documents if k == kind], kind, seconds)

    def start(self, namespace, count=6, port=None, extra="", regions=(REGION,)):
        self.server = self.world.server(regions=regions).start()
        self.world.wait_ready(self.server)
        self.agent = self.world.agent(kubeconfig=self.kubernetes.kubeconfig, port=port, extra=parts.AT_ONCE + extra)
        self.metrics = self.world.with_metrics(self.agent)
        self.want(*(deployment(n, namespace) for n in range(count)), sentinel(1), policy(1, namespace),
                  policy(2, namespace))
        self.agent.start()
        self.wait_equal()
        self.wait_running()

    def end(self):
        self.world.apply([{**d, "state": "archived"} for d in self.documents.values()])
        self.documents.clear()
        self.wait_equal()
        self.check_clean_end(self.agent, self.server)

    def request(self, method, resource, namespace, name, body=None):
        status, answer = self.kubernetes.request(method, expected.path_of(resource, namespace, name), body,
                                                 "application/merge-patch+json")
        self.assertLess(status, 300, answer)
        return answer

    def issues(self, condition):
        return {i["name"] for a in self.world.status()["agents"] for i in a.get("issues", [])
                if i["condition"] == condition}

    def breaker(self):
        return metrics(self.metrics)["davit_reporter_breaker"]

    def test_away_for_long(self):
        namespace = "away"
        self.relay = Relay(self.world.port)
        self.start(namespace, 20, self.relay.port, SHORT_BREAKER)
        self.assertEqual(self.breaker(), CLOSED)
        self.server.kill()
        self.relay.forget()
        away = time.monotonic()
        # Something to report, which opens the breaker.
        for n in range(20):
            self.request("PATCH", "replicasets", namespace, f"app-{n}", {"spec": {"replicas": 3}})
        wait_until(lambda: f"the breaker opens; {self.agent.tail()}", lambda: self.breaker() == OPEN, 120)
        # Local state goes on: what is spoiled is repaired, what is deleted comes back.
        self.wait_equal()
        turns = 0
        while turns < 2 or time.monotonic() - away < OUTAGE_SECONDS:
            self.request("DELETE", "replicasets", namespace, f"app-{turns % 20}")
            self.request("PATCH", "deployments", "sentinel", "edge-1", {"spec": {"replicas": 4}})
            self.wait_equal()
            turns += 1
        self.assertEqual(metrics(self.metrics)["davit_reporter_dropped_total"], 0)
        # At most one connection a second and not one for each thing that happened.
        self.assertLess(len(self.relay.connections), 2 * (time.monotonic() - away) + 4)
        self.server.start()
        self.world.wait_ready(self.server)
        # The server is changed before the agent is back, and must not be missed.
        changed = deployment(0, namespace, replicas=2)
        self.relay.forget()
        self.want(changed)
        self.unwant("deployment", "d_1")
        wait_until(lambda: f"the breaker closes; {self.agent.tail()}", lambda: self.breaker() == CLOSED, 120)
        self.wait_equal(120)
        self.wait_running(120)
        wait_until("nothing waits", lambda: metrics(self.metrics)["davit_reporter_waiting"] == 0)
        self.assertLessEqual(len(self.relay.connections), 3)
        # Three streams, a probe, reports in batches and progress: not one call for each of 24 records.
        self.assertLess(len(self.relay.calls), 20)
        self.end()
        self.relay.close()

    def test_streams_cut_in_the_middle_prune_nothing(self):
        """A snapshot whose end, its bookmark, is lost is no snapshot."""
        relay = Relay(self.world.port)
        self.start("cut", 30, relay.port, "[plugin.watcher]\nreconnect_min_ms = 50\nreconnect_max_ms = 100\n")
        uids = {k: o["metadata"]["uid"] for k, o in self.reader.live().items()}
        for size in (200, 1000, 3000):
            self.agent.kill()
            relay.bytes_left = size
            relay.forget()
            self.agent.start()
            wait_until(lambda: f"cut thrice; {self.agent.tail()}", lambda: len(relay.connections) >= 3)
        self.assertEqual({k: o["metadata"]["uid"] for k, o in self.reader.live().items()}, uids)
        self.unwant("deployment", "d_3")
        relay.bytes_left = None
        relay.cut()
        self.wait_equal()
        self.wait_running()
        self.end()
        relay.close()

    def forget_database(self):
        self.assertEqual(self.server.stop(), 0)
        self.world.store.empty()

    def test_an_emptied_database_deletes_nothing(self):
        self.start("emptied")
        names = {d["spec"]["k8s_name"] for d in self.documents.values()}
        uids = {k: o["metadata"]["uid"] for k, o in self.reader.live().items()}
        self.forget_database()
        self.server.start()
        self.world.wait_ready(self.server)
        wait_until(lambda: f"orphaned: {self.issues('orphaned')}; {self.agent.tail()}",
                   lambda: self.issues("orphaned") == names)
        # The same from an agent that has not seen the old store, when the new one's versions have passed the old ones'.
        self.agent.kill()
        passing = [policy(n, "emptied") for n in range(100, 150)]
        self.world.apply(passing)
        self.world.apply([{**d, "state": "archived"} for d in passing])
        self.agent.start()
        wait_until(lambda: f"orphaned: {self.issues('orphaned')}; {self.agent.tail()}",
                   lambda: self.issues("orphaned") == names)
        self.assertEqual(self.differences(), [])
        self.assertEqual({k: o["metadata"]["uid"] for k, o in self.reader.live().items()}, uids)
        # What is wanted again is taken up as it stands; the rest goes by a word.
        self.want(*self.documents.values())
        wait_until(lambda: f"no orphans: {self.issues('orphaned')}", lambda: not self.issues("orphaned"))
        self.wait_running()
        self.assertEqual({k: o["metadata"]["uid"] for k, o in self.reader.live().items()}, uids)
        self.end()

    def test_a_restored_database_deletes_nothing_that_it_does_not_know(self):
        namespace = "restored"
        self.start(namespace)
        self.assertEqual(self.server.stop(), 0)
        self.world.store.save()
        self.server.start()
        self.world.wait_ready(self.server)
        old = dict(self.documents)
        self.want(deployment(0, namespace, replicas=3), *(deployment(n, namespace) for n in range(50, 54)), sentinel(5),
                  policy(50, namespace))
        self.unwant("deployment", "d_1")
        self.wait_equal()
        self.assertEqual(self.server.stop(), 0)
        self.world.store.bring_back()
        self.server.start()
        newer = {k: d for k, d in self.documents.items() if k not in old}
        # What the older store names is as it says again, what it does not know stays.
        self.documents = {**newer, **old}
        self.world.wait_ready(self.server)
        self.wait_equal()
        wait_until(lambda: f"orphaned: {self.issues('orphaned')}; {self.agent.tail()}",
                   lambda: self.issues("orphaned") == {d["spec"]["k8s_name"] for d in newer.values()})
        self.want(*newer.values())
        wait_until(lambda: f"no orphans: {self.issues('orphaned')}", lambda: not self.issues("orphaned"))
        self.end()

    def test_a_renamed_region_takes_over_by_a_word_and_deletes_nothing(self):
        namespace, after = "renamed", "eu-test-2"
        self.start(namespace, regions=(REGION, after), extra=RETRY_PARKED)
        uids = {k: o["metadata"]["uid"] for k, o in self.reader.live().items()}
        self.assertEqual(self.agent.stop(), 0)
        renamed = [{**d, "region": after} for d in self.documents.values()]
        self.world.apply(renamed)
        before = self.agent
        self.agent = self.world.agent("renamed", kubeconfig=self.kubernetes.kubeconfig, region=after,
                                      extra=parts.AT_ONCE + RETRY_PARKED).start()
        names = {d["spec"]["k8s_name"] for d in renamed}
        wait_until(lambda: f"parked: {self.issues('parked')}; {self.agent.tail()}",
                   lambda: self.issues("parked") == names)
        self.assertEqual(self.differences(), [])
        # The word: whose they are is a label.
        for key in uids:
            if key[0] != "namespaces":
                self.request("PATCH", *key, {"metadata": {"labels": {"davit.dev/region": after}}})
        self.documents = {(d["kind"], d["id"]): d for d in renamed}
        self.wait_equal()
        wait_until(lambda: f"parked: {self.issues('parked')}", lambda: not self.issues("parked"))
        self.assertEqual({k: o["metadata"]["uid"] for k, o in self.reader.live().items()}, uids)
        # The old region's agent comes back by mistake: its records are parked, nothing changes hands.
        before.start()
        wait_until(lambda: f"parked: {self.issues('parked')}; {before.tail()}",
                   lambda: self.issues("parked") == names)
        self.assertEqual(self.differences(), [])
        self.check_clean_end(before)
        self.end()

    def without(self, name, kind):
        """The shipped file without the block of a kind."""
        text = (REPOSITORY / "etc" / name).read_text(encoding="utf-8")
        begin = text.index(f"[plugin.{kind}]")
        following = [i for i in (text.find("\n[plugin.", begin + 1), text.find("\n# ---", begin + 1),
                                 text.find("\n#[plugin", begin + 1)) if i > 0]
        return self.world.write(f"without-{kind}-{name}", text[:begin] + text[min(following):])

    def test_a_kind_switched_off_and_on(self):
        namespace = "switched"
        self.start(namespace)
        shipped = REPOSITORY / "etc/agent.toml"
        self.agent.stop()
        self.agent.argv[2] = str(self.without("agent.toml", "cilium_network_policy"))
        self.agent.start()
        before = dict(self.documents)
        edited = policy(1, namespace)
        edited["spec"]["policy"]["spec"]["endpointSelector"] = {"matchLabels": {"app": "other"}}
        self.want(edited, policy(3, namespace), deployment(0, namespace, replicas=2))
        self.unwant("cilium_network_policy", "net_2")
        now = self.documents
        # The other kinds go on, the objects of this one stay as they were.
        self.documents = {k: d for k, d in now.items() if k[0] != "cilium_network_policy"} | {
            k: d for k, d in before.items() if k[0] == "cilium_network_policy"}
        self.wait_equal()
        self.documents = now
        self.agent.stop()
        self.agent.argv[2] = str(shipped)
        self.agent.start()
        self.wait_equal()
        self.wait_running()
        self.off_and_on_at_the_server(namespace)
        self.end()

    def off_and_on_at_the_server(self, namespace):
        """An agent that is not told about a kind any more leaves it alone."""
        self.assertEqual(self.server.stop(), 0)
        shipped = self.server.argv[2]
        self.server.argv[2] = str(self.without("server.toml", "cilium_network_policy"))
        self.server.start()
        self.world.wait_ready(self.server)
        self.agent.kill()
        self.agent.start()
        self.want(deployment(0, namespace, replicas=1))
        self.wait_equal()
        self.assertEqual(self.server.stop(), 0)
        self.server.argv[2] = shipped
        self.server.start()
        self.world.wait_ready(self.server)
        self.unwant("cilium_network_policy", "net_3")
        self.wait_equal()
        self.wait_running()


if __name__ == "__main__":
    unittest.main(verbosity=2)
