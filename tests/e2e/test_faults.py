"""Faults: whatever dies, and whenever, the end state is that of the undisturbed run."""

import json
import random
import time
import unittest

from parts import Case, KubernetesCase, deployment, policy, wait_until
from stores import ON_POSTGRES

COUNT = 60


class OnMemory(Case):
    """Servers that die; the agent's cluster lives in its memory, so the agent itself stays."""

    def test_server_killed_at_random_loses_nothing(self):
        world = self.world
        server = world.server().start()
        agent = world.agent().start()
        world.wait_ready(server)
        moments = random.Random(7)
        for turn in range(6):
            world.apply([deployment(n, replicas=1 + turn % 3) for n in range(turn * 5, turn * 5 + 20)])
            time.sleep(moments.uniform(0, 0.3))
            server.kill()
            server.start()
            world.wait_ready(server)
        seen = world.wait_running([f"d_{n}" for n in range(45)], seconds=90)
        self.assertEqual(len(seen), 45)
        self.check_clean_end(agent, server)

    def test_acknowledged_commits_survive_kill(self):
        world = self.world
        server = world.server().start()
        world.wait_ready(server)
        acknowledged = {}
        for turn in range(5):
            documents = [deployment(100 * turn + n) for n in range(20)]
            world.apply(documents)
            acknowledged.update({d["id"]: d for d in documents})
            server.kill()
            server.start()
            world.wait_ready(server)
            self.assertEqual(set(acknowledged) - set(world.objects()), set())
        self.check_clean_end(server)

    def test_older_database_copied_back_orphans_but_deletes_nothing(self):
        world = self.world
        server = world.server().start()
        agent = world.agent().start()
        world.wait_ready(server)
        world.apply([deployment(n) for n in range(5)])
        world.wait_running([f"d_{n}" for n in range(5)])
        self.assertEqual(server.stop(), 0)
        world.store.save()
        server.start()
        world.wait_ready(server)
        world.apply([deployment(n) for n in range(5, 10)])
        world.wait_running([f"d_{n}" for n in range(10)])
        self.assertEqual(server.stop(), 0)
        world.store.bring_back()
        server.start()
        world.wait_ready(server)
        world.wait_running([f"d_{n}" for n in range(5)])

        def orphans():
            return {(i["namespace"], i["name"]) for a in world.status()["agents"] for i in a.get("issues", [])
                    if i["condition"] == "orphaned"}
        wait_until(lambda: f"five orphans, not {orphans()}; {agent.tail()}",
                   lambda: orphans() == {("shop", f"app-{n}") for n in range(5, 10)}, 60)
        # What comes again under the same name is adopted and no orphan any more.
        world.apply([deployment(5)])
        world.wait_running(["d_5"])
        wait_until("four orphans", lambda: len(orphans()) == 4, 60)
        self.check_clean_end(agent, server)

    def test_database_is_whole_after_kill_under_load(self):
        world = self.world
        server = world.server().start()
        world.wait_ready(server)
        for turn in range(3):
            world.apply([deployment(n, port=8000 + turn) for n in range(200)])
            server.kill()
            server.start()
            world.wait_ready(server)
        self.check_clean_end(server)
        if not ON_POSTGRES:
            self.assertEqual(world.store.ask("PRAGMA integrity_check"), [("ok",)])


