"""Our agent on a Krane control plane, with its habits: no bookmarks, no end of a snapshot, four answers to an unknown
region, streams that never end, queries once a second, failures in the middle of a stream.

The peer is written with the Connect server library for Node (tests/node/krane_control_plane.mjs). Classes without a
name of their own speak gRPC to it, as our agent does by default; those called Connect speak its own protocol.
"""

import time
import unittest

import expected
import parts
from api_proxy import ApiProxy
from krane import PLATFORM, TOKEN
from krane_case import KINDS, PAGE_ROWS, Peer, named
from parts import REGION, Case, deployment, policy, sentinel, wait_until


class OnMemory(Peer, Case):
    def start(self, *documents):
        self.want(*documents)
        self.running = self.agent().start()
        self.wait_reported()

    def test_bootstrap_changes_and_deletes(self):
        documents = [deployment(n, replicas=n % 3) for n in range(2 * PAGE_ROWS + 50)]
        self.start(*documents, sentinel(1), sentinel(2, replicas=0), policy(1))
        self.want(deployment(3, replicas=4), sentinel(1, replicas=2), deployment(1000))
        self.unwant(documents[5], documents[6])
        self.wait_reported()
        self.assertEqual(sorted(set(self.deletes())), ["app-5", "app-6"])
        for event in self.krane.said("stream") + self.krane.said("call"):
            self.assertEqual([event["headers"].get(h) for h in ("authorization", "x-krane-region", "x-krane-platform")],
                             [f"Bearer {TOKEN}", REGION, PLATFORM], event)
        for kind in KINDS:
            self.assertEqual([(s["version_last_seen"], s["region"]) for s in self.krane.streams(kind)], [(0, REGION)])
        self.check_clean_end(self.running)

    def test_a_new_agent_hears_of_everything_that_was_ever_stopped(self):
        gone = [deployment(n) for n in range(PAGE_ROWS + 20)]
        self.want(*gone)
        self.unwant(*gone)
        self.start(deployment(500), sentinel(1))
        self.assertEqual(set(self.deletes()) - {named(d) for d in gone}, set())
        self.check_clean_end(self.running)

    def test_restarts_of_the_control_plane(self):
        self.start(*(deployment(n) for n in range(20)), sentinel(1))
        for turn in range(5):
            place = self.krane.now()
            self.krane.ask(do="down")
            self.want(deployment(turn, replicas=2 + turn), deployment(100 + turn))
            self.unwant(deployment(10 + turn))
            if turn % 2:
                time.sleep(1)  # away for longer than a reconnect takes
            self.krane.ask(do="up")
            self.wait_reported()
            # What was heard is not asked for again.
            first = self.krane.streams("deployment", place)[0]
            self.assertGreater(first["version_last_seen"], 0)
        self.assertEqual(sorted(set(self.deletes())), [f"app-{n}" for n in range(10, 15)])
        self.check_clean_end(self.running)

    def test_streams_that_break_in_the_middle(self):
        for after in (1, 7, 99, 100, 101):
            self.krane.ask(do="fail", method="WatchDeployments", code="internal", message="driver: bad connection",
                           after=after)
        self.start(*(deployment(n) for n in range(3 * PAGE_ROWS)))
        self.want(deployment(1000))
        self.wait_reported()
        cursors = [s["version_last_seen"] for s in self.krane.streams("deployment")]
        self.assertEqual(cursors, sorted(cursors))
        self.assertEqual(self.deletes(), [])
        self.check_clean_end(self.running)

    def test_streams_that_end_without_an_error_are_no_end_of_a_snapshot(self):
        self.start(*(deployment(n) for n in range(20)), sentinel(1), policy(1))
        for kind in KINDS:
            place = self.krane.now()
            self.krane.ask(do="end", kind=kind, code="ok")
            self.wait_watched(place, [kind])
        self.want(deployment(100))
        self.wait_reported()
        self.assertEqual(self.deletes(), [])
        self.check_clean_end(self.running)

    def test_a_token_that_is_not_taken_for_a_while(self):
        self.start(*(deployment(n) for n in range(5)))
        self.krane.ask(do="token", token="another")
        place = self.krane.now()
        self.krane.ask(do="end", kind="deployment", code="internal", message="driver: bad connection")
        wait_until("it is refused", lambda: len(self.krane.said("stream_refused", "deployment", place)) >= 3)
        self.assertEqual({e["code"] for e in self.krane.said("stream_refused", None, place)}, {"unauthenticated"})
        self.krane.ask(do="token", token=TOKEN)
        self.want(deployment(1, replicas=3))
        self.wait_reported()
        self.assertEqual(self.deletes(), [])
        self.check_clean_end(self.running)

    def test_messages_that_change_nothing(self):
        self.start(deployment(1), sentinel(1), policy(1))
        for kind in KINDS:
            self.krane.ask(do="send", kind=kind, state={})
            self.krane.ask(do="send", kind=kind, state={"version": "3"})
        self.want(deployment(2), deployment(1, replicas=2))
        self.wait_reported()
        self.assertEqual(self.deletes(), [])
        self.assertTrue(self.running.alive(), self.running.tail())
        self.check_clean_end(self.running)

    def test_rows_that_the_control_plane_cannot_read(self):
        """A whole page of them, and its stream is stuck: open, and silent though there is more."""
        broken = [deployment(n) for n in range(PAGE_ROWS)]
        self.krane.want(*broken, broken=True)
        self.want(deployment(500))
        self.running = self.agent().start()
        self.wait_watched()
        self.assertEqual(self.krane.instances(REGION), {})
        self.krane.stop(broken[0])  # a page has room for one more
        self.wait_reported()
        self.check_clean_end(self.running)

    def test_reports_of_what_the_control_plane_has_forgotten(self):
        """Refused as unknown, for ever, and those of others go on."""
        self.start(*(deployment(n) for n in range(10)))
        forgotten = [deployment(100 + n, replicas=3) for n in range(20)]
        self.krane.ask(do="delay", method="ReportDeploymentStatus", ms=300)
        place = self.krane.now()
        self.krane.want(*forgotten)
        wait_until("they are heard of", lambda: any(
            c["message"].get("update", {}).get("k8s_name") == "app-119"
            for c in self.krane.calls("ReportDeploymentStatus", place)))
        self.krane.drop(*forgotten)
        self.krane.ask(do="delay", method="ReportDeploymentStatus", ms=0)
        self.want(*(deployment(n, replicas=2) for n in range(10)))
        mine = {named(d) for d in self.wanted.values()}
        wait_until(lambda: "the others are reported\n" + self.tails(), lambda: not [
            u for u in self.unreported() if u.partition(":")[0] in mine])
        self.check_clean_end(self.running)

    def test_reports_that_fail_for_a_while_come_later(self):
        for code, times in (("unknown", 2), ("internal", 3), ("unavailable", 10)):
            self.krane.ask(do="fail", method="ReportDeploymentStatus", code=code, times=times,
                           message="Error 1213: Deadlock found when trying to get lock")
        self.start(*(deployment(n) for n in range(30)))
        self.check_clean_end(self.running)


