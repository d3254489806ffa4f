"""Clusters as records: a control plane, the agent of a management cluster, and the controller that builds Clusters there.

The API server is a real one. The actuator is a program whose answers are scripted.
"""

import json
import unittest

from clusters_parts import CLUSTERS, FINALIZER, NETWORK, ClustersCase, failing, going_on
from federation_parts import DEFINITIONS
from parts import REGION, wait_until
from test_rights import rules_of

ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterrole"
KIND = '[plugin.kind_cluster]\nmodule = "kind_cluster"\n'
# A definition that is missing is asked for again soon; what somebody edits is put back at once.
APPLIER = "[plugin.applier]\naccess_review_interval_ms = 500\n"
VALUE = {"apiVersion": "any.example/v1", "kind": "X", "size": 1, "large": 2 ** 53 + 1, "ratio": 0.1,
         "deep": {"er": [1, {"x": None}]}}
UP = {"answer": {"statusPatch": {"apiEndpoints": [{"host": "10.0.0.1", "port": 6443}]}}}
PAUSED = "cluster.x-k8s.io/paused"


def record(name, value=None, **more):
    return {"kind": "cluster", "region": REGION, "spec": {
        "namespace": "default", "name": name, "provider_spec": VALUE if value is None else value,
        "network": {"services": ["10.0.0.0/12"], "pods": ["192.168.0.0/16"], "service_domain": "cluster.local"}, **more}}