class OnKubernetes(KubernetesCase):
    """Agents and API servers that die."""

    def start(self, namespace, agent_extra=""):
        world = self.world
        server = world.server().start()
        world.wait_ready(server)
        world.apply([deployment(n, namespace) for n in range(COUNT)])
        agent = world.agent(kubeconfig=self.kubernetes.kubeconfig, extra=agent_extra)
        return server, agent

    def check_end_state(self, namespace, numbers):
        world = self.world
        world.wait_running([f"d_{n}" for n in numbers], seconds=120)
        wait_until(lambda: f"exactly ours; {world.parts[1].tail()}", lambda: set(
            self.kubernetes.replica_sets([namespace])) == {(namespace, f"app-{n}") for n in numbers}, 60)

    def clean(self, namespace, *processes):
        for number in range(COUNT):
            self.world.delete("deployment", f"d_{number}")
        wait_until("nothing is left", lambda: not self.kubernetes.replica_sets([namespace]), 60)
        self.check_clean_end(*processes)

    def test_agent_killed_during_bootstrap(self):
        server, agent = self.start("fault-bootstrap")
        moments = random.Random(11)
        for _ in range(5):
            agent.start()
            time.sleep(moments.uniform(0.1, 1.0))
            agent.kill()
        agent.start()
        self.check_end_state("fault-bootstrap", range(COUNT))
        self.clean("fault-bootstrap", agent, server)

    def test_both_killed_and_a_delete_in_between(self):
        server, agent = self.start("fault-both")
        agent.start()
        self.check_end_state("fault-both", range(COUNT))
        agent.kill()
        self.world.delete("deployment", "d_0")
        self.world.apply([deployment(1, "fault-both", replicas=2)])
        server.kill()
        server.start()
        agent.start()
        self.world.wait_ready(server)
        self.check_end_state("fault-both", range(1, COUNT))
        self.assertEqual(self.kubernetes.replica_sets(["fault-both"])["fault-both", "app-1"]["spec"]["replicas"], 2)
        self.clean("fault-both", agent, server)

    def test_server_killed_in_mid_snapshot(self):
        server, agent = self.start("fault-snapshot")
        agent.start()
        for _ in range(4):
            time.sleep(0.2)
            server.kill()
            server.start()
            self.world.wait_ready(server)
        self.check_end_state("fault-snapshot", range(COUNT))
        self.clean("fault-snapshot", agent, server)

    def test_api_server_stopped_for_20_seconds(self):
        server, agent = self.start("fault-api")
        agent.start()
        self.check_end_state("fault-api", range(COUNT))
        self.kubernetes.rig_command("stop-apiserver")
        try:
            self.world.apply([deployment(0, "fault-api", replicas=3)])
            self.world.delete("deployment", "d_1")
            time.sleep(20)
            self.assertTrue(agent.alive(), agent.tail())
        finally:
            self.kubernetes.rig_command("start-apiserver")
        self.check_end_state("fault-api", [n for n in range(COUNT) if n != 1])
        self.assertEqual(self.kubernetes.replica_sets(["fault-api"])["fault-api", "app-0"]["spec"]["replicas"], 3)
        self.clean("fault-api", agent, server)

    def test_kind_whose_definition_is_not_installed_blocks_nobody(self):
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        one = f"{path}/ciliumnetworkpolicies.cilium.io"
        collection = "/apis/cilium.io/v2/namespaces/fault-definition/ciliumnetworkpolicies"
        definition = self.kubernetes.request("GET", one)[1]
        self.kubernetes.request("DELETE", one)
        wait_until("the definition is gone", lambda: self.kubernetes.request("GET", one)[0] == 404)
        wait_until("so are its paths", lambda: self.kubernetes.request("GET", collection)[0] == 404)
        try:
            server, agent = self.start("fault-definition")
            agent.start()
            self.world.apply([policy(1, "fault-definition"), policy(2, "fault-definition")])
            self.check_end_state("fault-definition", range(COUNT))
            wait_until(lambda: self.world.davit("status")[1],
                       lambda: "the API server knows no such resource: is its definition installed?"
                       in self.world.davit("status")[1])
            # What cannot be there is deleted.
            self.world.delete("cilium_network_policy", "net_1")
            wait_until(lambda: self.world.davit("status")[1],
                       lambda: "net_1" not in self.world.davit("status")[1])
        finally:
            self.kubernetes.request("POST", path, {
                "metadata": {"name": definition["metadata"]["name"]}, "spec": definition["spec"]})
        self.world.wait_running(["net_2"], kind="cilium_network_policy", seconds=60)
        self.world.delete("cilium_network_policy", "net_2")
        wait_until("the policy is gone", lambda: not self.kubernetes.items(collection))
        self.clean("fault-definition", agent, server)

    def test_policy_that_speaks_of_immutable_deletes_nothing(self):
        """A denial is no word about fields, and a selector that cannot change is none about a successor."""
        server, agent = self.start("fault-policy")
        agent.start()
        self.check_end_state("fault-policy", range(COUNT))
        sets = "/apis/apps/v1/namespaces/fault-policy/replicasets"
        labels = {"a": "b", "davit.dev/region": "eu-test-1"}
        other = {"metadata": {"name": "app-900", "labels": labels}, "spec": {
            "replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": {
                "metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}}
        self.assertEqual(self.kubernetes.request("POST", sets, other)[0], 201)
        before = self.uids(sets)
        rules = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
        self.kubernetes.request("POST", rules + "ies", {"metadata": {"name": "immutable-tags"}, "spec": {
            "failurePolicy": "Fail", "matchConstraints": {"resourceRules": [{
                "apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["replicasets"]}]},
            "validations": [{"expression": "object.metadata.namespace != 'fault-policy' || "
                             "object.spec.template.spec.containers.all(c, c.image.contains('@'))",
                             "message": "field is immutable"}]}})
        self.kubernetes.request("POST", rules + "ybindings", {"metadata": {"name": "immutable-tags"}, "spec": {
            "policyName": "immutable-tags", "validationActions": ["Deny"]}})
        wanted = ["d_0", "d_900"]
        try:
            wait_until("the policy denies", lambda: self.kubernetes.request(
                "POST", sets + "?dryRun=All", {**other, "metadata": {"name": "app-901"}})[0] == 422)
            self.world.apply([deployment(0, "fault-policy", image="registry.example/app:2"), deployment(900, "fault-policy")])

            def parked():
                return {i["id"]: i["reason"] for a in self.world.status()["agents"] for i in a.get("issues", [])
                        if i["condition"] == "parked" and "'immutable-tags'" in i["reason"]}
            wait_until(lambda: f"parked: {parked()}; {agent.tail()}", lambda: sorted(parked()) == wanted, 30)
            self.assertEqual(self.uids(sets), before)
        finally:
            self.kubernetes.request("DELETE", rules + "ybindings/immutable-tags")
            self.kubernetes.request("DELETE", rules + "ies/immutable-tags")
        wait_until("the policy is gone", lambda: self.kubernetes.request(
            "POST", sets + "?dryRun=All", {**other, "metadata": {"name": "app-901"}})[0] == 201)
        self.world.apply([deployment(0, "fault-policy", image="registry.example/app:3"),
                          deployment(900, "fault-policy", replicas=2)])
        self.world.wait_running(wanted)
        after = self.uids(sets)
        self.assertNotEqual(after.pop("app-900"), before.pop("app-900"))
        self.assertEqual(after, before)
        self.world.delete("deployment", "d_900")
        self.clean("fault-policy", agent, server)

    def uids(self, collection):
        return {o["metadata"]["name"]: o["metadata"]["uid"] for o in self.kubernetes.items(collection)}

    def test_record_that_kubernetes_refuses_is_parked_and_blocks_nobody(self):
        server, agent = self.start("fault-parked")
        agent.start()
        self.check_end_state("fault-parked", range(COUNT))
        # Valid for us, refused by the API server: the selector of a ReplicaSet cannot change.
        status, answer = self.kubernetes.request("POST", "/apis/apps/v1/namespaces/fault-parked/replicasets", {
            "metadata": {"name": "app-900"}, "spec": {"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": {
                "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}})
        self.assertEqual(status, 201, answer)
        self.world.apply([deployment(900, "fault-parked")])
        self.world.apply([deployment(0, "fault-parked", replicas=2)])
        self.world.wait_running(["d_0"])

        def parked():
            return [i for a in self.world.status()["agents"] for i in a.get("issues", [])
                    if i["condition"] == "parked" and i["id"] == "d_900"]
        issues = wait_until(lambda: f"parked; {agent.tail()}", parked, 30)
        self.assertIn("selector", issues[0]["reason"])
        code, out, err = self.world.davit("apply", "-f", "-", "--wait", "--timeout", "30s", check=False,
                                          stdin='{"kind": "deployment", "region": "eu-test-1", "id": "d_900", "spec": '
                                          + json.dumps(deployment(900, "fault-parked")["spec"]) + "}")
        self.assertEqual(code, 7, out + err)
        self.assertIn("parked", out + err)
        self.world.delete("deployment", "d_900")
        self.kubernetes.request("DELETE", "/apis/apps/v1/namespaces/fault-parked/replicasets/app-900")
        self.clean("fault-parked", agent, server)


if __name__ == "__main__":
    unittest.main(verbosity=2)
