"""The main job: a deployment travels from storage into a Kubernetes API, and its status comes back."""

import copy
import json
import unittest

from expected import missing
from parts import (PROTOCOLS, REGION, REPOSITORY, Case, KubernetesCase, deployment, is_running, policy,
                   wait_until)

GOLDEN = REPOSITORY / "tests/plugins/kind_deployment/golden"
# The golden files that are of the site that the shipped configuration describes, and that its nodes have room for.
CASES = ("minimal", "everything", "post_probe", "sigint", "sigkill", "tiny_resources", "odd_resources",
         "zero_replicas", "empty_secrets")
TEMPLATE_HASH = "davit.dev/template-hash"  # covers the names, which differ here


def of_golden_file(number, namespace):
    """Returns (document, the ReplicaSet it must become): a golden file under names of its own."""
    case = json.loads((GOLDEN / f"{CASES[number % len(CASES)]}.json").read_text(encoding="utf-8"))
    spec = case["apply"]
    names = {spec["k8s_namespace"]: namespace, spec["k8s_name"]: f"app-{number}", spec["deployment_id"]: f"d_{number}",
             spec["k8s_name"] + "-": f"app-{number}-"}
    expected = next(r["object"] for r in case["rendered"] if r["object"]["kind"] == "ReplicaSet")
    document = deployment(number, namespace)
    document["spec"] = renamed(spec, names)
    expected = renamed(expected, names)
    expected["spec"]["template"]["metadata"].get("annotations", {}).pop(TEMPLATE_HASH, None)
    del expected["apiVersion"], expected["kind"]  # a list's items do not repeat them
    return document, expected


def renamed(value, names):
    if isinstance(value, dict):
        return {k: renamed(v, names) for k, v in value.items()}
    if isinstance(value, list):
        return [renamed(v, names) for v in value]
    return names.get(value, value) if isinstance(value, str) else value


class OnMemory(Case):
    """The whole way with a cluster in the agent's memory: what `make run` shows; also under sanitizers."""

    def trip(self, protocol):
        world = self.world
        server = world.server().start()
        world.wait_ready(server)
        world.apply([deployment(n, replicas=n % 3) for n in range(20)])
        agent = world.agent(protocol=protocol).start()
        world.wait_running([f"d_{n}" for n in range(20)])

        world.apply([deployment(3, replicas=4)])
        seen = world.wait_running(["d_3"])
        self.assertEqual(int(seen["d_3"]["observed"]["ready"]), 4)

        world.delete("deployment", "d_5")
        wait_until("d_5 is gone", lambda: "d_5" not in world.objects())
        self.check_clean_end(agent, server)

    def test_davit_v1(self):
        self.trip("davit.v1")

    def test_ctrl_v1(self):
        self.trip("ctrl.v1")

    def test_restart_of_both_changes_nothing(self):
        world = self.world
        server = world.server().start()
        agent = world.agent().start()
        world.wait_ready(server)
        world.apply([deployment(n) for n in range(10)])
        before = world.wait_running([f"d_{n}" for n in range(10)])
        self.check_clean_end(agent, server)
        server.start()
        agent.start()
        world.wait_ready(server)
        after = world.wait_running([f"d_{n}" for n in range(10)])
        self.assertEqual({i: o["version"] for i, o in before.items()}, {i: o["version"] for i, o in after.items()})


