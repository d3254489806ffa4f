"""Clusters on a real API server: the tables of states and results, by the default profile and with its additions.

The actuator is a program whose answers are scripted. The pure parts have tests of their own.
"""

import json
import unittest

from clusters_parts import CLUSTERS, FINALIZER, ClustersCase, failing, going_on
from federation_parts import DEFINITIONS
from parts import wait_until
from test_rights import rules_of

ADDITIONS = "children_first = true\nconflict_retries = 5\nworkers = 3\n"


class Stories:
    """What both profiles have in common."""

    settings = ""

    def test_a_cluster_is_built_changed_and_removed(self):
        self.begin(self.settings)
        self.scripted("a", "reconcile", {"answer": {"statusPatch": {
            "apiEndpoints": [{"host": "10.0.0.1", "port": 6443}], "providerStatus": {"step": 1, "large": 2 ** 53 + 1}},
            "events": [{"type": "Normal", "reason": "Built", "message": "All is there."}]}})
        self.make("a", {"apiVersion": "any.example/v1", "kind": "X", "deep": {"er": [1, {"x": None}]}})
        self.wait_ready("a")
        status = self.status("a")
        self.assertEqual(status["apiEndpoints"], [{"host": "10.0.0.1", "port": 6443}])
        self.assertEqual(status["providerStatus"], {"step": 1, "large": 2 ** 53 + 1})
        self.assertEqual(status["actuator"], "exec")
        self.assertEqual(self.get("a")["metadata"]["finalizers"], [FINALIZER])
        self.assertEqual(self.calls("a"), ["reconcile"], "the controller's own writes are no news")
        wait_until("the event is there", lambda: "Built" in json.dumps(
            self.management.must("GET", "/api/v1/namespaces/default/events")), 30)
        self.change("a", {"spec": {"clusterNetwork": {"serviceDomain": "other.local"}}})
        wait_until("the change is seen", lambda: self.calls("a") == ["reconcile"] * 2, 30)
        self.remove("a")
        self.wait_gone("a")
        self.assertEqual(self.calls("a"), ["reconcile", "reconcile", "delete"])

    def test_what_fails_is_said_and_tried_again(self):
        self.begin(self.settings)
        self.scripted("a", "reconcile", failing("RESOURCE_EXHAUSTED", "no quota", where="spec.x"), {"exit": 3}, {})
        self.make("a")
        self.wait_ready("a")
        self.assertEqual(self.calls("a"), ["reconcile"] * 3)
        self.assertNotIn("errorReason", self.status("a"))
        self.scripted("a", "delete", failing("UNAVAILABLE", "a disk is attached"), {"text": "rubbish"}, {})
        self.remove("a")
        self.wait_gone("a")
        self.assertEqual(self.calls("a")[3:], ["delete"] * 3)

    def test_a_failure_is_in_the_status_until_it_is_mended(self):
        self.begin(self.settings)
        self.scripted("a", "reconcile", failing("INVALID_ARGUMENT", "must be a zone", where="spec.providerSpec.value.z"))
        self.make("a")
        self.wait_said("a", "spec.providerSpec.value.z: must be a zone")
        self.assertEqual(self.status("a")["errorReason"], "InvalidConfiguration")
        self.assertEqual(self.status("a")["errorMessage"], "spec.providerSpec.value.z: must be a zone")
        self.scripted("a", "reconcile", {})
        self.change("a", {"metadata": {"annotations": {"mended": "yes"}}})
        self.wait_ready("a")
        self.scripted("a", "delete", failing("UNAVAILABLE", "a disk is attached"))
        self.remove("a")
        self.wait_said("a", "a disk is attached. To give it up", "Deleting")
        self.assertEqual(self.status("a")["errorReason"], "DeleteError")
        # What the message says works.
        self.management.must("PATCH", f"{CLUSTERS}/a", [{"op": "remove", "path": "/metadata/finalizers"}],
                             "application/json-patch+json")
        self.wait_gone("a")

    def test_what_goes_on_is_called_again(self):
        self.begin(self.settings)
        self.scripted("a", "reconcile", going_on(0.5, progress="1 of 2"), going_on(0.5, progress="2 of 2"), {})
        self.make("a")
        self.wait_ready("a")
        self.assertEqual(self.calls("a"), ["reconcile"] * 3)
        self.scripted("a", "delete", going_on(0.5), {})
        self.remove("a")
        self.wait_gone("a")
        self.assertEqual(self.calls("a")[3:], ["delete"] * 2)

    def test_finalizers_of_others_are_kept(self):
        self.begin(self.settings)
        self.make("a", finalizers=["someone/else"])
        self.wait_ready("a")
        self.assertEqual(self.get("a")["metadata"]["finalizers"], ["someone/else", FINALIZER])
        self.remove("a")
        wait_until("ours is off", lambda: self.get("a")["metadata"]["finalizers"] == ["someone/else"], 30)
        self.change("a", {"metadata": {"annotations": {"by": "somebody"}}})
        self.make("b")
        self.wait_ready("b")
        self.assertEqual(self.calls("a"), ["reconcile", "delete"], "nothing is called any more")

    def test_a_cluster_that_is_deleted_before_it_is_seen_was_never_there(self):
        self.begin(self.settings).stop()
        self.make("a")
        self.remove("a")
        self.assertIsNone(self.get("a"))
        self.world.parts[0].start()
        self.make("b")
        self.wait_ready("b")
        self.assertEqual(self.calls("a"), [])

    def test_a_deletion_ends_the_reconcile_that_runs(self):
        self.begin(self.settings)
        self.scripted("a", "reconcile", {"hangs": True})
        self.make("a")
        self.make("b")
        self.wait_ready("b")
        wait_until("it runs", lambda: self.calls("a") == ["reconcile"], 30)
        self.remove("a")
        self.wait_gone("a")
        self.assertEqual(self.calls("a")[-1], "delete")

    def test_bad_input_is_said_and_others_go_on(self):
        self.begin(self.settings)
        self.scripted("rubbish", "reconcile", {"text": "{]"})
        self.scripted("silent", "reconcile", {"text": ""})
        self.scripted("huge", "reconcile", {"text": "x" * 2_000_000})
        self.scripted("status", "reconcile", {"answer": {"statusPatch": {"apiEndpoints": "nonsense"}}})
        for name in ("rubbish", "silent", "huge", "status"):
            self.make(name)
        self.management.must("POST", CLUSTERS, {
            "apiVersion": "cluster.k8s.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "bare"}})
        self.make("both", {"apiVersion": "any.example/v1"})
        self.change("both", {"spec": {"providerSpec": {"valueFrom": {"machineClass": {"name": "x"}}}}})
        self.make("good")
        self.wait_ready("good")
        self.wait_ready("bare")  # without a spec: the original could not even add its finalizer
        self.wait_said("both", "spec.providerSpec: has both value and valueFrom")
        self.wait_said("status", "status.apiEndpoints")
        for name in ("rubbish", "silent", "huge"):
            self.wait_said(name, "")
            wait_until(f"{name} failed", lambda name=name: self.status(name).get("errorReason") == "CreateError", 30)
        status, _ = self.management.request("POST", CLUSTERS, {
            "apiVersion": "cluster.k8s.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "odd"},
            "spec": {"providerSpec": {"value": "text"}}})
        self.assertEqual(status, 422)
        for name in ("rubbish", "silent", "huge", "status", "bare", "both"):
            self.remove(name)
        for name in ("rubbish", "silent", "huge", "status", "bare", "both"):
            self.wait_gone(name)

    def test_the_printed_rights_are_enough(self):
        user, path = "clusters-controller", "/apis/rbac.authorization.k8s.io/v1/clusterrole"
        printed = self.world.davit("check", "--rights", *self.files(self.settings))[1]
        rules = [{"apiGroups": [group], "resources": [resource], "verbs": verbs}
                 for group, resource, verbs in rules_of(printed)]
        self.assertGreater(len(rules), 2)
        for kind in ("s", "bindings"):
            self.management.request("DELETE", f"{path}{kind}/davit-clusters")
        self.management.must("POST", f"{path}s", {"metadata": {"name": "davit-clusters"}, "rules": rules})
        self.management.must("POST", f"{path}bindings", {
            "metadata": {"name": "davit-clusters"}, "subjects": [{"kind": "User", "name": user}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "davit-clusters"}})
        process = self.begin(self.settings, user=user)
        event = {"type": "Normal", "reason": "Tried", "message": "Once."}
        self.scripted("a", "reconcile", failing("UNAVAILABLE", "not now"), {"answer": {"events": [event, event]}})
        self.make("a")
        self.wait_ready("a")
        self.remove("a")
        self.wait_gone("a")
        self.assertNotIn("orbidden", process.text())
        self.assertNotIn("cannot", process.text())

    def test_the_definition_is_installed_once_and_mended(self):
        files = self.files(self.settings)
        path = f"{DEFINITIONS}/clusters.cluster.k8s.io"
        self.management.request("DELETE", path)
        wait_until("it is gone", lambda: self.management.get(path) is None, 30)
        said = [self.world.davit("clusters", "install", *files)[1].strip() for _ in range(2)]
        self.assertEqual(said, ["clusters.cluster.k8s.io is created", "clusters.cluster.k8s.io is unchanged"])
        self.management.patch(path, {"spec": {"names": {"shortNames": ["other"]}}})
        self.assertEqual(self.world.davit("clusters", "install", *files)[1].strip(),
                         "clusters.cluster.k8s.io is changed")
        self.assertEqual(self.management.get(path)["spec"]["names"]["shortNames"], ["cl"])


class OnKubernetes(Stories, ClustersCase):
    def test_children_are_not_looked_at(self):
        process = self.begin()
        self.make("a")
        self.wait_ready("a")
        self.remove("a")
        self.wait_gone("a")
        self.assertNotIn("machines", process.text())


class WithAdditionsOnKubernetes(Stories, ClustersCase):
    settings = ADDITIONS

    def test_machines_go_first(self):
        machines = "/apis/cluster.k8s.io/v1alpha1/namespaces/default/machines"
        self.begin(self.settings)
        self.install_machines()
        made = self.make("a")
        self.wait_ready("a")
        owner = {"apiVersion": "cluster.k8s.io/v1alpha1", "kind": "Cluster", "name": "a", "uid": made["metadata"]["uid"]}
        for machine in ("one", "two"):
            self.management.must("POST", machines, {
                "apiVersion": "cluster.k8s.io/v1alpha1", "kind": "Machine", "metadata": {
                    "name": machine, "ownerReferences": [owner], "labels": {"cluster.k8s.io/cluster-name": "a"}}})
        self.remove("a")
        self.wait_said("a", "2 MachineDeployments, MachineSets and Machines of it are being deleted first", "Deleting")
        self.assertEqual(self.calls("a"), ["reconcile"])
        # No garbage collector is here, which would take the finalizer off that a foreground deletion puts on.
        for (_, machine), found in self.management.items(machines).items():
            self.assertEqual(found["metadata"]["finalizers"], ["foregroundDeletion"])
            self.management.patch(f"{machines}/{machine}", {"metadata": {"finalizers": None}})
        self.wait_gone("a")
        self.assertEqual(self.calls("a"), ["reconcile", "delete"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