class OnKubernetes(ClustersCase):
    def setUp(self):
        super().setUp()
        self.server = self.world.server(extra=KIND).start()
        self.world.wait_ready(self.server)
        self.agent = self.world.agent(kubeconfig=self.management.kubernetes.kubeconfig, extra=KIND + APPLIER).start()

    # --- what is seen of a record

    def object_of(self, name):
        """The record as `davit status` shows it, live or not; {}: it is not shown any more."""
        return next((o for o in self.world.status().get("objects", []) if o["kind"] == "cluster"
                     and o["id"] == f"default.{name}"), {})

    def observed(self, name):
        return self.object_of(name).get("observed", {})

    def wait_status(self, name, health, message=""):
        """`message`: a part of what the record's status says; "": it says nothing."""
        def holds():
            seen = self.observed(name)
            said = seen.get("message", "")
            return seen.get("health") == health and (message in said if message else not said)
        wait_until(lambda: f"{name} is {health}: {message}; {json.dumps(self.object_of(name))}; {self.get(name)}; "
                           f"{self.agent.tail()}", holds, 60)

    def wait_healthy(self, *names):
        self.world.wait_running([f"default.{name}" for name in names], kind="cluster")

    def wait_removed(self, name):
        """The object is gone, and the agent has said so of the record."""
        self.wait_gone(name)
        wait_until(lambda: f"the record of {name} is gone: {json.dumps(self.object_of(name))}; {self.agent.tail()}",
                   lambda: not self.object_of(name) or self.observed(name).get("gone"), 60)

    # --- the rows

    def test_a_record_becomes_a_cluster_changes_and_goes(self):
        controller = self.begin()
        self.scripted("a", "reconcile", UP)
        self.world.apply([record("a", labels={"team": "edge"}, annotations={"example.com/why": "because"})])
        self.wait_healthy("a")
        made = self.get("a")
        self.assertEqual(made["spec"], {"clusterNetwork": NETWORK, "providerSpec": {"value": VALUE}})
        self.assertEqual(made["metadata"]["labels"]["team"], "edge")
        self.assertEqual(made["metadata"]["annotations"]["example.com/why"], "because")
        self.assertEqual(made["metadata"]["finalizers"], [FINALIZER])
        self.assertEqual(self.asked("a")["spec"], made["spec"])
        self.assertEqual(self.calls("a"), ["reconcile"])
        table = self.world.davit("status", "cluster")[1]
        self.assertRegex(table, r"REASON +ENDPOINT[^\n]*\n.*1/1 .*Ready +10\.0\.0\.1:6443 .*healthy")
        self.assertRegex(self.world.davit("get", "cluster")[1], r"PROVIDER[^\n]*\n.*any\.example/v1")

        # What the record takes back goes, and the actuator gets what it has now.
        less = {k: v for k, v in VALUE.items() if k != "deep"}
        out = self.world.davit("apply", "-f", "-", "--wait", "--timeout", "60s",
                               stdin=json.dumps(record("a", {**less, "size": 2})))
        self.assertIn("1 of 1 ready", "".join(map(str, out)))
        self.assertEqual(self.asked("a")["spec"]["providerSpec"]["value"], {**less, "size": 2})
        self.assertNotIn("team", self.get("a")["metadata"]["labels"])
        self.assertEqual(self.status("a")["observedGeneration"], self.get("a")["metadata"]["generation"])
        # The same once more is no change, of the object neither.
        version = self.get("a")["metadata"]["resourceVersion"]
        self.assertIn("unchanged", self.world.apply([record("a", {**less, "size": 2})]))
        self.agent.stop()
        self.agent.start()
        self.world.apply([record("b")])
        self.wait_healthy("a", "b")
        self.assertEqual(self.get("a")["metadata"]["resourceVersion"], version)

        self.world.delete("cluster", "default.a")
        self.wait_removed("a")
        self.assertEqual(self.calls("a"), ["reconcile", "reconcile", "delete"])
        self.assertEqual(self.calls("b"), ["reconcile"])
        self.wait_healthy("b")
        self.check_clean_end(self.agent, self.server, controller)

    def test_what_an_actuator_fails_for_is_in_the_records_status(self):
        controller = self.begin()
        self.scripted("a", "reconcile", failing("RESOURCE_EXHAUSTED", "no quota", where="spec.x"))
        self.scripted("slow", "reconcile", going_on(3600, progress="1 of 2"))
        self.world.apply([record("a"), record("slow"), record("good")])
        self.wait_healthy("good")
        self.wait_status("a", "unhealthy", "CreateError: spec.x: no quota")
        self.wait_status("slow", "progressing", "Building: 1 of 2")
        self.assertEqual(self.observed("a")["detail"]["error_reason"], "CreateError")
        self.assertRegex(self.world.davit("status", "cluster")[1], r"default\.a .*0/1 .*Failed .*unhealthy")
        self.scripted("a", "reconcile", UP)
        self.wait_healthy("a")
        self.wait_status("a", "healthy")
        # A change that fails: the cluster was there before.
        self.scripted("a", "reconcile", failing("INVALID_ARGUMENT", "must be a size"))
        self.world.apply([record("a", {**VALUE, "size": -1})])
        self.wait_status("a", "unhealthy", "InvalidConfiguration: must be a size")
        self.check_clean_end(self.agent, self.server, controller)

    def test_what_the_record_says_is_put_back_and_what_is_of_others_stays(self):
        controller = self.begin()
        self.scripted("a", "reconcile", UP)
        self.world.apply([record("a", labels={"team": "edge"})])
        self.wait_healthy("a")
        calls = len(self.calls("a"))
        edit = {"metadata": {"labels": {"team": "other", "theirs": "1"}, "annotations": {"theirs": "1"},
                             "finalizers": [FINALIZER, "someone/else"]},
                "spec": {"clusterNetwork": {"serviceDomain": "edited"},
                         "providerSpec": {"value": {"size": 7, "deep": None, "theirs": True}}}}
        self.change("a", edit)
        wait_until(lambda: f"it is put back: {self.get('a')}; {self.agent.tail()}", lambda: self.get("a")["spec"] == {
            "clusterNetwork": NETWORK, "providerSpec": {"value": {**VALUE, "theirs": True}}})
        wait_until(lambda: f"the actuator has it: {self.asked('a')}", lambda: self.asked("a").get("spec") ==
                   self.get("a")["spec"] and len(self.calls("a")) > calls)
        self.wait_healthy("a")
        metadata = self.get("a")["metadata"]
        self.assertEqual((metadata["labels"]["team"], metadata["labels"]["theirs"]), ("edge", "1"))
        self.assertEqual(metadata["annotations"]["theirs"], "1")
        self.assertEqual(metadata["finalizers"], [FINALIZER, "someone/else"])
        self.assertEqual(self.status("a")["apiEndpoints"], [{"host": "10.0.0.1", "port": 6443}])

        # A record that takes the name of a Cluster of somebody's goes on with it, and builds it no second time.
        self.scripted("theirs", "reconcile", UP)
        self.make("theirs", {"size": 5, "zone": "a"}, finalizers=["someone/else"])
        self.wait_ready("theirs")
        uid = self.get("theirs")["metadata"]["uid"]
        self.world.apply([record("theirs", {"size": 6})])
        self.wait_healthy("theirs")
        self.assertEqual(self.get("theirs")["metadata"]["uid"], uid)
        self.assertEqual(self.get("theirs")["spec"]["providerSpec"]["value"], {"size": 6, "zone": "a"})

        # One that somebody deletes is removed, and built anew.
        self.change("a", {"metadata": {"finalizers": [FINALIZER]}})
        uid = self.get("a")["metadata"]["uid"]
        self.remove("a")
        wait_until(lambda: f"it is made again: {self.get('a')}; {self.agent.tail()}",
                   lambda: (self.get("a") or {"metadata": {"uid": uid}})["metadata"]["uid"] != uid, 60)
        # Not "healthy", which may be what was said of the one before.
        wait_until(lambda: self.calls("a"), lambda: self.calls("a")[-2:] == ["delete", "reconcile"], 60)
        self.wait_healthy("a")
        self.check_clean_end(self.agent, self.server, controller)

    def test_a_cluster_that_cannot_be_removed_keeps_its_record_and_says_why(self):
        controller = self.begin()
        self.scripted("a", "reconcile", UP)
        self.world.apply([record("a")])
        self.wait_healthy("a")
        self.scripted("a", "delete", failing("UNAVAILABLE", "a disk is attached"))
        self.world.delete("cluster", "default.a")
        self.wait_status("a", "unhealthy", "DeleteError: a disk is attached. To give it up")
        self.assertIsNotNone(self.get("a"))
        self.assertFalse(self.observed("a").get("gone", False))
        self.assertRegex(self.world.davit("status", "cluster", "default.a", "--region", REGION)[1], "a disk is attached")
        # Nobody forgets it, whoever is killed meanwhile.
        for process in (self.agent, controller, self.server):
            process.kill()
            process.start()
        self.world.wait_ready(self.server)
        calls = len(self.calls("a"))
        wait_until("the controller goes on", lambda: len(self.calls("a")) > calls, 60)
        self.wait_status("a", "unhealthy", "DeleteError: a disk is attached. To give it up")
        self.scripted("a", "delete", {})
        self.wait_removed("a")
        self.assertEqual(self.calls("a")[-1], "delete")
        self.assertFalse([o for o in self.world.objects("cluster")], "no record is live")
        # The name is free.
        self.world.apply([record("a")])
        self.wait_healthy("a")
        self.check_clean_end(self.agent, self.server, controller)

    def test_a_record_that_comes_back_while_its_cluster_goes_gets_a_new_one(self):
        controller = self.begin()
        self.scripted("a", "reconcile", UP)
        self.world.apply([record("a")])
        self.wait_healthy("a")
        uid = self.get("a")["metadata"]["uid"]
        self.scripted("a", "delete", failing("UNAVAILABLE", "a disk is attached"))
        self.world.delete("cluster", "default.a")
        self.wait_status("a", "unhealthy", "a disk is attached")
        self.world.apply([record("a", {**VALUE, "size": 2})])
        self.wait_status("a", "progressing", "is being deleted")
        self.assertEqual(self.get("a")["metadata"]["uid"], uid)
        self.assertEqual(self.get("a")["spec"]["providerSpec"]["value"], VALUE, "what goes is not changed")
        self.scripted("a", "delete", {})
        self.wait_healthy("a")
        self.assertNotEqual(self.get("a")["metadata"]["uid"], uid)
        self.assertEqual(self.asked("a")["spec"]["providerSpec"]["value"], {**VALUE, "size": 2})
        self.assertEqual(self.calls("a")[-2:], ["delete", "reconcile"])
        self.check_clean_end(self.agent, self.server, controller)

    def test_finalizers_of_others_hold_a_record_and_are_named(self):
        controller = self.begin()
        self.world.apply([record("a")])
        self.wait_healthy("a")
        self.change("a", {"metadata": {"finalizers": [FINALIZER, "someone/else"]}})
        self.world.delete("cluster", "default.a")
        self.wait_status("a", "progressing", "waits for the finalizers of others: someone/else")
        self.assertEqual(self.calls("a")[-1], "delete")
        self.assertEqual(self.get("a")["metadata"]["finalizers"], ["someone/else"])
        self.change("a", {"metadata": {"finalizers": None}})
        self.wait_removed("a")
        self.check_clean_end(self.agent, self.server, controller)

    def test_a_paused_record_calls_nobody(self):
        controller = self.begin()
        self.world.apply([record("a", paused=True)])
        wait_until(lambda: f"it is paused: {self.object_of('a')}", lambda: self.observed("a").get("health") == "paused", 60)
        self.assertEqual(self.calls("a"), [])
        self.assertIn(PAUSED, self.get("a")["metadata"]["annotations"])
        self.world.apply([record("a")])
        self.wait_healthy("a")
        self.assertEqual(self.calls("a"), ["reconcile"])
        self.assertNotIn(PAUSED, self.get("a")["metadata"]["annotations"])
        # Somebody else's pause stays, and is said.
        self.change("a", {"metadata": {"annotations": {PAUSED: ""}}})
        self.wait_status("a", "progressing", "the annotation cluster.x-k8s.io/paused is set")
        self.change("a", {"metadata": {"annotations": {PAUSED: None}}})
        self.wait_healthy("a")
        self.check_clean_end(self.agent, self.server, controller)

    def test_a_definition_that_is_not_installed_is_missing_until_it_is(self):
        self.agent.stop()
        path = f"{DEFINITIONS}/clusters.cluster.k8s.io"
        if self.management.get(path):
            self.management.must("DELETE", path)
            wait_until("the definition is gone", lambda: self.management.get(path) is None, 60)
        self.agent.start()
        self.world.apply([record("a")])

        def missing():
            return [issue for agent in self.world.status().get("agents", []) for issue in agent.get("issues", [])
                    if issue["condition"] == "missing" and issue["kind"] == "cluster"]
        wait_until(lambda: f"it is missing: {self.world.status()}; {self.agent.tail()}", missing, 60)
        self.assertIn("the cluster has no clusters.cluster.k8s.io/v1alpha1", missing()[0]["reason"])
        self.assertRegex(self.world.davit("status")[1], r"missing +cluster +clusters\.cluster\.k8s\.io")
        self.scripted("a", "reconcile", UP)
        controller = self.begin()  # `davit clusters install`, and the process
        self.wait_healthy("a")
        wait_until(lambda: f"nothing is missing: {missing()}; {self.agent.tail()}", lambda: not missing(), 60)
        self.check_clean_end(self.agent, self.server, controller)

    def test_the_printed_rights_are_enough(self):
        self.agent.stop()
        user, name = "agent-of-clusters", "davit-agent-of-clusters"
        printed = self.world.davit("check", "--rights", *self.agent.argv[2:])[1]
        rules = [{"apiGroups": [group], "resources": [resource], "verbs": verbs}
                 for group, resource, verbs in rules_of(printed)]
        self.assertIn(["clusters"], [rule["resources"] for rule in rules])
        self.management.must("POST", f"{ROLES}s", {"metadata": {"name": name}, "rules": rules})
        self.management.must("POST", f"{ROLES}bindings", {
            "metadata": {"name": name}, "subjects": [{"kind": "User", "name": user}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}})
        self.agent.argv.append(self.world.write("user.toml", f'[plugin.cluster]\nimpersonate_user = "{user}"\n'))
        self.agent.start()
        controller = self.begin()
        elsewhere = record("a")
        elsewhere["spec"]["namespace"] = "fleet"  # which is made
        self.world.apply([record("a"), elsewhere])
        self.world.wait_running(["default.a", "fleet.a"], kind="cluster")
        self.change("a", {"spec": {"providerSpec": {"value": {"size": 7}}}})
        wait_until(lambda: f"it is put back: {self.get('a')}; {self.agent.tail()}",
                   lambda: self.get("a")["spec"]["providerSpec"]["value"] == VALUE)
        self.world.delete("cluster", "fleet.a")
        self.world.delete("cluster", "default.a")
        self.wait_removed("a")
        self.world.wait_gone()
        self.assertNotIn("403 Forbidden", self.agent.text())  # "403" alone may be milliseconds
        self.check_clean_end(self.agent, self.server, controller)

    def test_what_is_no_cluster_is_refused_and_others_go_on(self):
        controller = self.begin()
        rows = (({"provider_spec": ["a list"]}, "spec.provider_spec: must be an object"),
                ({"provider_spec": {"text": "x" * 2 ** 20}}, "spec.provider_spec: must have at most 1 MiB"),
                ({"network": {"pods": ["10.0.0.0"]}}, "spec.network.pods[0]: must be a range of addresses"),
                ({"machine_class": {"name": "x"}},
                 "spec.machine_class: stands in place of provider_spec"),
                ({"annotations": {PAUSED: ""}}, "paused: true"), ({"name": "x" * 64}, "spec.name: must have at most 63"))
        for more, why in rows:
            bad = record("bad")
            bad["spec"].update(more)
            code, out, err = self.world.davit("apply", "-f", "-", check=False, stdin=json.dumps(bad))
            self.assertNotEqual(code, 0)
            self.assertIn(why, out + err)
        # What only the API server knows parks the record.
        self.world.apply([record("large", annotations={"example.com/x": "x" * 300_000}), record("good")])
        self.wait_healthy("good")
        wait_until(lambda: f"it is parked: {str(self.object_of('large'))[:500]}", lambda: "parked" in
                   self.world.davit("status", "cluster", "default.large", "--region", REGION)[1], 60)
        self.assertEqual({name for _, name in self.management.items(CLUSTERS)}, {"good"})
        self.check_clean_end(self.agent, self.server, controller)


if __name__ == "__main__":
    unittest.main(verbosity=2)
