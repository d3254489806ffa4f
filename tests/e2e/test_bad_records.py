"""Records and events that an agent cannot use: each is said, upward and in the log, and the rest goes on.

A real API server, and a control plane that says what ours would refuse to take.
"""

import json
import unittest

import expected
import parts
from api_proxy import ApiProxy, Lines
from parts import deployment, policy, sentinel, wait_until
from scripted import ControlPlane

NAMESPACE = "bad"
DEPLOYMENT, POLICY, SENTINEL = "deployment", "cilium_network_policy", "sentinel"
LONG_NAME = "a" * 64

# Changes to a good deployment, and how the reason begins. "-": the field is not set.
DEPLOYMENTS = [
    ({"workspace_id": ""}, "workspace_id: is missing"),
    ({"project_id": ""}, "project_id: is missing"),
    ({"environment_id": ""}, "environment_id: is missing"),
    ({"deployment_id": ""}, "deployment_id: is missing"),
    ({"k8s_namespace": ""}, "k8s_namespace: is missing"),
    ({"k8s_name": ""}, "k8s_name: is missing"),
    ({"image": ""}, "image: is missing"),
    ({"cpu_millicores": 0}, "cpu_millicores: must be at least 1, not 0"),
    ({"cpu_millicores": -5}, "cpu_millicores: must be at least 1, not -5"),
    ({"memory_mib": 0}, "memory_mib: must be at least 1, not 0"),
    ({"replicas": "-"}, "replicas: exactly one of replicas and autoscaling is needed; neither is set"),
    ({"autoscaling": {"min_replicas": 1, "max_replicas": 2}}, "replicas: exactly one of replicas and autoscaling"),
    ({"replicas": "-", "autoscaling": {"max_replicas": 2}}, "autoscaling.min_replicas: must be at least 1, not 0"),
    ({"replicas": "-", "autoscaling": {"min_replicas": 3, "max_replicas": 2}},
     "autoscaling.max_replicas: must be at least min_replicas (3), not 2"),
    ({"port": 65536}, "port: must be at most 65535, not 65536"),
    ({"shutdown_signal": "SIGUSR1"}, "shutdown_signal: must be"),
    ({"healthcheck": b'{"method":"PUT","path":"/"}'}, "healthcheck.method: must be GET or POST"),
    ({"encrypted_environment_variables": b'{"secrets":{"1A":"x"}}'}, "encrypted_environment_variables.secrets.1A: must be"),
    ({"k8s_namespace": "Bad_Name"}, "k8s_namespace: must be a DNS label"),
    ({"k8s_namespace": LONG_NAME}, "k8s_namespace: must be a DNS label"),
    ({"k8s_name": "-web"}, "k8s_name: must be a DNS name"),
    ({"k8s_name": "a" * 254}, "k8s_name: must be a DNS name"),
    ({"app_id": "white space"}, "app_id: must be usable as a label"),
]
POLICIES = [
    ({"policy": b"{"}, "policy"),
    ({"policy": b"[1]"}, "policy"),
    ({"policy": b'{"kind":"Secret","spec":{}}'}, "policy.kind: must be CiliumNetworkPolicy"),
    ({"policy": b'{"spec":7}'}, "policy.spec: must be an object"),
    ({"k8s_name": "UPPER"}, "k8s_name: must be"),
]
SENTINELS = [
    ({"image": ""}, "image: is missing"),
    ({"k8s_name": "1.2"}, "k8s_name: must be"),
    ({"cpu_millicores": 0}, "cpu_millicores: must be at least 1"),
    ({"replicas": -1}, "replicas: must be at least 0"),
]
# Lines of a watch, from a server that is out of its mind: between two good ones they change nothing.
NONSENSE = (b'{"type":"ECLIPSE","object":{"kind":"Pod","metadata":{"name":"a","namespace":"b"}}}\n', b'{"type":"ADDED","obj\n',
            b"null\n", b"\n", b'{"type":"MODIFIED","object":{"metadata":7}}\n', b'{"type":"DELETED"}\n', b"\xff\xfe\n")