class OnKubernetes(KubernetesCase):
    """The same on a real API server with its controllers, scheduler and simulated kubelets."""

    COUNT = 100

    def test_trip_over_both_protocols(self):
        for protocol in PROTOCOLS:
            with self.subTest(protocol):
                self.trip(protocol)
                self.tearDown()
                self.setUp()

    def trip(self, protocol):
        world, kubernetes = self.world, self.kubernetes
        namespaces = [f"trip-{protocol.replace('.', '-')}-{n}" for n in range(5)]
        golden = [of_golden_file(n, namespaces[n % 5]) for n in range(self.COUNT)]
        documents = [document for document, _ in golden]
        ids = [d["id"] for d in documents]
        server = world.server().start()
        agent = world.agent(protocol=protocol, kubeconfig=kubernetes.kubeconfig,
                            extra="[plugin.applier]\nresync_interval_ms = 3000\n").start()
        world.wait_ready(server)
        world.apply(documents + [policy(1, namespaces[0])])
        seen = world.wait_running(ids, seconds=300)
        for document in documents:
            self.assertEqual(int(seen[document["id"]]["observed"]["ready"]), document["spec"]["replicas"])
        live = kubernetes.replica_sets(namespaces)
        self.assertEqual(set(live), {(d["spec"]["k8s_namespace"], d["spec"]["k8s_name"]) for d in documents})
        for document, expected in golden:
            name = document["spec"]["k8s_namespace"], document["spec"]["k8s_name"]
            self.assertEqual(missing(expected, live[name]), [], name)
        found, _ = kubernetes.request(
            "GET", f"/apis/cilium.io/v2/namespaces/{namespaces[0]}/ciliumnetworkpolicies/policy-1")
        self.assertEqual(found, 200)

        foreign = self.make_foreign(namespaces[0])
        self.changes_arrive(namespaces, documents)
        self.repairs(namespaces, documents)
        self.deletes_leave_nothing(namespaces, documents)
        self.assertEqual(kubernetes.request("GET", foreign)[0], 200, "an object of others was touched")
        kubernetes.request("DELETE", foreign)
        self.check_clean_end(agent, server)

    def make_foreign(self, namespace):
        """An object of somebody else in one of our namespaces."""
        path = f"/api/v1/namespaces/{namespace}/configmaps"
        status, answer = self.kubernetes.request("POST", path, {"metadata": {"name": "foreign"}, "data": {"a": "b"}})
        self.assertEqual(status, 201, answer)
        return path + "/foreign"

    def changes_arrive(self, namespaces, documents):
        """A scale and a changed environment reach the API."""
        scaled, moved = copy.deepcopy(documents[0]), copy.deepcopy(documents[1])
        scaled["spec"]["replicas"] = 5
        moved["spec"]["project_id"] = "proj_2"
        self.world.apply([scaled, moved])
        self.world.wait_running(["d_0", "d_1"], seconds=120)
        sets = self.kubernetes.replica_sets(namespaces)
        self.assertEqual(sets[namespaces[0], "app-0"]["spec"]["replicas"], 5)
        template = sets[namespaces[1], "app-1"]["spec"]["template"]
        environment = {e["name"]: e.get("value") for e in template["spec"]["containers"][0]["env"]}
        self.assertEqual(environment["UNKEY_PROJECT_ID"], "proj_2")

    def repairs(self, namespaces, documents):
        """Deleted or edited behind our back: back within a resync."""
        path = f"/apis/apps/v1/namespaces/{namespaces[2]}/replicasets"
        self.kubernetes.request("DELETE", f"{path}/app-2")
        edit = {"metadata": {"labels": {"unkey.com/project.id": "edited"}}, "spec": {"replicas": 9}}
        status, answer = self.kubernetes.request("PATCH", f"{path}/app-7", edit, "application/merge-patch+json")
        self.assertEqual(status, 200, answer)

        def repaired():
            sets = self.kubernetes.replica_sets(namespaces)
            edited = sets.get((namespaces[2], "app-7"), {})
            wanted = documents[7]["spec"]["replicas"]
            return ((namespaces[2], "app-2") in sets and edited.get("spec", {}).get("replicas") == wanted
                    and edited["metadata"]["labels"]["unkey.com/project.id"] == documents[7]["spec"]["project_id"])
        wait_until(lambda: "repaired; " + self.world.parts[1].tail(), repaired, 30)

    def deletes_leave_nothing(self, namespaces, documents):
        for document in documents:
            self.world.delete("deployment", document["id"])
        self.world.delete("cilium_network_policy", "net_1")
        wait_until(lambda: f"nothing is left, not {list(self.kubernetes.replica_sets(namespaces))[:5]}",
                   lambda: not self.kubernetes.replica_sets(namespaces), 60)
        wait_until("no pods and no policies are left", lambda: not [
            p for n in namespaces for p in self.kubernetes.items(f"/api/v1/namespaces/{n}/pods")] and not [
            p for p in self.kubernetes.items("/apis/cilium.io/v2/ciliumnetworkpolicies")], 60)
        self.assertFalse(self.world.objects())
        self.assertFalse(any(is_running(o) for o in self.world.objects().values()))
        self.assertEqual(REGION, self.world.status()["agents"][0]["region"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
