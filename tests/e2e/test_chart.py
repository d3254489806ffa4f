"""The Helm chart on a real Kubernetes: the API server takes what it makes of each mode. Agent, server and federation
run as its pods, with its ServiceAccounts, volumes and rules, and no more."""

import json
import re
import subprocess

import parts
from kubectl import kubectl
from parts import AT_ONCE, REPOSITORY, STAGE, deployment, free_port, wait_until
from postgres import Postgres

REGION = "eu-3"
RENDER = """
import json, sys
sys.path.insert(0, sys.argv[1])
import render
values = json.load(sys.stdin)
print(json.dumps([render.rendered(v, namespace=sys.argv[2]) for v in values]))
"""
SOON = AT_ONCE + """
[plugin.applier]
access_review_interval_ms = 500
right_patience_ms = 500
[plugin.reporter]
progress_interval_ms = 500
"""

SERVER_SOON = """
[host]
stop_delay_ms = 0
"""
FEDERATED = """
definitions = "none"
claim_namespace = ""
retry_first_ms = 100
[[plugin.federation.resource]]
version = "v1"
resource = "configmaps"
namespaced = true
fields = ["data", "binaryData"]
"""


def helm(*values, namespace="davit-system"):
    """The documents of each values; None: Helm is not here."""
    done = subprocess.run([REPOSITORY / "tests/helm/python.sh", "-B", "-c", RENDER,
                           REPOSITORY / "packaging/kubernetes", namespace], input=json.dumps(values), text=True,
                          capture_output=True, timeout=120 * parts.PATIENCE, check=False)
    if "No module named" in done.stderr:
        return None
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class OnKubernetes(parts.KubernetesCase):
    @classmethod
    def setUpClass(cls):
        cls.kubernetes = parts.Kubernetes(options=["--run-pods", f"davit={STAGE}"])

    def setUp(self):
        super().setUp()
        if helm({"agent": {"enabled": False}}) is None:
            self.skipTest("tests/helm/python.sh --install has not been run")
        self.port = free_port()  # of a server in the cluster

    def begin(self):
        """A server outside of the cluster."""
        self.world.wait_ready(self.world.server(regions=(REGION,)).start())

    def kubectl(self, *words, given=None):
        return kubectl(self.kubernetes, *words, given=given)

    def values(self, **more):
        token = (self.world.folder / "agent.token").read_text(encoding="utf-8").strip()
        return {"agent": {"region": REGION, "server": {"url": f"http://127.0.0.1:{self.world.port}"},
                          "token": {"value": token}, "extraConfig": SOON, **more}}

    def namespaces(self, *names):
        self.kubectl("apply", "-f", "-", given=[{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
                                                for name in names])

    def logs(self):
        return "\n".join(path.read_text(errors="replace")[-2000:]
                         for path in (self.kubernetes.folder / "logs").glob("pod-*"))

    def issues(self):
        return [(i["condition"], i["name"], i["reason"]) for a in self.world.status().get("agents", ())
                for i in a.get("issues", ())]

    def installed(self, namespace, values):
        """The documents of a release that has been applied. Its pods share the machine's ports: they get free ones."""
        text = json.dumps(helm(values, namespace=namespace)[0])
        for port, free in (("7070", self.port), ("9100", free_port())):
            text = re.sub(rf"\b{port}\b", str(free), text)
        documents = json.loads(text)
        self.namespaces(namespace)
        self.kubectl("apply", "--server-side", "-f", "-", given=documents)
        self.addCleanup(self.kubectl, "delete", "--wait=false", "--ignore-not-found", "-f", "-", given=documents)
        return documents

    def installed_agent(self, namespace, **more):
        documents = self.installed(namespace, self.values(**more))
        wait_until(lambda: f"the agent reports: {self.logs()}", lambda: any(
            a["region"] == REGION for a in self.world.status().get("agents", ())), 120)
        return documents

    def ready_pod(self, namespace):
        """The one pod that is there, once it is ready."""
        def ready():
            pods = self.kubernetes.items(f"/api/v1/namespaces/{namespace}/pods")
            return [p for p in pods if any(c["type"] == "Ready" and c["status"] == "True"
                                           for c in p.get("status", {}).get("conditions", ()))]
        return wait_until(lambda: f"a pod is ready: {self.logs()}", ready, 120)[0]

    def works(self, number, namespace):
        self.world.apply([deployment(number, namespace=namespace, region=REGION)])
        self.world.wait_running([f"d_{number}"], seconds=120)
        self.assertEqual([i for i in self.issues() if i[0] == "denied"], [])

    def test_the_api_server_takes_each_mode(self):
        all_modes = [self.values(), self.values(namespaces=["shop"], replicas=2, networkPolicy={"enabled": True})]
        for path in sorted((REPOSITORY / "packaging/kubernetes").glob("*.yaml")):
            self.namespaces("davit-system", "shop")
            self.kubectl("apply", "--server-side", "--dry-run=server", "-f", path)
        for documents in helm(*all_modes):
            self.kubectl("apply", "--server-side", "--dry-run=server", "-f", "-", given=documents)

    def test_an_agent_of_the_whole_cluster(self):
        self.begin()
        documents = self.installed_agent("davit-whole")
        self.works(1, "shop")
        # One rule less: one line that names it.
        role = next(d for d in documents if d["kind"] == "ClusterRole")
        less = {**role, "rules": [r for r in role["rules"] if r["resources"] != ["events"]]}
        self.assertEqual(len(less["rules"]), len(role["rules"]) - role["rules"].count(
            next(r for r in role["rules"] if r["resources"] == ["events"])))
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", given=[less])
        self.kubectl("delete", "pods", "--all", "--namespace", "davit-whole")
        wait_until(lambda: f"denied: {self.issues()}; {self.logs()}", lambda: any(
            condition == "denied" and "events" in name for condition, name, _ in self.issues()), 120)

    def test_an_agent_of_some_namespaces(self):
        self.begin()
        self.namespaces("web")
        documents = self.installed_agent("davit-some", namespaces=["web"])
        self.assertEqual([d["kind"] for d in documents if d["kind"].startswith("ClusterRole")], [])
        self.works(2, "web")

    # --- a server ----------------------------------------------------------------------------------------------

    def operate(self, pod):
        """By the socket in the pod, as `kubectl exec ... davit` does."""
        run = self.kubernetes.folder / "pods" / pod["metadata"]["uid"] / "volumes/run"
        self.world.socket = run / "operator.sock"
        self.world.wait_ready()

    def test_a_server_on_its_volume_and_an_agent_that_joins_it(self):
        space, url = "davit-server", f"http://127.0.0.1:{self.port}"
        folder = self.world.folder / "volume"
        folder.mkdir()
        self.namespaces(space)
        self.kubectl("apply", "-f", "-", given={
            "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "of-the-server"},
            "spec": {"capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": str(folder)}}})
        operator = self.world.token("operator", "operator-secret-of-the-tests")
        self.kubectl("create", "secret", "generic", "anna", "--namespace", space, f"--from-file=token={operator}")
        self.installed(space, {"agent": {"enabled": False}, "server": {
            "enabled": True, "publicUrl": url, "operatorToken": {"existingSecret": "anna"},
            "extraConfig": SERVER_SOON}})
        first = self.ready_pod(space)
        self.operate(first)
        site = self.world.write("site.toml", SOON)
        joined = self.world.davit("agent", "join", "--region", REGION, "--image", "davit:test", "--metrics-port",
                                  free_port(), REPOSITORY / "etc/agent.toml", site)[1]
        self.kubectl("apply", "-f", "-", given=joined)
        self.addCleanup(self.kubectl, "delete", "--wait=false", "--ignore-not-found", "-f", "-", given=joined)
        self.works(3, "shop")
        # The pod ends, and the next one has what it had: records, the agent's token, an operator's too.
        self.kubectl("delete", "pod", "--namespace", space, first["metadata"]["name"])
        second = self.ready_pod(space)
        self.assertNotEqual(second["metadata"]["uid"], first["metadata"]["uid"])
        self.operate(second)
        self.world.wait_running(["d_3"])
        self.works(4, "shop")
        self.assertEqual(self.world.davit("get", "deployment", "d_3", "--region", REGION, "-o", "name", "--server", url,
                                          "--token-file", operator)[1].strip(), "deployment/d_3")

    def test_a_server_on_postgresql_and_an_agent_of_the_chart(self):
        space, database = "davit-database", Postgres(listen_addresses="127.0.0.1", port=free_port())
        self.addCleanup(database.close)
        database.sql("CREATE ROLE server LOGIN PASSWORD 'of-the-tests'; GRANT ALL ON DATABASE postgres TO server")
        self.namespaces(space)
        for name, entry in (("database", "--from-literal=password=of-the-tests"),
                            ("agents", f"--from-file={REGION}.token={self.world.folder}/agent.token")):
            self.kubectl("create", "secret", "generic", name, "--namespace", space, entry)
        self.installed(space, {"agent": {"enabled": False}, "server": {
            "enabled": True, "agentTokens": {"existingSecret": "agents"}, "extraConfig": SERVER_SOON,
            "storage": {"type": "postgres", "postgres": {
                "uri": f"postgresql://server@127.0.0.1:{database.port}/postgres", "existingSecret": "database",
                "replicas": 1}}}})  # a second one would need an address of its own
        self.operate(self.ready_pod(space))
        self.world.port = self.port
        self.installed_agent("davit-beside")
        self.works(5, "shop")

    # --- federation --------------------------------------------------------------------------------------------

    def rules(self, upstream):
        """Of the account in this cluster, as `davit check --rights` prints them."""
        site = self.world.write("federation.toml", f"""
[host]
state_dir = "{self.world.folder}/state"
[plugin.cloud]
kubeconfig = "{upstream.folder}/kubeconfig-token"
[plugin.robot]
kubeconfig = "{self.kubernetes.folder}/kubeconfig-token"
[plugin.federation]
{FEDERATED}""")
        printed = self.world.davit("check", "--rights", REPOSITORY / "etc/federation.toml", site)[1]
        ours = printed.partition('# in the cluster of the instance "robot"\n')[2]
        role = self.kubectl("create", "--dry-run=client", "-o", "json", "-f", "-", given=ours)
        return json.loads(role)["rules"]

    def test_federation_of_another_cluster_with_this_one(self):
        space = "davit-federation"
        other = parts.Kubernetes(bare=True)
        self.addCleanup(other.close)
        self.namespaces(space, "robots")
        kubectl(other, "create", "namespace", "robots")
        self.kubectl("create", "secret", "generic", "cloud", "--namespace", space,
                     f"--from-file=kubeconfig={other.folder}/kubeconfig-token")
        self.installed(space, {"agent": {"enabled": False}, "federation": {
            "enabled": True, "upstream": {"kubeconfigSecret": "cloud"}, "config": FEDERATED,
            "rbac": {"rules": self.rules(other)}}})
        self.ready_pod(space)
        kubectl(other, "create", "configmap", "speed", "--namespace", "robots", "--from-literal=most=3")

        def copied():
            return self.kubernetes.request("GET", "/api/v1/namespaces/robots/configmaps/speed")[1].get("data")
        wait_until(lambda: f"it is here: {self.logs()}", lambda: copied() == {"most": "3"}, 60)
        kubectl(other, "delete", "configmap", "speed", "--namespace", "robots")
        wait_until(lambda: f"it is gone: {self.logs()}", lambda: copied() is None, 60)
