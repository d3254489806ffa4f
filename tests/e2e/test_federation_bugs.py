"""The known bugs of the syncer of Cloud Robotics Core (section 9 of the reference), each as a test that ours passes.

Each cluster is behind a proxy, which fails when it is told to and knows every request of the process.
"""

import json
import threading
import time
import unittest

import parts
from api_proxy import ApiProxy, Lines, Refuse
from federation_parts import (DEFINITIONS, MERGE, REMOTE_VERSION, ROBOT, ROBOT_LABEL, UPSTREAM_UID, Eye, annotated,
                              definition, federation, install, path_of, start_clusters, wait_in_step)
from parts import get, metrics, wait_until

MISSIONS, CHARTS, TASKS = path_of("missions"), path_of("charts"), path_of("tasks")
EXPIRED = Refuse(410)


class Proxied(parts.Case):
    """`cloud` and `robot` are the API servers; `wan` and `lan` the proxies in front of them."""

    @classmethod
    def setUpClass(cls):
        cls.cloud, cls.robot = start_clusters("cloud", "robot")
        install([definition("missions", spec_source="cloud"), definition("charts", False, spec_source="cloud"),
                 definition("tasks", spec_source="cloud", filter_by_robot_name="true")], cls.cloud, cls.robot)

    @classmethod
    def tearDownClass(cls):
        cls.cloud.close()
        cls.robot.close()

    def setUp(self):
        super().setUp()
        for cluster in (self.cloud, self.robot):
            self.empty(cluster)
        self.wan, self.lan = self.proxy(self.cloud), self.proxy(self.robot)
        self.process = federation(self.world, self.wan.kubeconfig, self.lan.kubeconfig, f'robot_name = "{ROBOT}"')

    def empty(self, cluster):
        for plural in ("missions", "charts", "tasks"):
            for (ns, name), one in cluster.items(path_of(plural, None)).items():
                path = path_of(plural, ns, name)
                if one["metadata"].get("finalizers"):
                    cluster.patch(path, {"metadata": {"finalizers": None}})
                cluster.request("DELETE", path)

    def proxy(self, cluster):
        folder = self.world.folder / cluster.name
        folder.mkdir()
        proxy = ApiProxy(cluster.kubernetes, folder)
        self.addCleanup(proxy.down)
        return proxy

    def tearDown(self):
        for proxy in (self.wan, self.lan):
            proxy.reset()
        super().tearDown()

    def start(self):
        self.process.start()
        wait_in_step(self.process)
        return self

    def make(self, cluster, path, name, spec=1, **metadata):
        plural = path.rsplit("/", 1)[-1]
        return cluster.must("POST", path, {"apiVersion": "example.com/v1", "kind": plural.capitalize(),
                                           "metadata": {"name": name, **metadata}, "spec": spec})

    def report(self, path, name, status, cluster=None):
        sub = "" if path == CHARTS else "/status"
        return (cluster or self.robot).patch(f"{path}/{name}{sub}", {"status": status})

    def wait(self, cluster, path, what, holds):
        wait_until(lambda: f"{what}: {json.dumps(cluster.get(path))}; {self.process.tail(8)}",
                   lambda: holds(cluster.get(path)), 60)
        return cluster.get(path)

    def make_all(self, path, count):
        """They are in both clusters; returns the uids at the robot, by name."""
        for n in range(count):
            self.make(self.cloud, path, f"o-{n}", n)
        for n in range(count):
            self.wait(self.robot, f"{path}/o-{n}", "it is at the robot", lambda o: o)
        return self.uids(path)

    def uids(self, path):
        return {name: o["metadata"]["uid"] for (_, name), o in self.robot.items(path).items()}

    def health(self):
        return get(self.process.port, "/readyz")

    def writes(self, proxy, path):
        return [call for call in list(proxy.calls) if call.mutation and call.path.startswith(path)]

    def lists(self, proxy, path):
        plural = path.rsplit("/", 1)[-1]
        return [call for call in list(proxy.calls) if call.lists and call.path.endswith("/" + plural)]


