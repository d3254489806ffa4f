"""What the tests of Clusters are made of: a management cluster, which is an API server and its etcd, the process of the
controller, and an actuator that is scripted."""

import json

from federation_parts import DEFINITIONS, MERGE, Cluster
from parts import DAVIT, REPOSITORY, Case, Process, free_port, wait_until, whole_lines

CLUSTERS = "/apis/cluster.k8s.io/v1alpha1/namespaces/default/clusters"
FINALIZER = "cluster.cluster.k8s.io"
NETWORK = {"services": {"cidrBlocks": ["10.0.0.0/12"]}, "pods": {"cidrBlocks": ["192.168.0.0/16"]},
           "serviceDomain": "cluster.local"}
ACTUATOR = REPOSITORY / "tests/e2e/scripted_actuator.py"
# Quick enough for tests: failures are retried within two seconds, whatever their number.
QUICK = "retry_most_ms = 2000\nretries_burst = 10000\n"


def failing(code, message, **more):
    return {"answer": {"error": {"code": code, "message": message, **more}}}


def going_on(seconds, **more):
    return {"answer": {"requeueAfterSeconds": seconds, **more}}


def is_ready(cluster):
    """By a condition that speaks of its spec as it is now."""
    status = (cluster or {}).get("status", {})
    return any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions", [])) and (
        status.get("observedGeneration") == cluster["metadata"]["generation"])


class ClustersCase(Case):
    """Tests of one class share the management cluster."""

    @classmethod
    def setUpClass(cls):
        cls.management = Cluster("management")
        cls.management.ready()

    @classmethod
    def tearDownClass(cls):
        cls.management.close()

    def setUp(self):
        super().setUp()
        # Of the scripted actuator, and of the example in Python.
        self.script, self.built = self.world.folder / "script", self.world.folder / "built"
        self.script.mkdir()
        self.built.mkdir()
        self.addCleanup(self.leave_nothing)

    def leave_nothing(self):
        """The next test begins with an empty management cluster."""
        for _, name in self.management.items(CLUSTERS) if self.management.get(
                f"{DEFINITIONS}/clusters.cluster.k8s.io") else ():
            self.management.request("PATCH", f"{CLUSTERS}/{name}", {"metadata": {"finalizers": None}}, MERGE)
            self.management.request("DELETE", f"{CLUSTERS}/{name}")

    def files(self, settings="", name="clusters", actuator=ACTUATOR, kubeconfig=None, user=""):
        return [REPOSITORY / "etc/clusters.toml", self.world.write(f"{name}.toml", f"""
[host]
state_dir = "{self.world.folder}/state-{name}"
metrics_listen = "127.0.0.1:{free_port()}"
log_level = "debug"
[plugin.management]
kubeconfig = "{kubeconfig or self.management.kubernetes.kubeconfig}"
impersonate_user = "{user}"
[plugin.exec]
command = ["{actuator}"]
environment_names = ["HOME", "PATH"]
kill_grace_ms = 500
concurrency_max = 32
[plugin.exec.environment]
SCRIPT = "{self.script}"
CLUSTERS = "{self.built}"
[plugin.clusters]
{QUICK}{settings}
""")]

    def begin(self, settings="", name="clusters", **options):
        """The process; the definition of Clusters is there."""
        self.world.davit("clusters", "install", *self.files(settings, name, **{**options, "user": ""}))
        files = self.files(settings, name, **options)
        process = self.world.part(Process(name, [DAVIT, "run", *files], self.world.folder))
        process.start()
        return process

    def install_machines(self):
        """The definitions of what a Cluster may own."""
        for kind in ("Machine", "MachineSet", "MachineDeployment"):
            plural = kind.lower() + "s"
            self.management.request("POST", DEFINITIONS, {
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": f"{plural}.cluster.k8s.io",
                             "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"}},
                "spec": {"group": "cluster.k8s.io", "scope": "Namespaced", "versions": [{
                    "name": "v1alpha1", "served": True, "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}}}], "names": {
                        "plural": plural, "singular": kind.lower(), "kind": kind, "listKind": kind + "List"}}})
            self.management.items(f"/apis/cluster.k8s.io/v1alpha1/namespaces/default/{plural}")  # it is served

    # --- what the actuator does

    def scripted(self, name, operation, *entries):
        (self.script / f"{name}.{operation}").write_text(json.dumps(list(entries)), encoding="utf-8")

    def calls(self, name):
        """The operations that were called for this Cluster, in order."""
        try:
            lines = whole_lines((self.script / "calls").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return []
        return [line.split()[0] for line in lines if line.split()[1] == name]

    def asked(self, name, operation="reconcile"):
        """The Cluster that the last call for it was about; {}: there was none."""
        try:
            return json.loads((self.script / f"{name}.{operation}.request").read_text(encoding="utf-8"))["cluster"]
        except FileNotFoundError:
            return {}

    # --- what people do

    def make(self, name, value=None, **metadata):
        return self.management.must("POST", CLUSTERS, {
            "apiVersion": "cluster.k8s.io/v1alpha1", "kind": "Cluster", "metadata": {"name": name, **metadata},
            "spec": {"clusterNetwork": NETWORK, **({} if value is None else {"providerSpec": {"value": value}})}})

    def change(self, name, patch):
        return self.management.patch(f"{CLUSTERS}/{name}", patch)

    def remove(self, name):
        self.management.must("DELETE", f"{CLUSTERS}/{name}")

    # --- what they see

    def get(self, name):
        return self.management.get(f"{CLUSTERS}/{name}")

    def status(self, name):
        return (self.get(name) or {}).get("status", {})

    def condition(self, name, kind="Ready"):
        for one in self.status(name).get("conditions", []):
            if one["type"] == kind:
                return f"{one['status']} {one['reason']}: {one['message']}"
        return None

    def wait_ready(self, name):
        wait_until(lambda: f"{name} is ready: {self.get(name)}", lambda: is_ready(self.get(name)), 60)

    def wait_gone(self, name):
        wait_until(lambda: f"{name} is gone: {self.get(name)}", lambda: self.get(name) is None, 60)

    def wait_said(self, name, text, kind="Ready"):
        wait_until(lambda: f"{kind} of {name} says {text}: {self.get(name)}",
                   lambda: text in (self.condition(name, kind) or ""), 60)
