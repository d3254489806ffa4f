"""What the tests of federation are made of: a cloud, robots, definitions, objects and the process between them.

Each cluster is an API server with its etcd, and nothing else: no controller does anything beside the process.
"""

import copy
import http.client
import json
import threading
import time
from urllib.parse import urlencode

from parts import DAVIT, REPOSITORY, Case, Kubernetes, Process, metrics, wait_until

ANNOTATION = "cr-syncer.cloudrobotics.com/"
ROBOT_LABEL = "cloudrobotics.com/robot-name"
ROBOT = "robot-17"
UPSTREAM_UID, UPSTREAM_CLUSTER = "davit.dev/upstream-uid", "davit.dev/upstream-cluster"
REMOTE_VERSION = ANNOTATION + "remote-resource-version"
GROUP = "example.com"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = "application/merge-patch+json"
ANYTHING = {"x-kubernetes-preserve-unknown-fields": True}
# What the tests wait for is not worth a fail of a machine that has other work.
SECONDS = 60


def path_of(plural, namespace="default", name=None, group=GROUP):
    """`namespace` None: of a resource without namespaces."""
    base = f"/apis/{group}/v1" if group else "/api/v1"
    within = f"/namespaces/{namespace}" if namespace else ""
    return f"{base}{within}/{plural}" + (f"/{name}" if name else "")


def definition(plural, status=True, scope="Namespaced", spec=None, **annotations):
    """A CustomResourceDefinition. `annotations`: spec_source, filter_by_robot_name, status_subtree."""
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
        "type": "object", "properties": {"spec": spec or ANYTHING, "status": ANYTHING, "data": ANYTHING}}}}
    if status:
        version["subresources"] = {"status": {}}
    kind = plural.capitalize()
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{GROUP}", "annotations": annotated(**annotations)},
            "spec": {"group": GROUP, "scope": scope, "versions": [version], "names": {
                "plural": plural, "singular": plural + "-one", "kind": kind, "listKind": kind + "List"}}}


def annotated(**annotations):
    return {ANNOTATION + key.replace("_", "-"): value for key, value in annotations.items()}


class Pair(Case):
    """Tests of one class, between a cloud and a robot."""

    @classmethod
    def setUpClass(cls):
        cls.robot, cls.cloud = Kubernetes(bare=True, wait=False), Kubernetes(bare=True, wait=False)
        for cluster in (cls.robot, cls.cloud):
            cluster.ready()

    @classmethod
    def tearDownClass(cls):
        cls.cloud.close()
        cls.robot.close()

    def install(self, made):
        """The definition, on both sides; returns the path of its objects."""
        install([made], self.cloud, self.robot)
        return path_of(made["spec"]["names"]["plural"])

    @staticmethod
    def make(cluster, path, name, **members):
        status, answer = cluster.request("POST", path, {
            "apiVersion": f"{GROUP}/v1", "kind": path.rpartition("/")[2].capitalize(),
            "metadata": {"name": name, **members.pop("metadata", {})}, **members})
        assert status == 201, answer


class Cluster:
    """One API server. `name` is for people."""

    def __init__(self, name, kubernetes=None):
        self.name = name
        self.kubernetes = kubernetes or Kubernetes(bare=True, wait=False)

    def ready(self):
        self.kubernetes.ready()

    def close(self):
        self.kubernetes.close()

    def request(self, method, path, body=None, content_type="application/json", **query):
        """(status, object). An API server that is away raises OSError."""
        return self.kubernetes.request(method, path + ("?" + urlencode(query) if query else ""), body, content_type)

    def get(self, path):
        """The object; None: it is not there."""
        status, answer = self.request("GET", path)
        assert status in (200, 404), answer
        return answer if status == 200 else None

    def items(self, path):
        """By (namespace, name). While a definition changes, others are not served for a moment."""
        status, answer = wait_until(f"{path} is served", lambda: next(
            (found for found in [self.request("GET", path)] if found[0] not in (404, 429)), None))
        assert status == 200, answer
        return {(o["metadata"].get("namespace"), o["metadata"]["name"]): o for o in answer["items"]}

    def must(self, method, path, body=None, content_type="application/json"):
        status, answer = self.request(method, path, body, content_type)
        assert status in (200, 201, 202), f"{self.name}: {method} {path}: {status} {answer}"
        return answer

    def patch(self, path, body):
        return self.must("PATCH", path, body, MERGE)

    def counted(self, metric="apiserver_request_total", **labels):
        """What the API server itself counts, by (verb, resource)."""
        _, answer = self.request("GET", "/metrics")
        out = {}
        for line in answer["message"].splitlines():
            if not line.startswith(metric + "{"):
                continue
            found = dict(part.split("=", 1) for part in line[len(metric) + 1:line.rindex("}")].split(","))
            found = {key: value.strip('"') for key, value in found.items()}
            if all(found.get(key) == value for key, value in labels.items()):
                key = (found.get("verb"), found.get("resource"))
                out[key] = out.get(key, 0) + float(line.rpartition(" ")[2])
        return out