class UnknownRegion(Peer, Case):
    """Until a heartbeat has made the region: internal, invalid argument, not found, or success."""

    region_at_first = False

    def test_it_is_made_by_a_heartbeat_and_waited_for(self):
        self.krane.ask(do="fail", method="Heartbeat", code="unknown", message="Error 1040: Too many connections",
                       times=3)
        agent = self.agent().start()
        wait_until(lambda: "the region is made\n" + self.tails(), lambda: any(
            c["code"] == "ok" for c in self.krane.calls("Heartbeat")))
        refused = {(e["kind"], e["code"]) for e in self.krane.said("stream_refused")}
        self.assertLessEqual(refused, {("deployment", "internal"), ("sentinel", "invalid_argument"),
                                       ("cilium_network_policy", "internal")})
        self.assertIn(("sentinel", "invalid_argument"), refused)
        self.want(*(deployment(n) for n in range(10)), sentinel(1))
        self.wait_reported()
        self.assertEqual(self.deletes(), [])
        self.check_clean_end(agent)


class OnKubernetes(Peer, parts.KubernetesCase):
    def setUp(self):
        super().setUp()
        self.reader = expected.Reader(self.kubernetes)

    def start(self, *documents):
        self.want(*documents)
        self.running = self.agent(kubeconfig=self.kubernetes.kubeconfig).start()
        self.wait_equal()
        self.wait_reported()

    def differences(self):
        return self.reader.faults(list(self.wanted.values()))

    def wait_equal(self, seconds=120):
        wait_until(lambda: f"equal: {self.differences()[:6]}\n" + self.tails(),
                   lambda: not self.differences(), seconds, pause=0.2)

    def uids(self):
        return {k: o["metadata"]["uid"] for k, o in self.reader.live().items()}

    def records(self, namespace, count=20):
        return [*(deployment(n, namespace) for n in range(count)), sentinel(1), sentinel(2), policy(1, namespace),
                policy(2, namespace)]

    def end(self):
        """Policies have no soft delete in Krane: their rows stay, and so do they."""
        policies = [d for (kind, _), d in self.wanted.items() if kind == "cilium_network_policy"]
        self.unwant(*[d for (kind, _), d in self.wanted.items() if kind != "cilium_network_policy"])
        self.wait_equal()
        self.wait_reported()
        self.check_clean_end(self.running)
        for document in policies:
            path = expected.path_of("ciliumnetworkpolicies", document["spec"]["k8s_namespace"], named(document))
            self.kubernetes.request("DELETE", path)

    def test_converges_changes_and_deletes(self):
        namespace = "krane-changes"
        self.start(*self.records(namespace, PAGE_ROWS + 20))
        self.want(deployment(0, namespace, replicas=3), deployment(1, namespace, image="registry.example/app:2"),
                  deployment(500, namespace), sentinel(1, replicas=2))
        self.unwant(deployment(2, namespace), sentinel(2))
        self.wait_equal()
        self.wait_reported()
        self.assertEqual(set(self.deletes()), {"app-2"})
        # What somebody else spoils is repaired, with nothing said by the control plane.
        path = expected.path_of("replicasets", namespace, "app-3")
        self.kubernetes.request("PATCH", path, {"spec": {"replicas": 4}}, "application/merge-patch+json")
        self.kubernetes.request("DELETE", expected.path_of("replicasets", namespace, "app-4"))
        self.wait_equal()
        self.wait_reported()
        self.end()

    def test_restarts_of_both_sides_touch_nothing(self):
        namespace = "krane-restarts"
        self.start(*self.records(namespace))
        uids = self.uids()
        for restart in (self.krane.restart, self.restart_agent, self.kill_agent):
            place = self.krane.now()
            restart()
            self.wait_watched(place)
            self.want(deployment(0, namespace, replicas=2 + place % 2))
            self.wait_equal()
            self.wait_reported()
            self.assertEqual(self.uids(), uids)
        self.assertEqual(self.deletes(), [])
        self.end()

    def test_a_restarted_agent_writes_nothing(self):
        """What stands there is what it wants, and it sees so: no apply, no create, however often it looks."""
        namespace = "krane-quiet"
        proxy = ApiProxy(self.kubernetes, self.world.folder)
        self.addCleanup(proxy.down)
        odd = [deployment(1001, namespace, environment_slug="", git_branch="", git_commit_sha="c0ffee",
                          healthcheck={"method": "GET", "path": "/", "intervalSeconds": 10, "timeoutSeconds": 5,
                                       "failureThreshold": 3, "initialDelaySeconds": 0}),
               deployment(1002, namespace, cpu_millicores="1000", memory_mib="1024", command=["run", ""]),
               deployment(1003, namespace, replicas=0, app_id="", build_id="b_1", shutdown_signal="SIGINT")]
        bounded = deployment(1004, namespace, autoscaling={"min_replicas": 2, "max_replicas": 4, "cpu_threshold": 70})
        del bounded["spec"]["replicas"]
        documents = [*self.records(namespace, 236), *odd, bounded, sentinel(3, replicas=0)]
        for hidden in (False, True):
            with self.subTest(hide_kubernetes=hidden):
                self.check_writes_nothing(proxy, documents, hidden)

    def check_writes_nothing(self, proxy, documents, hidden):
        port = parts.free_port()
        self.want(*documents)
        self.running = self.agent(kubeconfig=proxy.kubeconfig)
        self.running.argv.append(self.world.write("quiet.toml", f"""
[host]
metrics_listen = "127.0.0.1:{port}"
[plugin.applier]
resync_interval_ms = 2000
[plugin.deployment]
hide_kubernetes = {str(hidden).lower()}
"""))
        self.running.start()
        self.wait_reported(180)
        self.assertEqual(self.running.stop(), 0, self.running.tail())
        place = self.krane.now()
        proxy.begin_counting()
        self.running.start()
        names = {named(d) for d in documents if d["kind"] == "deployment"}
        wait_until(lambda: "all is reported again\n" + self.tails(), lambda: names <= {
            c["message"].get("update", {}).get("k8s_name") for c in self.krane.calls("ReportDeploymentStatus", place)}, 120)
        reconciled = parts.metrics(port)["davit_applier_reconciliations_total"]
        wait_until("all is looked at twice more", lambda: parts.metrics(port)[
            "davit_applier_reconciliations_total"] > reconciled + 2 * len(documents), 120, pause=0.5)
        writes = [str(c) for c in proxy.calls if c.mutation and "accessreviews" not in c.path]
        self.assertEqual(writes, [], f"{len(writes)} of {len(documents)} records")
        self.end()
        self.wanted.clear()

    def restart_agent(self):
        self.assertEqual(self.running.stop(), 0, self.running.tail())
        self.running.start()

    def kill_agent(self):
        self.running.kill()
        self.running.start()

    def test_what_the_control_plane_has_lost_is_not_deleted(self):
        """Rows gone, the region gone, versions begun anew, streams that end well after nothing."""
        namespace = "krane-lost"
        documents = self.records(namespace)
        self.start(*documents)
        uids = self.uids()

        def still_there():
            self.wait_watched(place)
            time.sleep(1)  # several queries of the control plane
            self.assertEqual((self.uids(), self.deletes()), (uids, []))
        place = self.krane.now()
        self.krane.drop(*documents)
        self.kill_agent()
        still_there()
        for kind in KINDS:
            self.krane.ask(do="end", kind=kind, code="ok")
        still_there()
        self.krane.want(*documents)
        place = self.krane.now()
        self.krane.ask(do="forget_counter", region=REGION)
        self.krane.restart()
        still_there()
        self.kill_agent()
        self.wait_equal()
        self.assertEqual(self.uids(), uids)
        self.end()


class OnMemoryConnect(OnMemory):
    transport = "connect"


class UnknownRegionConnect(UnknownRegion):
    transport = "connect"


class OnKubernetesConnect(OnKubernetes):
    transport = "connect"


if __name__ == "__main__":
    unittest.main(verbosity=2)
