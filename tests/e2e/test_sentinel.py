"""A sentinel's way: a Deployment and its companions, their status, and nothing of them after the delete."""

import json
import unittest

from parts import PROTOCOLS, REGION, Case, KubernetesCase, sentinel, wait_until

NAMESPACE = "sentinel"
# What a sentinel called NAME is in a cluster: path of the collection and name.
COMPANIONS = (
    (f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments", "{}"),
    (f"/api/v1/namespaces/{NAMESPACE}/services", "{}"),
    (f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets", "{}"),
    (f"/api/v1/namespaces/{NAMESPACE}/services", "{}-gossip-lan"),
    (f"/apis/cilium.io/v2/namespaces/{NAMESPACE}/ciliumnetworkpolicies", "{}-gossip-lan"),
)


class Steps(Case):
    """What both have in common."""

    def rows(self):
        """All rows of `davit status`, those of deleted records that still have objects, too."""
        return {o["id"]: o for o in self.world.status().get("objects", []) if o["kind"] == "sentinel"
                and (o.get("live", False) or not o.get("observed", {"gone": True}).get("gone", False))}

    def start(self, protocol, server_extra="", **options):
        world = self.world
        server = world.server(extra=server_extra).start()
        world.wait_ready(server)
        return server, world.agent(protocol=protocol, **options).start()

    def wait_gone(self, ids):
        """A row of a dead record disappears when the agent says that no object is left."""
        wait_until(lambda: f"gone: {json.dumps(self.rows())}\n" + "\n".join(p.tail() for p in self.world.parts),
                   lambda: not set(ids) & set(self.rows()), 60)


class OnMemory(Steps):
    def trip(self, protocol):
        world = self.world
        server, agent = self.start(protocol)
        world.apply([sentinel(n, replicas=n) for n in range(4)])
        seen = world.wait_running([f"s_{n}" for n in range(4)], kind="sentinel")
        self.assertEqual([int(seen[f"s_{n}"]["observed"].get("ready", 0)) for n in range(4)], [0, 1, 2, 3])
        # Healthy means that the Deployment and all its companions were seen.
        self.assertEqual([seen[f"s_{n}"]["observed"]["health"] for n in range(4)], ["paused"] + 3 * ["healthy"])
        self.assertEqual(seen["s_3"]["namespace"], NAMESPACE)

        world.apply([sentinel(1, replicas=2), sentinel(2, replicas=2, image="registry.example/sentinel:2")])
        seen = world.wait_running(["s_1", "s_2"], kind="sentinel")
        self.assertEqual(int(seen["s_1"]["observed"]["ready"]), 2)

        world.delete("sentinel", "s_3")
        world.apply([{**sentinel(2), "state": "standby"}])
        self.wait_gone(["s_3", "s_2"])
        self.assertEqual(set(world.objects("sentinel")), {"s_0", "s_1"})
        self.check_clean_end(agent, server)

    def test_davit_v1(self):
        self.trip("davit.v1")

    def test_ctrl_v1(self):
        self.trip("ctrl.v1")

    def test_the_server_says_where_and_what_zero_means(self):
        world = self.world
        self.start("davit.v1", '[plugin.sentinel]\nnamespace = "edges"\nzero_is_delete = true\n')
        world.apply([sentinel(1), sentinel(2)])
        seen = world.wait_running(["s_1", "s_2"], kind="sentinel")
        self.assertEqual(seen["s_1"]["namespace"], "edges")
        world.apply([sentinel(1, replicas=0)])
        self.wait_gone(["s_1"])
        self.assertEqual(set(self.rows()), {"s_2"})

    def test_what_no_cluster_would_take_is_refused(self):
        self.world.wait_ready(self.world.server().start())
        for more, fault in (({"k8s_name": "Edge"}, "k8s_name"), ({"replicas": -1}, "replicas"),
                            ({"cpu_millicores": "0"}, "cpu_millicores"), ({"image": ""}, "image"),
                            ({"k8s_name": "e" * 53}, "at most 52")):
            document = sentinel(1, **{"replicas": 1, **more})
            code, out, err = self.world.davit("apply", "-f", "-", stdin=json.dumps(document), check=False)
            self.assertNotEqual(code, 0, more)
            self.assertIn(fault, out + err)
        self.assertEqual(self.world.objects("sentinel"), {})


class OnKubernetes(KubernetesCase, Steps):
    """The same on a real API server, whose own controllers make the pods; every object is looked at."""

    def found(self, name):
        """The live objects of a sentinel; None where one is not there."""
        out = []
        for path, called in COMPANIONS:
            status, answer = self.kubernetes.request("GET", f"{path}/{called.format(name)}")
            out.append(answer if status == 200 else None)
        return out

    def trip(self, protocol):
        world = self.world
        # Pods there tolerate nothing and have no Secrets; to be available they need not stay ready for long.
        server, agent = self.start(protocol, kubeconfig=self.kubernetes.kubeconfig,
                                   extra="[plugin.sentinel]\nmin_ready_s = 1\nsecrets = []\n")
        world.apply([sentinel(1, replicas=2), sentinel(2, replicas=1)])
        world.wait_running(["s_1", "s_2"], kind="sentinel", seconds=120)
        deployment, service, budget, gossip, policy = self.found("edge-1")
        self.assertEqual(deployment["status"]["availableReplicas"], 2)
        owner = deployment["metadata"]["uid"]
        self.assertEqual([o["metadata"]["ownerReferences"][0]["uid"] for o in (service, budget)], [owner, owner])
        self.assertEqual(service["spec"]["ports"][0]["targetPort"], 8040)
        self.assertEqual(budget["spec"]["maxUnavailable"], 1)
        self.assertEqual(self.found("edge-2")[2]["spec"]["minAvailable"], 1)
        self.assertEqual(gossip["spec"]["clusterIP"], "None")
        self.assertEqual(policy["spec"]["endpointSelector"]["matchLabels"]["unkey.com/environment.id"], "env_1")
        config = deployment["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"]
        self.assertIn(f'region = "{REGION}"', config)

        self.kubernetes.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}/services/edge-1")
        wait_until("the Service is back", lambda: self.found("edge-1")[1] is not None)
        world.apply([sentinel(1, replicas=2, image="registry.example/sentinel:2")])
        world.wait_running(["s_1"], kind="sentinel", seconds=120)

        # One is deleted while the agent is away: it must find the objects that an earlier process made.
        agent.stop()
        world.delete("sentinel", "s_1")
        agent.start()
        world.delete("sentinel", "s_2")
        self.wait_gone(["s_1", "s_2"])
        self.assertEqual(self.found("edge-1") + self.found("edge-2"), 10 * [None])
        self.check_clean_end(agent, server)

    def test_both_protocols(self):
        for protocol in PROTOCOLS:
            with self.subTest(protocol):
                self.trip(protocol)
                self.tearDown()
                self.setUp()


if __name__ == "__main__":
    unittest.main(verbosity=2)