class OnKubernetes(parts.KubernetesCase):
    def setUp(self):
        super().setUp()
        self.plane = ControlPlane()
        self.addCleanup(self.plane.close)
        self.proxy = ApiProxy(self.kubernetes, self.world.folder)
        self.addCleanup(self.proxy.down)
        self.reader = expected.Reader(self.kubernetes)
        self.good = {}
        self.agent = self.world.agent(kubeconfig=self.proxy.kubeconfig, port=self.plane.port, extra=parts.AT_ONCE + """
[plugin.applier]
resync_interval_ms = 1000
[plugin.reporter]
progress_interval_ms = 1000
""")

    # --- records --------------------------------------------------------------------------------------------------

    def message(self, kind, spec):
        """The payload of a document; bytes of JSON where the message has bytes."""
        make = {DEPLOYMENT: self.plane.ctrl.ApplyDeployment, POLICY: self.plane.ctrl.ApplyCiliumNetworkPolicy,
                SENTINEL: self.plane.ctrl.ApplySentinel}[kind]
        out = make()
        for field, value in spec.items():
            if value == "-":
                continue
            if isinstance(value, dict) and field == "autoscaling":
                out.autoscaling.CopyFrom(self.plane.ctrl.AutoscalingPolicy(**value))
            elif isinstance(value, dict):
                setattr(out, field, json.dumps(value).encode())
            else:
                setattr(out, field, int(value) if field in ("cpu_millicores", "memory_mib") else value)
        return out.SerializeToString()

    def want(self, *documents):
        for document in documents:
            self.good[document["kind"], document["id"]] = document
            self.say(document)

    def say(self, document, **changes):
        self.change(document, apply=self.message(document["kind"], {**document["spec"], **changes}))

    def change(self, document, **change):
        spec = document["spec"]
        self.plane.say(document["kind"], document["id"], spec.get("k8s_namespace", "sentinel"), spec["k8s_name"], **change)

    def end(self):
        for document in self.good.values():
            self.change(document, delete=True)
        self.good = {}
        self.wait_equal()
        self.check_clean_end(self.agent)

    def differences(self):
        return self.reader.faults(list(self.good.values()))

    def wait_equal(self):
        wait_until(lambda: f"equal: {self.differences()[:5]}\n{self.agent.tail()}", lambda: not self.differences(), 60)

    def status(self, identity, kind=DEPLOYMENT):
        return self.plane.statuses.get((kind, identity))

    # --- the tests ------------------------------------------------------------------------------------------------

    def test_what_can_never_work_is_said_and_asks_the_api_server_nothing(self):
        rows = [(deployment(100 + n, NAMESPACE), *row) for n, row in enumerate(DEPLOYMENTS)]
        rows += [(policy(100 + n, NAMESPACE), *row) for n, row in enumerate(POLICIES)]
        rows += [(sentinel(100 + n), *row) for n, row in enumerate(SENTINELS)]
        # In between, so that each bad one has good ones before and behind it.
        self.want(deployment(1, NAMESPACE), policy(1, NAMESPACE), sentinel(1))
        for document, changes, _ in rows:
            self.say(document, **changes)
        self.want(deployment(2, NAMESPACE, replicas=2), policy(2, NAMESPACE), sentinel(2))
        self.agent.start()
        self.wait_equal()
        wait_until(lambda: f"all are said: {len(self.plane.issues)} of {len(rows)}",
                   lambda: len(self.plane.issues) == len(rows))
        log = self.agent.text()
        for document, changes, reason in rows:
            with self.subTest(changes):
                issue = self.plane.issues[document["kind"], document["id"]]
                self.assertEqual(issue.condition, "parked")
                self.assertIn(reason, issue.reason)
                said = [line for line in log.splitlines() if f'{document["id"]}' in line and reason in line.replace('\\"', '"')]
                self.assertEqual(len(said), 1, said)
                name = document["spec"]["k8s_name"]
                self.assertEqual([str(c) for c in self.proxy.calls if c.path.endswith("/" + name)], [])
        self.assertFalse([str(c) for c in self.proxy.calls if "Bad_Name" in c.path or LONG_NAME in c.path])
        # Mended, they are records like any other.
        self.want(*(document for document, _, _ in rows))
        self.wait_equal()
        wait_until(lambda: f"nothing is left to say: {self.plane.issues}", lambda: not self.plane.issues)
        self.end()

    def test_two_records_of_one_name_are_one_object_the_newest(self):
        first, second = deployment(1, NAMESPACE), deployment(2, NAMESPACE)
        second["spec"].update(k8s_name=first["spec"]["k8s_name"], image="registry.example/app:2")
        self.want(first)
        self.agent.start()
        self.wait_equal()
        self.say(second)
        del self.good[DEPLOYMENT, "d_1"]
        self.good[DEPLOYMENT, "d_2"] = second
        self.wait_equal()
        # The old one's end, said late, takes nothing from the new one.
        self.change(first, delete=True)
        self.want(policy(9, NAMESPACE))
        self.wait_equal()
        self.end()

    def test_pods_with_any_addresses(self):
        """None, IPv6, two: the status says what there is."""
        self.want(deployment(1, NAMESPACE, replicas=3))
        self.agent.start()
        self.wait_equal()
        wait_until(lambda: f"three are ready: {self.status('d_1')}",
                   lambda: self.status("d_1") and self.status("d_1").ready == 3)
        pods = sorted(p["metadata"]["name"] for p in self.pods())
        given = {pods[0]: [], pods[1]: ["fd00::5"], pods[2]: ["10.1.2.3", "fd00::6"]}
        for name, addresses in given.items():
            path = f"/api/v1/namespaces/{NAMESPACE}/pods/{name}/status"
            _, pod = self.kubernetes.request("GET", path)
            pod["status"]["podIPs"] = [{"ip": a} for a in addresses]
            pod["status"]["podIP"] = addresses[0] if addresses else ""
            code, answer = self.kubernetes.request("PUT", path, pod)
            self.assertEqual(code, 200, answer)
        shown = {pods[1]: f"fd00--5.{NAMESPACE}.pod.cluster.local:8080",
                 pods[2]: f"10-1-2-3.{NAMESPACE}.pod.cluster.local:8080"}

        def children():
            return {c.name: c.address for c in self.status("d_1").children}
        wait_until(lambda: f"addresses: {children()}", lambda: {k: v for k, v in children().items() if v} == shown)
        self.end()

    def pods(self):
        return self.kubernetes.items(f"/api/v1/namespaces/{NAMESPACE}/pods", "app.kubernetes.io/managed-by=krane")

    def test_objects_whose_labels_somebody_took(self):
        self.want(deployment(1, NAMESPACE), policy(1, NAMESPACE), sentinel(1))
        self.agent.start()
        self.wait_equal()
        for resource, namespace, name in (("replicasets", NAMESPACE, "app-1"), ("deployments", "sentinel", "edge-1"),
                                          ("ciliumnetworkpolicies", NAMESPACE, "policy-1")):
            path = expected.path_of(resource, namespace, name)
            code, answer = self.kubernetes.request("PATCH", path, {"metadata": {"labels": None, "annotations": None}},
                                                   "application/merge-patch+json")
            self.assertEqual(code, 200, answer)
        self.wait_equal()
        self.end()

    def test_a_watch_that_speaks_nonsense(self):
        self.proxy.rule = lambda call: Lines(self.with_nonsense()) if call.watch else None
        self.want(*(deployment(n, NAMESPACE) for n in range(4)), policy(1, NAMESPACE), sentinel(1))
        self.agent.start()
        self.wait_equal()
        self.want(deployment(0, NAMESPACE, replicas=2))
        self.assertEqual(self.kubernetes.request(
            "DELETE", expected.path_of("replicasets", NAMESPACE, "app-1"))[0], 200)
        self.wait_equal()
        self.assertTrue(self.agent.alive(), self.agent.tail())
        self.end()

    @staticmethod
    def with_nonsense():
        lines = iter(range(1 << 30))

        def each(line):
            return line + NONSENSE[next(lines) % len(NONSENSE)]
        return each


if __name__ == "__main__":
    unittest.main(verbosity=2)