class OnKubernetes(Proxied):
    def test_b01_nothing_is_deleted_while_a_side_is_listed_anew(self):
        self.start()
        before = self.make_all(MISSIONS, 20)
        may_end = threading.Event()
        self.addCleanup(may_end.set)

        def but_for_its_end(line):
            if b"initial-events-end" in line:
                may_end.wait(60)
            return line

        def rule(call):
            if not call.path.endswith("/missions"):
                return None
            return Lines(but_for_its_end) if call.lists else EXPIRED if call.watch else None
        self.wan.rule = rule
        self.wan.cut_watches()
        up = 2 * metrics(self.process.port)["davit_federation_resources"]
        wait_until("upstream is being listed anew",
                   lambda: metrics(self.process.port)["davit_federation_watch_up"] == up - 1)
        # Meanwhile everything happens at the robot.
        for n in range(20):
            self.report(MISSIONS, f"o-{n}", n)
        self.robot.request("DELETE", f"{MISSIONS}/o-0")
        self.make(self.robot, MISSIONS, "orphan")
        self.wait(self.robot, f"{MISSIONS}/o-0", "it is made anew", lambda o: o)
        self.assertIsNotNone(self.robot.get(f"{MISSIONS}/orphan"))
        self.assertIn("listed anew", self.health()[1])
        self.cloud.request("DELETE", f"{MISSIONS}/o-1")
        self.assertEqual(self.writes(self.lan, MISSIONS)[20:][0].method, "POST")
        self.assertEqual([c for c in self.writes(self.lan, MISSIONS) if c.method == "DELETE"], [])
        self.wan.reset()
        may_end.set()
        self.wait(self.robot, f"{MISSIONS}/orphan", "the orphan goes when upstream is known", lambda o: o is None)
        self.wait(self.robot, f"{MISSIONS}/o-1", "so does what was deleted meanwhile", lambda o: o is None)
        for n in range(2, 20):
            self.wait(self.cloud, f"{MISSIONS}/o-{n}", "its status is up", lambda o, n=n: o.get("status") == n)
        after = self.uids(MISSIONS)
        self.assertEqual({n: before[n] for n in before if n not in ("o-0", "o-1")},
                         {n: after[n] for n in after if n != "o-0"})
        self.check_clean_end(self.process)

    def test_b02_what_vanished_while_a_watch_was_broken_is_noticed(self):
        self.start()
        before = self.make_all(MISSIONS, 3)
        late = definition("latecomers", spec_source="cloud")
        install([late], self.cloud, self.robot)
        wait_until("it takes part", lambda: metrics(self.process.port)["davit_federation_resources"] == 4)
        self.lan.rule = self.wan.rule = lambda call: EXPIRED if call.watch and not call.lists else None
        self.lan.down()
        self.wan.down()
        self.robot.request("DELETE", f"{MISSIONS}/o-0")
        self.cloud.request("DELETE", f"{MISSIONS}/o-1")
        self.robot.request("DELETE", f"{DEFINITIONS}/latecomers.example.com")
        self.lan.up()
        self.wan.up()
        self.wait(self.robot, f"{MISSIONS}/o-0", "it is made anew",
                  lambda o: o and o["metadata"]["uid"] != before["o-0"])
        self.wait(self.robot, f"{MISSIONS}/o-1", "it is gone", lambda o: o is None)
        wait_until("it takes part no more", lambda: metrics(self.process.port)["davit_federation_resources"] == 3)
        self.assertTrue(self.process.alive())
        self.check_clean_end(self.process)

    def test_b03_a_label_that_was_edited_downstream_is_put_back(self):
        self.start()
        self.make(self.cloud, TASKS, "t", labels={ROBOT_LABEL: ROBOT})
        uid = self.wait(self.robot, f"{TASKS}/t", "it is there", lambda o: o)["metadata"]["uid"]
        self.robot.patch(f"{TASKS}/t", {"metadata": {"labels": {ROBOT_LABEL: "another"}}})
        found = self.wait(self.robot, f"{TASKS}/t", "the label is back",
                          lambda o: o and o["metadata"]["labels"] == {ROBOT_LABEL: ROBOT})
        self.assertEqual(found["metadata"]["uid"], uid)
        self.lan.begin_counting()
        self.cloud.patch(f"{TASKS}/t", {"spec": 2})
        self.wait(self.robot, f"{TASKS}/t", "it is followed again", lambda o: o["spec"] == 2)
        self.assertEqual([call.method for call in self.writes(self.lan, TASKS)], ["PUT"])
        self.check_clean_end(self.process)

    def test_b04_no_generation_counts_as_observed_whose_spec_nobody_has_seen(self):
        self.start()
        self.make(self.cloud, MISSIONS, "m", "a")
        self.wait(self.robot, f"{MISSIONS}/m", "it is there", lambda o: o)
        self.report(MISSIONS, "m", {"n": 0, "observedGeneration": 1})
        self.wait(self.cloud, f"{MISSIONS}/m", "observed", lambda o: o.get("status") == {"n": 0, "observedGeneration": 1})
        may_write = threading.Event()
        self.addCleanup(may_write.set)
        self.lan.rule = lambda call: may_write.wait(60) and None if call.mutation else None
        early = []
        eye = Eye(self.cloud, MISSIONS, lambda _, o: early.append(o) if o["spec"] == "b" and o.get("status", {}).get(
            "observedGeneration") == o["metadata"]["generation"] else None)
        self.cloud.patch(f"{MISSIONS}/m", {"spec": "b"})
        wait_until("its write is on the way", lambda: [c for c in self.lan.calls if c.method == "PUT"])
        self.report(MISSIONS, "m", {"n": 1, "observedGeneration": 1})
        time.sleep(0.5)  # whoever maps by the numbers alone would have written it by now
        self.assertEqual(self.robot.get(f"{MISSIONS}/m")["spec"], "a")
        self.assertEqual(early, [])
        may_write.set()
        self.wait(self.cloud, f"{MISSIONS}/m", "the status is up, and not of this spec",
                  lambda o: o.get("status") == {"n": 1, "observedGeneration": 0})
        self.report(MISSIONS, "m", {"n": 2, "observedGeneration": 2})
        self.wait(self.cloud, f"{MISSIONS}/m", "observed", lambda o: o.get("status") == {"n": 2, "observedGeneration": 2})
        eye.close()
        self.assertEqual([o["status"]["n"] for o in early], [2])
        self.check_clean_end(self.process)

    def test_b05_the_status_upstream_survives_a_robot_that_is_installed_anew(self):
        self.start()
        for path in (MISSIONS, CHARTS):
            self.make_all(path, 3)
            for n in range(3):
                self.report(path, f"o-{n}", {"n": n})
                self.wait(self.cloud, f"{path}/o-{n}", "its status is up", lambda o, n=n: o.get("status") == {"n": n})
        self.process.kill()
        wiped = []
        eyes = [Eye(self.cloud, path, lambda _, o: wiped.append(o) if "n" not in (o.get("status") or {}) else None)
                for path in (MISSIONS, CHARTS)]
        self.empty(self.robot)
        self.start()
        for path in (MISSIONS, CHARTS):
            for n in range(3):
                self.wait(self.robot, f"{path}/o-{n}", "it is there again", lambda o: o)
        self.report(MISSIONS, "o-0", {"n": 7})
        self.wait(self.cloud, f"{MISSIONS}/o-0", "a new status", lambda o: o.get("status") == {"n": 7})
        for eye in eyes:
            eye.close()
        self.assertEqual(wiped, [])
        self.check_clean_end(self.process)

    def test_b06_a_right_that_is_missing_upstream_is_no_storm(self):
        self.wan.rule = lambda call: Refuse(403) if call.mutation else None
        self.start()
        self.make_all(CHARTS, 20)
        # Nothing has a status, so nothing is to be written.
        self.assertEqual(self.writes(self.wan, CHARTS), [])
        for n in range(20):
            self.report(CHARTS, f"o-{n}", n)
        begin = time.monotonic()
        wait_until("the health says it", lambda: "403" in self.health()[1] + self.process.tail())
        time.sleep(3)
        passed = time.monotonic() - begin
        # One object at a time asks, at 1 s at most (retry_most_ms), and in the beginning more often.
        self.assertLess(len(self.writes(self.wan, CHARTS)), 16 + 10 + 2 * passed)
        self.wan.reset()
        for n in range(20):
            self.wait(self.cloud, f"{CHARTS}/o-{n}", "its status is up", lambda o, n=n: o.get("status") == n)
        self.check_clean_end(self.process)

    def test_b07_b08_a_definition_that_changes_hundreds_of_times_while_objects_change(self):
        self.start()
        uids = self.make_all(MISSIONS, 10)
        over = threading.Event()

        def change():
            n = 0
            while not over.is_set():
                n += 1
                self.cloud.patch(f"{MISSIONS}/o-{n % 10}", {"spec": n})
                self.report(MISSIONS, f"o-{n * 7 % 10}", {"n": n})
        worker = threading.Thread(target=change)
        worker.start()
        name = f"{DEFINITIONS}/missions.example.com"
        for n in range(200):
            # A subtree that is named and taken back, and things that no rule depends on.
            subtree = annotated(status_subtree="n" if n % 2 else None)
            self.robot.patch(name, {"metadata": {"annotations": {**subtree, "touched": str(n)}}})
        self.robot.patch(name, {"metadata": {"annotations": {"touched": None, **annotated(status_subtree=None)}}})
        over.set()
        worker.join()
        for n in range(10):
            self.cloud.patch(f"{MISSIONS}/o-{n}", {"spec": {"last": n}})
            self.report(MISSIONS, f"o-{n}", {"n": -n})
        for n in range(10):
            self.wait(self.robot, f"{MISSIONS}/o-{n}", "the last spec", lambda o, n=n: o["spec"] == {"last": n})
            self.wait(self.cloud, f"{MISSIONS}/o-{n}", "the last status", lambda o, n=n: o.get("status") == {"n": -n})
        self.assertEqual(self.uids(MISSIONS), uids)
        self.check_clean_end(self.process)

    def test_b09_a_probe_asks_what_is_served(self):
        self.start()
        self.assertEqual(self.health()[0], 200)
        # Trouble with the network restarts nothing: a restart would mend nothing.
        self.wan.down()
        wait_until("the health says it", lambda: "upstream" in self.health()[1] or "cloud" in self.health()[1])
        self.assertEqual(get(self.process.port, "/healthz"), (200, "ok\n"))
        self.wan.up()
        wait_in_step(self.process)
        wait_until("all is well", lambda: self.health()[0] == 200)
        self.check_clean_end(self.process)

    def test_b10_histograms_have_buckets_of_their_unit(self):
        self.start()
        self.make_all(MISSIONS, 5)
        lines = [line for line in get(self.process.port, "/metrics")[1].splitlines() if "_seconds_bucket" in line]
        bounds = sorted({float(line.split('le="')[1].split('"')[0]) for line in lines} - {float("inf")})
        self.assertLessEqual(bounds[0], 0.01)
        self.assertGreaterEqual(bounds[-1], 5)
        self.assertLessEqual(bounds[-1], 600)
        # What was measured is neither all below the first bucket nor all above the last.
        ours = [float(line.rpartition(" ")[2]) for line in lines if line.startswith("davit_cluster_request_seconds")]
        self.assertGreater(len(set(ours)), 1)
        self.check_clean_end(self.process)

    def test_b11_all_namespaces_take_part(self):
        for cluster in (self.cloud, self.robot):
            self.assertIn(cluster.request("POST", "/api/v1/namespaces", {"metadata": {"name": "depot"}})[0], (201, 409))
        self.start()
        path = path_of("missions", "depot")
        self.make(self.cloud, path, "m")
        self.wait(self.robot, f"{path}/m", "it is at the robot", lambda o: o)
        self.robot.patch(f"{path}/m/status", {"status": "s"})
        self.wait(self.cloud, f"{path}/m", "its status is up", lambda o: o.get("status") == "s")
        self.assertIsNone(self.robot.get(f"{MISSIONS}/m"))
        self.check_clean_end(self.process)

    def test_b12_nothing_upstream_waits_for_a_robot_that_is_away(self):
        held = []
        eye = Eye(self.cloud, MISSIONS, lambda _, o: held.append(o) if o["metadata"].get("finalizers") else None)
        self.start()
        self.make_all(MISSIONS, 3)
        self.report(MISSIONS, "o-0", "s")
        self.wait(self.cloud, f"{MISSIONS}/o-0", "its status is up", lambda o: o.get("status") == "s")
        self.lan.down()
        self.wan.down()
        for n in range(3):
            self.cloud.request("DELETE", f"{MISSIONS}/o-{n}")
        self.assertEqual(self.cloud.items(MISSIONS), {})
        eye.close()
        self.assertEqual(held, [])
        self.assertEqual(len(self.robot.items(MISSIONS)), 3)
        self.lan.up()
        self.wan.up()
        wait_until("they are gone at the robot, too", lambda: self.robot.items(MISSIONS) == {}, 60)
        self.check_clean_end(self.process)

    def test_b13_a_touched_definition_lists_nothing_anew(self):
        self.start()
        self.make_all(MISSIONS, 3)
        for proxy in (self.wan, self.lan):
            proxy.begin_counting()
        name = f"{DEFINITIONS}/missions.example.com"
        schema = [{"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/more",
                   "value": {"type": "string"}}]
        changed = time.monotonic()
        self.assertEqual(self.robot.request("PATCH", name, schema, "application/json-patch+json")[0], 200)
        self.robot.patch(name, {"metadata": {"annotations": {"a": "b"}, "labels": {"a": "b"}}})
        # A definition that comes later has come after these changes.
        other = definition("others", spec_source="cloud")
        install([other], self.cloud, self.robot)
        wait_until("it takes part", lambda: self.lists(self.lan, path_of("others")))
        # A second later the API server ends the watches of a changed definition and may have forgotten their version.
        lists = self.lists(self.wan, MISSIONS) + self.lists(self.lan, MISSIONS)
        self.assertEqual([c for c in lists if c.at < changed + 1], [])
        self.check_clean_end(self.process)

    def test_requests(self):
        """Sections 3.1, 5 and 10.4: what is asked of the API servers, for a whole life of one object."""
        self.start()
        for proxy in (self.wan, self.lan):
            for path, selector in ((TASKS, f"{ROBOT_LABEL}={ROBOT}"), (MISSIONS, None), (CHARTS, None)):
                self.assertEqual([c.query.get("labelSelector") for c in self.lists(proxy, path)], [selector])
            proxy.begin_counting()
        self.make(self.cloud, MISSIONS, "m")
        uid = self.wait(self.robot, f"{MISSIONS}/m", "it is at the robot", lambda o: o)["metadata"]["uid"]
        self.report(MISSIONS, "m", "s")
        self.wait(self.cloud, f"{MISSIONS}/m", "its status is up", lambda o: o.get("status") == "s")
        self.cloud.patch(f"{MISSIONS}/m", {"spec": 2})
        self.wait(self.robot, f"{MISSIONS}/m", "the spec", lambda o: o["spec"] == 2)
        self.cloud.request("PATCH", f"{MISSIONS}/m", {"spec": 2}, MERGE)  # nothing changes
        last = self.robot.get(f"{MISSIONS}/m")["metadata"]["resourceVersion"]
        self.cloud.request("DELETE", f"{MISSIONS}/m")
        self.wait(self.robot, f"{MISSIONS}/m", "it is gone", lambda o: o is None)
        self.assertEqual([(c.method, c.path) for c in self.wan.calls], [("PUT", f"{MISSIONS}/m/status")])
        self.assertEqual([(c.method, c.path) for c in self.lan.calls], [
            ("POST", MISSIONS), ("PUT", f"{MISSIONS}/m"), ("DELETE", f"{MISSIONS}/m")])
        bodies = [json.loads(c.body) for c in self.wan.calls + self.lan.calls]
        for put in (bodies[0], bodies[2]):
            self.assertTrue(put["metadata"]["resourceVersion"])
        self.assertEqual(sorted(bodies[1]["metadata"]["annotations"]), [UPSTREAM_UID])
        self.assertNotIn(REMOTE_VERSION, json.dumps(bodies))
        self.assertEqual(bodies[3]["preconditions"], {"uid": uid, "resourceVersion": last})
        self.check_clean_end(self.process)


if __name__ == "__main__":
    unittest.main(verbosity=2)
