"""Any objects of Kubernetes as one record, on a real API server, beside `kubectl apply --server-side --prune`.

DAVIT_LONG=1: 1,000 objects of 30 kinds; else 60 of 29, without autoscalers, which are looked at every 15 seconds only.
They are applied, edited and deleted by somebody, put back, and taken out of their records. After each step all that the
agent keeps is compared, field by field, with what kubectl makes of the same objects in another namespace. In the long
form the edits are made in both.
"""

import base64
import json
import os
import unittest
from concurrent.futures import ThreadPoolExecutor

import parts
from kubectl import kubectl
from manifest_objects import KINDS, WIDGETS, collection, compared, made, objects, path
from parts import REGION, wait_until

LONG = os.environ.get("DAVIT_LONG") == "1"
COUNT, RECORDS, WITHOUT = (1000, 10, ()) if LONG else (60, 3, ("HorizontalPodAutoscaler",))
SECONDS = 60 + COUNT / 2
MERGE = "application/merge-patch+json"
ETCD_BYTES_MAX = 3 << 19  # of a request, unless etcd is told otherwise
ALL_KINDS = json.dumps([f"{version}/{kind}" for version, kind, _, _ in KINDS])
SETTINGS = f"""[plugin.manifest]
module = "kind_manifest"
ingress_needs_address = false
kinds = {ALL_KINDS}
"""
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def manifest(name, objs, namespace):
    return {"kind": "manifest", "region": REGION, "spec": {"namespace": namespace, "name": name, "objects": objs}}


class OnMemory(parts.Case):
    """What the server refuses, and what an agent with another list of kinds parks."""

    def setUp(self):
        super().setUp()
        both = '[plugin.manifest]\nmodule = "kind_manifest"\nkinds = ["v1/ConfigMap", "v1/Service"]\n'
        self.server = self.world.server(extra=both).start()
        self.world.wait_ready(self.server)
        self.agent = self.world.agent(extra=both.replace(', "v1/Service"', "")).start()

    def test_what_an_agent_does_not_allow_is_parked_and_the_rest_goes_on(self):
        world = self.world
        good, mixed = manifest("good", [made("ConfigMap", 1)], "shop"), manifest("mixed", [
            made("ConfigMap", 2), made("Service", 1)], "shop")
        world.apply([good, mixed])
        world.wait_running(["shop.good"], kind="manifest")
        wait_until(lambda: world.davit("status", "manifest")[1], lambda: "v1/Service is not among the `kinds`" in
                   world.davit("status", "manifest", "shop.mixed", "--region", REGION)[1])
        code, _, err = world.davit("apply", "-f", "-", check=False, stdin=json.dumps(
            manifest("bad", [made("ConfigMap", 3), made("Secret", 1)], "shop")))
        self.assertNotEqual(code, 0)
        self.assertIn("spec.objects[1].kind: Secret secret-1: v1/Secret is not among the `kinds`", err)
        self.assertEqual(set(world.objects("manifest")), {"shop.good", "shop.mixed"})
        self.check_clean_end(self.agent, self.server)


