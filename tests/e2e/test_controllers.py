"""Workloads as ReplicaSets, Deployments and StatefulSets on a real API server with Kubernetes' own controllers.

How many pods are ready is counted from the API server's watch events.
"""

import copy
import json
import unittest

import parts
from parts import deployment, wait_until
from ready_pods import ReadyPods

NAMESPACE = "kinds"
RESOURCES = {"replica_set": "replicasets", "deployment": "deployments", "stateful_set": "statefulsets"}
SETTINGS = """
[plugin.deployment]
controllers = ["replica_set", "deployment", "stateful_set"]
min_ready_s = 1
replace_after_s = 0
disruption_budget = {}
"""


class OnKubernetes(parts.KubernetesCase):
    def begin(self, settings=SETTINGS):
        self.server = self.world.server(extra=settings).start()
        self.world.wait_ready(self.server)
        self.agent = self.world.agent(kubeconfig=self.kubernetes.kubeconfig, extra=settings)
        self.agent.start()

    def tearDown(self):
        super().tearDown()
        for resource in RESOURCES.values():  # what a failed test has left
            self.kubernetes.request("DELETE", f"/apis/apps/v1/namespaces/{NAMESPACE}/{resource}")
        wait_until("no pod is left", lambda: not self.pods(), 60)

    def path(self, controller, name=""):
        return f"/apis/apps/v1/namespaces/{NAMESPACE}/{RESOURCES[controller]}" + (f"/{name}" if name else "")

    def pods(self, number=None):
        selector = "" if number is None else f"unkey.com/deployment.id=d_{number}"
        return self.kubernetes.items(f"/api/v1/namespaces/{NAMESPACE}/pods", selector)

    def there(self, name):
        """Which controllers of this name there are."""
        return [c for c in RESOURCES if self.kubernetes.request("GET", self.path(c, name))[0] == 200]

    def settled(self, number, controller, image, replicas):
        """The controller alone, with its pods and no others, and all of it reported."""
        def holds():
            pods = self.pods(number)
            return (self.there(f"app-{number}") == [controller] and len(pods) == replicas
                    and {p["spec"]["containers"][0]["image"] for p in pods} <= {image}
                    and not any("deletionTimestamp" in p["metadata"] for p in pods))
        wait_until(lambda: f"{controller} {image} x{replicas}: {self.there(f'app-{number}')} "
                           f"{[(p['metadata']['name'], p['spec']['containers'][0]['image']) for p in self.pods(number)]}"
                           f" {self.world.objects().get(f'd_{number}')} {self.agent.tail()}", holds, 120)
        self.world.wait_running([f"d_{number}"], seconds=120)

    def test_the_same_table_for_all_three(self):
        self.begin()
        numbers = dict(enumerate(RESOURCES))

        def want(image, replicas):
            self.world.apply([deployment(n, NAMESPACE, replicas, controller=c, image=image)
                              for n, c in numbers.items()])
            for number, controller in numbers.items():
                self.settled(number, controller, image, replicas)
        want("registry.example/app:1", 2)
        want("registry.example/app:2", 2)
        want("registry.example/app:2", 3)
        want("registry.example/app:2", 1)
        # The pods are reported as those of a ReplicaSet are.
        for number in numbers:
            seen = self.world.objects()[f"d_{number}"]["observed"]
            self.assertEqual([c["name"] for c in seen["children"]],
                             [p["metadata"]["name"] for p in self.pods(number)])
        # Edits with kubectl: of the number, of the template, of the whole object.
        for number, controller in numbers.items():
            container = {"name": "deployment", "image": "registry.example/evil:1"}
            for edit in ({"spec": {"replicas": 4}},
                         {"spec": {"template": {"spec": {"containers": [container]}}}}):
                status, said = self.kubernetes.request(
                    "PATCH", self.path(controller, f"app-{number}"), edit,
                    "application/strategic-merge-patch+json")
                self.assertEqual(status, 200, said)
        for number, controller in numbers.items():
            self.settled(number, controller, "registry.example/app:2", 1)
            self.assertEqual(self.kubernetes.request("DELETE", self.path(controller, f"app-{number}"))[0], 200)
        for number, controller in numbers.items():
            self.settled(number, controller, "registry.example/app:2", 1)
        service = f"/api/v1/namespaces/{NAMESPACE}/services"
        self.assertEqual([s["metadata"]["name"] for s in self.kubernetes.items(service)], ["app-2"])
        for number in numbers:
            self.world.delete("deployment", f"d_{number}")
        self.world.wait_gone()
        self.assertEqual([self.there(f"app-{n}") for n in numbers], [[], [], []])
        self.assertEqual((self.pods(), self.kubernetes.items(service)), ([], []))
        self.check_clean_end(self.agent, self.server)

    def test_a_change_of_the_controller_has_no_gap(self):
        """Between all pairs, one of them together with a new image, and one with an agent that is killed."""
        self.begin()
        way = ["replica_set", "deployment", "stateful_set", "replica_set", "stateful_set", "deployment",
               "replica_set"]
        image = "registry.example/app:1"
        self.world.apply([deployment(7, NAMESPACE, 3, controller=way[0])])
        self.settled(7, way[0], image, 3)
        ready = ReadyPods(self.kubernetes, NAMESPACE)
        for step, controller in enumerate(way[1:]):
            with self.subTest(before=way[step], after=controller):
                if step == 3:
                    image = "registry.example/app:2"
                ready.begin()
                self.world.apply([deployment(7, NAMESPACE, 3, controller=controller, image=image)])
                if step == 4:
                    # Mostly the old one is still there. That both are may be over before somebody looks.
                    wait_until("the new one is there", lambda: controller in self.there("app-7"))
                    self.agent.kill()
                    self.agent.start()
                self.settled(7, controller, image, 3)
                self.assertGreaterEqual(ready.counts()["d_7"], 3)
        # Where the cluster has no room for the new pods, the old ones stay, and the status says so.
        ready.begin()
        self.world.apply([deployment(7, NAMESPACE, 3, controller="stateful_set", image=image,
                                     pod={"node_selector": {"no": "node"}})])
        wait_until(lambda: self.world.objects()["d_7"], lambda: "the replica set stays until enough pods of the "
                   "stateful set are available: 0 of 3" in self.world.objects()["d_7"]["observed"].get("message", ""))
        self.assertEqual(self.there("app-7"), ["replica_set", "stateful_set"])
        self.world.apply([deployment(7, NAMESPACE, 3, controller="replica_set", image=image)])
        self.settled(7, "replica_set", image, 3)
        self.assertGreaterEqual(ready.counts()["d_7"], 3)
        self.world.delete("deployment", "d_7")
        self.world.wait_gone()
        self.check_clean_end(self.agent, self.server)

    def deleted_by_us(self):
        """The names of pods, by the API server's audit log."""
        lines = (self.kubernetes.folder / "logs/audit.log").read_text(encoding="utf-8").splitlines()
        asked = [e for e in map(json.loads, lines) if e["objectRef"].get("namespace") == NAMESPACE]
        return [e["objectRef"].get("name", "all") for e in asked if e["userAgent"].startswith("davit/")]

    def roll(self, least, more):
        """New images for twelve workloads at once, twice, the second one before the first is everywhere. Kubernetes then
        begins anew with the highest pod of a StatefulSet, also while another one is not ready yet: one more is away.
        A third image comes when all is quiet. Kubernetes then takes one pod of a StatefulSet at a time, as far as it
        sees: simulated kubelets let a pod go at once, so that on a busy machine its view is older than two deletions.
        None of those deletions is ours."""
        numbers = range(10, 22)
        controllers = {n: list(RESOURCES)[n % 3] for n in numbers}

        def want(image):
            self.world.apply([deployment(n, NAMESPACE, 3, controller=c, image=image, **more)
                              for n, c in controllers.items()])
        want("registry.example/app:1")
        self.world.wait_running([f"d_{n}" for n in numbers], seconds=120)
        ready = ReadyPods(self.kubernetes, NAMESPACE)
        ready.begin()
        want("registry.example/app:2")
        wait_until("one is new", lambda: any(p["spec"]["containers"][0]["image"].endswith(":2") for p in self.pods()))
        want("registry.example/app:3")
        for number, controller in controllers.items():
            self.settled(number, controller, "registry.example/app:3", 3)
        def too_few():
            counts = ready.counts()
            return {n: counts[f"d_{n}"] for n in numbers if counts[f"d_{n}"] < least[controllers[n]]}
        self.assertEqual(too_few(), {})
        ready.begin()
        want("registry.example/app:4")
        for number, controller in controllers.items():
            self.settled(number, controller, "registry.example/app:4", 3)
        self.assertEqual(too_few(), {})
        deleted = self.deleted_by_us()
        by_controller = {c: [p for p in deleted for n in numbers if controllers[n] == c and p.startswith(f"app-{n}-")]
                         for c in RESOURCES}
        self.assertEqual((by_controller["deployment"], by_controller["stateful_set"]), ([], []))
        self.assertNotEqual(by_controller["replica_set"], [])
        for number in numbers:
            self.world.delete("deployment", f"d_{number}")
        self.world.wait_gone()
        self.check_clean_end(self.agent, self.server)

    def test_a_rollout_takes_one_pod_at_a_time(self):
        self.begin()
        self.roll({"replica_set": 2, "deployment": 2, "stateful_set": 1}, {})

    def test_a_rollout_with_a_surge_takes_none(self):
        self.begin(SETTINGS + "max_unavailable = 0\nmax_surge = 1\n")
        self.roll({"replica_set": 3, "deployment": 3, "stateful_set": 1}, {})

    def test_a_stateful_set_that_cannot_be_changed_is_made_anew_around_its_pods(self):
        self.begin()
        self.world.apply([deployment(30, NAMESPACE, 2, controller="stateful_set")])
        self.settled(30, "stateful_set", "registry.example/app:1", 2)
        self.agent.kill()
        path = self.path("stateful_set", "app-30")
        before = {p["metadata"]["uid"] for p in self.pods(30)}
        found = self.kubernetes.request("GET", path)[1]
        self.assertEqual(found["spec"]["podManagementPolicy"], "Parallel")
        self.kubernetes.request("DELETE", path, {"propagationPolicy": "Orphan"})
        wait_until("it is gone", lambda: self.kubernetes.request("GET", path)[0] == 404)
        other = copy.deepcopy(found)
        other["spec"]["podManagementPolicy"] = "OrderedReady"
        other["spec"]["serviceName"] = "elsewhere"
        other["metadata"] = {k: found["metadata"][k] for k in ("name", "namespace", "labels", "annotations")}
        status, said = self.kubernetes.request("POST", self.path("stateful_set"), other)
        self.assertEqual(status, 201, said)
        wait_until("its pods are adopted", lambda: all(p["metadata"].get("ownerReferences", [{}])[0].get("uid")
                                                       == said["metadata"]["uid"] for p in self.pods(30)))
        self.agent.start()

        def spec():
            return self.kubernetes.request("GET", path)[1].get("spec", {})
        wait_until(lambda: f"{spec()} {self.agent.tail()}", lambda: spec().get("podManagementPolicy") == "Parallel"
                   and spec()["serviceName"] == "app-30", 60)
        self.settled(30, "stateful_set", "registry.example/app:1", 2)
        uid = self.kubernetes.request("GET", path)[1]["metadata"]["uid"]
        wait_until("its pods are adopted", lambda: all(
            p["metadata"].get("ownerReferences", [{}])[0].get("uid") == uid for p in self.pods(30)))
        self.assertEqual({p["metadata"]["uid"] for p in self.pods(30)}, before, "no pod was replaced")
        self.world.delete("deployment", "d_30")
        self.world.wait_gone()
        self.check_clean_end(self.agent, self.server)

    def test_pods_without_their_stateful_set_go_with_the_record(self):
        """The agent is killed when the old StatefulSet is gone and the new one is not there, and misses the deletion."""
        self.begin()
        self.world.apply([deployment(31, NAMESPACE, 2, controller="stateful_set")])
        self.settled(31, "stateful_set", "registry.example/app:1", 2)
        self.agent.kill()
        path = self.path("stateful_set", "app-31")
        self.kubernetes.request("DELETE", path, {"propagationPolicy": "Orphan"})
        wait_until("nothing controls them", lambda: len(self.pods(31)) == 2 and not any(
            p["metadata"].get("ownerReferences") for p in self.pods(31)))
        self.world.delete("deployment", "d_31")
        self.agent.start()
        self.world.wait_gone()
        self.assertEqual(self.pods(31), [])
        self.check_clean_end(self.agent, self.server)

    def test_pods_that_are_refused_are_in_the_status_of_each_controller(self):
        self.begin()
        quota = f"/api/v1/namespaces/{NAMESPACE}/resourcequotas"
        self.kubernetes.request("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        status, said = self.kubernetes.request("POST", quota, {"metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}})
        self.assertEqual(status, 201, said)
        self.addCleanup(self.kubernetes.request, "DELETE", f"{quota}/none")
        wait_until("it counts", lambda: self.kubernetes.request("GET", f"{quota}/none")[1].get("status", {}).get("hard"))
        reasons = {"replica_set": "replica set: FailedCreate: ", "deployment": "exceeded quota: none",
                   "stateful_set": "stateful set: 0 of 1 pods are made; `kubectl describe statefulset app-52` says why"}
        numbers = {50 + n: c for n, c in enumerate(RESOURCES)}
        self.world.apply([deployment(n, NAMESPACE, 1, controller=c) for n, c in numbers.items()])
        for number, controller in numbers.items():
            def message():
                return self.world.objects().get(f"d_{number}", {}).get("observed", {}).get("message", "")
            wait_until(lambda: f"{controller}: {message()} {self.agent.tail()}", lambda: reasons[controller] in message())
        for number in numbers:
            self.world.delete("deployment", f"d_{number}")
        self.world.wait_gone()
        self.check_clean_end(self.agent, self.server)

    def test_an_autoscaler_follows_the_controller(self):
        self.begin()
        path = f"/apis/autoscaling/v2/namespaces/{NAMESPACE}/horizontalpodautoscalers/app-60"
        bounds = {"min_replicas": 2, "max_replicas": 4}

        def scales():
            return self.kubernetes.request("GET", path)[1].get("spec", {}).get("scaleTargetRef", {}).get("kind")
        ready = ReadyPods(self.kubernetes, NAMESPACE)
        for step, controller in enumerate(("replica_set", "deployment", "stateful_set", "replica_set")):
            with self.subTest(controller=controller):
                self.world.apply([deployment(60, NAMESPACE, None, controller=controller, autoscaling=bounds)])
                self.settled(60, controller, "registry.example/app:1", 2)
                wait_until(lambda: f"{scales()} {self.agent.tail()}", lambda: scales() == {
                    "replica_set": "ReplicaSet", "deployment": "Deployment", "stateful_set": "StatefulSet"}[controller])
                if step > 0:
                    self.assertGreaterEqual(ready.counts()["d_60"], 2)
                ready.begin()
        self.world.delete("deployment", "d_60")
        self.world.wait_gone()
        self.assertEqual(self.kubernetes.request("GET", path)[0], 404)
        self.check_clean_end(self.agent, self.server)

    def test_a_disruption_budget_belongs_to_its_workload(self):
        self.begin()
        numbers = {40 + i: c for i, c in enumerate(RESOURCES)}
        path = f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets"

        def want(**more):
            self.world.apply([deployment(n, NAMESPACE, 2, controller=c, **more) for n, c in numbers.items()])
        want(disruption_budget={"max_unavailable": "1"})
        for number, controller in numbers.items():
            self.settled(number, controller, "registry.example/app:1", 2)

        def budgets():
            return {b["metadata"]["name"]: b for b in self.kubernetes.items(path)}
        wait_until(budgets, lambda: [b["status"].get("disruptionsAllowed") for b in budgets().values()] == [1, 1, 1])
        for number, controller in numbers.items():
            owners = budgets()[f"app-{number}"]["metadata"]["ownerReferences"]
            uid = self.kubernetes.request("GET", self.path(controller, f"app-{number}"))[1]["metadata"]["uid"]
            self.assertEqual([o["uid"] for o in owners], [uid])
        want(disruption_budget={"min_available": "100%"})
        wait_until(budgets, lambda: [(b["spec"].get("minAvailable"), b["status"].get("disruptionsAllowed"))
                                     for b in budgets().values()] == [("100%", 0)] * 3)
        pod = self.pods(40)[0]["metadata"]["name"]
        status, said = self.kubernetes.request(
            "POST", f"/api/v1/namespaces/{NAMESPACE}/pods/{pod}/eviction",
            {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": NAMESPACE}})
        self.assertEqual(status, 429, said)
        # It goes when the record has none, and with the workload.
        self.world.apply([deployment(40, NAMESPACE, 2, controller="replica_set")])
        wait_until(budgets, lambda: sorted(budgets()) == ["app-41", "app-42"])
        for number in numbers:
            self.world.delete("deployment", f"d_{number}")
        self.world.wait_gone()
        self.assertEqual(budgets(), {})
        self.check_clean_end(self.agent, self.server)


if __name__ == "__main__":
    unittest.main(verbosity=2)