def install(definitions, *clusters):
    """The definitions are there and served; they may be there already."""
    for cluster in clusters:
        for made in definitions:
            status, answer = cluster.request("POST", DEFINITIONS, made)
            assert status in (201, 409), answer
    for cluster in clusters:
        for made in definitions:
            plural = made["spec"]["names"]["plural"]
            wait_until(f"{plural} is served", lambda c=cluster, p=plural: c.request(
                "GET", path_of(p, None))[0] == 200, SECONDS)


def start_clusters(*names):
    """All at once, because each takes some seconds."""
    clusters = [Cluster(name) for name in names]
    for cluster in clusters:
        cluster.ready()
    return clusters


def federation(world, cloud, robot, settings="", name="federation", tables=""):
    """The process between two kubeconfigs, and the port of its health and metrics."""
    overlay = world.write(f"{name}.toml", f"""
[host]
state_dir = "{world.folder}/state-{name}"
[rpc.server.operator]
listen = "unix:{world.folder}/{name}.sock"
[plugin.cloud]
kubeconfig = "{cloud}"
[plugin.robot]
kubeconfig = "{robot}"
[plugin.federation]
retry_first_ms = 100
retry_most_ms = 1000
{settings}
{tables}
""")
    process = world.part(Process(name, [DAVIT, "run", REPOSITORY / "etc/federation.toml", overlay], world.folder))
    process.port = world.with_metrics(process)
    return process


def wait_in_step(process, seconds=SECONDS):
    """Until every watch of the process is complete."""
    def complete():
        try:
            found = metrics(process.port)
        except OSError:
            return False
        resources = found.get("davit_federation_resources", 0)  # none before it has asked what takes part
        return resources > 0 and found.get("davit_federation_watch_up", 0) == 2 * resources
    wait_until(lambda: "all is watched; " + process.tail(), complete, seconds)


class Expired(Exception):
    """A watch cannot go on where it was."""


class Eye:
    """Sees the objects of one resource in a cluster, from the time that it exists, and calls `each(type, object)`.

    It sees every version, but for what happens while the API server is away and forgets.
    """

    def __init__(self, cluster, path, each):
        self.cluster, self.path, self.each = cluster, path, each
        self.over, self.known, self.at, self.fault = threading.Event(), {}, None, None
        self.list()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def list(self):
        status, answer = self.cluster.request("GET", self.path)
        if status != 200:
            raise OSError(f"{self.path}: {status}")
        found = {o["metadata"]["uid"]: o for o in answer["items"]}
        for uid in self.known.keys() - found.keys():
            self.see("DELETED", self.known[uid])
        for one in found.values():
            self.see("MODIFIED", one)
        self.at = answer["metadata"]["resourceVersion"]

    def see(self, kind, one):
        uid = one["metadata"]["uid"]
        if kind == "DELETED":
            self.known.pop(uid, None)
        else:
            self.known[uid] = one
        self.each(kind, one)

    def run(self):
        while not self.over.is_set():
            try:
                self.watch()
            except Expired:
                self.at = None
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.2)  # the API server is away
            except Exception as error:  # whoever waits for the eye says it
                self.fault = error
                raise

    def watch(self):
        if self.at is None:
            self.list()
        connection = self.cluster.kubernetes.https.connect(10)
        query = urlencode({"watch": 1, "resourceVersion": self.at, "allowWatchBookmarks": "true",
                           "timeoutSeconds": 5})
        connection.request("GET", f"{self.path}?{query}", headers=self.cluster.kubernetes.authorization())
        with connection.getresponse() as answer:
            if answer.status == 410:
                raise Expired
            if answer.status != 200:
                raise OSError(answer.status)
            for line in answer:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise Expired
                if event["type"] != "BOOKMARK":
                    self.see(event["type"], event["object"])
                self.at = event["object"]["metadata"]["resourceVersion"]
        connection.close()

    def close(self):
        """After it has seen what is there now."""
        def seen():
            assert self.fault is None, self.fault
            return self.at is not None and int(self.at) >= int(last)
        last = max((int(o["metadata"]["resourceVersion"]) for o in self.cluster.items(self.path).values()), default=0)
        wait_until(lambda: f"the eye has seen {last} and not only {self.at}", seen, SECONDS)
        self.over.set()
        self.thread.join()


def without_bookkeeping(annotations):
    out = copy.deepcopy(annotations or {})
    for key in (UPSTREAM_UID, UPSTREAM_CLUSTER, REMOTE_VERSION):
        out.pop(key, None)
    return out