class OnKubernetes(parts.KubernetesCase):
    def setUp(self):
        super().setUp()
        self.mine, self.theirs = (f"{who}-{self._testMethodName.removeprefix('test_').split('_')[0]}"
                                  for who in ("davit", "kubectl"))
        self.call("POST", CRDS, WIDGETS, 409)
        wait_until("the definition is served", lambda: self.kubernetes.request("GET", "/apis/davit.test/v1")[0] == 200)
        self.server = self.world.server(extra=SETTINGS).start()
        self.world.wait_ready(self.server)
        self.agent = self.world.agent(kubeconfig=self.kubernetes.kubeconfig, extra=SETTINGS).start()

    def call(self, method, where, body=None, *also, content_type="application/json"):
        status, answer = self.kubernetes.request(method, where, body, content_type)
        self.assertIn(status, (200, 201, 202, *also), f"{method} {where}: {answer}")
        return answer

    def each(self, calls):
        """Many requests at once; their answers in order."""
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(lambda c: self.call(*c[:3], **(c[3] if len(c) > 3 else {})), calls))

    def apply(self, objs):
        """The objects, spread over the records; each stays in its own."""
        sets = [[o for o in objs if sum(o["metadata"]["name"].encode()) % RECORDS == r] for r in range(RECORDS)]
        self.world.apply([manifest(f"set-{r}", found, self.mine) for r, found in enumerate(sets)])

    def wait_healthy(self):
        self.world.wait_running([f"{self.mine}.set-{r}" for r in range(RECORDS)], kind="manifest", seconds=SECONDS)

    def kubectl(self, objs):
        self.kubernetes.request("POST", "/api/v1/namespaces", {"metadata": {"name": self.theirs}})
        kubectl(self.kubernetes, "apply", "-f", "-", "--server-side", "--force-conflicts", "--prune",
                "--applyset=configmaps/set", "-n", self.theirs, given=objs, seconds=600,
                environment={"KUBECTL_APPLYSET": "true"})

    def volumes(self, objs):
        """A volume for each claim, which Kubernetes binds."""
        self.each([("POST", "/api/v1/persistentvolumes", {
            "metadata": {"name": f"{ns}-{o['metadata']['name']}"},
            "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "",
                     "hostPath": {"path": "/tmp"}, "claimRef": {"namespace": ns, "name": o["metadata"]["name"]}}})
            for o in objs if o["kind"] == "PersistentVolumeClaim" for ns in (self.mine, self.theirs)])

    def live(self, namespace, is_marked):
        """What somebody has applied in a namespace, by kind and name, as it is compared."""
        out = {}
        for version, kind, _, _ in KINDS:
            for item in self.kubernetes.items(collection({"apiVersion": version, "kind": kind}, namespace)):
                if is_marked({"apiVersion": version, "kind": kind, **item}) and "deletionTimestamp" not in item["metadata"]:
                    out[kind, item["metadata"]["name"]] = {"apiVersion": version, "kind": kind, **compared(item)}
        return out

    def of_davit(self):
        """Controllers copy the annotations of Deployments and DaemonSets to what they make; the mark names the object."""
        def is_marked(o):
            group = "." + o["apiVersion"].split("/")[0] if "/" in o["apiVersion"] else ""
            return o["metadata"].get("annotations", {}).get("davit.dev/manifest-object", "").endswith(
                f"/{o['kind']}{group}/{o['metadata']['name']}")
        return self.live(self.mine, is_marked)

    def of_kubectl(self):
        """The labels of a Service are copied to what is made of it."""
        return self.live(self.theirs, lambda o: "applyset.kubernetes.io/part-of" in o["metadata"].get("labels", {})
                         and not (o["kind"].startswith("Endpoint") and o["metadata"]["name"].startswith("service-")))

    def differences(self, objs):
        wanted = {(o["kind"], o["metadata"]["name"]) for o in objs}
        mine = self.of_davit()
        theirs = self.of_kubectl()
        self.assertEqual(set(theirs), wanted, "kubectl's")
        return [(key, mine.get(key), theirs.get(key)) for key in sorted(wanted | set(mine))
                if mine.get(key) != theirs.get(key)]

    def wait_equal(self, objs):
        wait_until(lambda: f"{len(self.differences(objs))} differ: {json.dumps(self.differences(objs)[:2])}\n"
                           f"{self.agent.tail()}", lambda: not self.differences(objs), SECONDS, 1)

    def edit(self, objs, namespace):
        """Each is changed or deleted by somebody."""
        edits = []
        for n, o in enumerate(objs):
            where = path(o, namespace)
            if n % 3 == 0 and o["kind"] not in ("PersistentVolumeClaim", "Secret"):
                edits.append(("DELETE", where, {"propagationPolicy": "Background", "gracePeriodSeconds": 0}))
                continue
            patch = {"metadata": {"labels": {"davit.test/number": "edited"}}}
            if o["kind"] == "ConfigMap":
                patch["data"] = {"number": "edited", "text": None}
            elif o["kind"] == "Secret":
                patch["data"] = {"PASSWORD": base64.b64encode(b"edited").decode()}
            elif o["kind"] in ("Deployment", "StatefulSet", "ReplicaSet"):
                patch["spec"] = {"replicas": 2}
            elif o["kind"] == "Widget":
                patch["spec"] = {"large": 1, "later": {"text": "edited"}}
            edits.append(("PATCH", where, patch, {"content_type": MERGE}))
        self.each(edits)

    def test_a_fleet_of_objects_is_what_kubectl_makes_of_them(self):
        objs = objects(COUNT, WITHOUT)
        self.volumes(objs)
        self.apply(objs)
        self.kubectl(objs)
        self.wait_healthy()
        self.wait_equal(objs)

        parked = self.agent.text().count("parked")
        self.edit(objs if LONG else objs[::2], self.mine)
        if LONG:
            self.edit(objs, self.theirs)
            self.kubectl(objs)
        self.wait_equal(objs)
        self.wait_healthy()
        self.assertEqual(self.agent.text().count("parked"), parked, "nothing is parked by an edit")

        fewer = [o for n, o in enumerate(objs) if n % 4 != 1 or o["kind"] == "Deployment"]  # autoscalers need one
        self.apply(fewer)
        self.kubectl(fewer)
        self.wait_equal(fewer)
        self.wait_healthy()

        for r in range(RECORDS):
            self.world.delete("manifest", f"{self.mine}.set-{r}")
        self.world.wait_gone(SECONDS)
        self.assertEqual(self.of_davit(), {})
        self.check_clean_end(self.agent, self.server)

    # --- health

    def wait_said(self, health, message, record="one"):
        """What the record's status says, also in the table for people."""
        def seen():
            return self.world.objects("manifest").get(f"{self.mine}.{record}", {}).get("observed", {})
        wait_until(lambda: f"{health}: {message}; {json.dumps(seen())}; {self.agent.tail()}",
                   lambda: (seen().get("health"), seen().get("message")) == (health, message))
        if message:
            self.assertIn(message, self.world.davit("status", "manifest", f"{self.mine}.{record}", "--region", REGION)[1])

    def parked(self):
        return {i["id"] for i in self.world.status()["agents"][0]["issues"] if i["condition"] == "parked"}

    def status_of(self, obj, status):
        self.call("PATCH", path(obj, self.mine) + "/status", {"status": status}, content_type=MERGE)

    def test_health_is_that_of_each_object(self):
        def one(*objs):
            self.world.apply([manifest("one", [made("ConfigMap", 0), *objs], self.mine)])
        balanced = {**made("Service", 1)}
        balanced["spec"]["type"] = "LoadBalancer"
        one(balanced)
        self.wait_said("progressing", "Service/service-1: its load balancer has no address yet")
        self.status_of(balanced, {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}})
        self.wait_said("healthy", "")

        widget = made("Widget", 1)
        one(widget)
        self.world.wait_running([f"{self.mine}.one"], kind="manifest")
        condition = {"lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "Because", "message": "of that"}
        for name, status, health in (("Ready", "False", "progressing"), ("Stalled", "True", "unhealthy")):
            self.status_of(widget, {"conditions": [{"type": name, "status": status, **condition}]})
            self.wait_said(health, "Widget/widget-1: Because: of that")
        self.status_of(widget, {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True", **condition}]})
        self.wait_said("healthy", "")
        widget["spec"]["large"] = 2
        one(widget)
        self.wait_said("progressing", "Widget/widget-1: its controller has not seen the change yet")

        stuck, failing, claim = made("Deployment", 0), made("Job", 0), made("PersistentVolumeClaim", 0)
        stuck["spec"]["template"]["metadata"]["labels"]["davit.test/unready"] = "true"
        one(stuck, claim)
        self.wait_said("progressing", "PersistentVolumeClaim/persistentvolumeclaim-0: has no volume yet (and 1 more)")
        one(stuck)
        self.wait_said("progressing", "Deployment/deployment-0: 0 of 1 replicas are available")
        failing["spec"]["template"]["metadata"]["labels"]["davit.test/fail"] = "true"
        failing["spec"].update(suspend=False, backoffLimit=0)
        one(stuck, failing)
        self.wait_said("unhealthy", "Job/job-0: BackoffLimitExceeded: Job has reached the specified backoff limit "
                                    "(and 1 more)")
        self.assertRegex(self.world.davit("status", "manifest")[1], r"1/3 .*Job/job-0, *Deployment/deployment-0")

        # What the cluster refuses parks this record, and no other.
        broken = made("Role", 0)
        broken["rules"] = [{"verbs": []}]
        large = made("Widget", 9)
        large["spec"]["text"] = "x" * ETCD_BYTES_MAX
        self.world.apply([manifest("two", [broken], self.mine), manifest("three", [made("Lease", 3)], self.mine),
                          manifest("four", [large], self.mine)])
        self.world.wait_running([f"{self.mine}.three"], kind="manifest")
        for record, why in (("two", "roles.rbac.authorization.k8s.io"), ("four", "request is too large")):
            wait_until(lambda: self.world.davit("status", "manifest")[1], lambda r=record, w=why: w in self.world.davit(
                "status", "manifest", f"{self.mine}.{r}", "--region", REGION)[1])
        wait_until(lambda: f"both are parked: {self.world.davit('status')[1]}",
                   lambda: self.parked() == {f"{self.mine}.two", f"{self.mine}.four"})
        self.check_clean_end(self.agent, self.server)


if __name__ == "__main__":
    unittest.main(verbosity=2)
