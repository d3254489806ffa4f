"""What a cluster must hold for given documents, told on the tests' own terms, and what it really holds.

Nothing here asks the agent or the server: documents are what the operator was given to apply, objects are read from
the API server, all of them in all namespaces, so that one too many is seen as well as one too few.
"""

import json

from parts import wait_until

SENTINELS = "sentinel"
PATHS = {
    "namespaces": "/api/v1/namespaces",
    "replicasets": "/apis/apps/v1/replicasets",
    "deployments": "/apis/apps/v1/deployments",
    "services": "/api/v1/services",
    "poddisruptionbudgets": "/apis/policy/v1/poddisruptionbudgets",
    "horizontalpodautoscalers": "/apis/autoscaling/v2/horizontalpodautoscalers",
    "ciliumnetworkpolicies": "/apis/cilium.io/v2/ciliumnetworkpolicies",
}
# Of Kubernetes itself.
SYSTEM = ("default", "kube-node-lease", "kube-public", "kube-system")
OUR_PREFIXES = ("unkey.com/", "app.kubernetes.io/", "davit.dev/")
MANAGED_BY = {"app.kubernetes.io/managed-by": "krane"}


def path_of(resource, namespace, name):
    head, _, collection = PATHS[resource].rpartition("/")
    return f"{head}/namespaces/{namespace}/{collection}/{name}"


def missing(expected, live, path=""):
    """Where a live object is not what is expected; what the API server adds does not count."""
    if isinstance(expected, dict) and isinstance(live, dict):
        return [m for k, v in expected.items() for m in missing(v, live.get(k), f"{path}.{k}")]
    if isinstance(expected, list) and isinstance(live, list) and len(expected) == len(live):
        return [m for n, v in enumerate(expected) for m in missing(v, live[n], f"{path}[{n}]")]
    same = expected == live or (live is None and expected in ("", [], {}))  # the API leaves out what is empty
    return [] if same else [f"{path}: {json.dumps(expected)} became {json.dumps(live)}"]


def labels(spec, component, **ids):
    common = {f"unkey.com/{n}.id": spec.get(f"{n}_id", "") for n in ("workspace", "project", "app", "environment")}
    return {**common, **ids, **MANAGED_BY, "app.kubernetes.io/component": component}


def owned(document, kind_labels, spec, **more):
    """An object that carries our stamps."""
    namespace = document["spec"].get("k8s_namespace", SENTINELS)
    return {"metadata": {"labels": {**kind_labels, "davit.dev/region": document["region"],
                                    "davit.dev/kind": document["kind"]},
                         "annotations": {"davit.dev/id": document["id"],
                                         "davit.dev/record": f"{namespace}/{document['spec']['k8s_name']}"}},
            "spec": spec, **more}


def of_deployment(document):
    spec = document["spec"]
    namespace, name, number = spec["k8s_namespace"], spec["k8s_name"], spec["deployment_id"]
    cpu, memory = int(spec["cpu_millicores"]), int(spec["memory_mib"])
    mine = labels(spec, "deployment", **{"unkey.com/deployment.id": number,
                                         "unkey.com/build.id": spec.get("build_id", "")})
    environment = [{"name": "PORT", "value": str(spec["port"])}] + [
        {"name": f"UNKEY_{n.upper()}_ID", "value": spec[f"{n}_id"]}
        for n in ("workspace", "project", "environment", "deployment")]
    container = {"name": "deployment", "image": spec["image"], "ports": [{"containerPort": spec["port"]}],
                 "env": environment + [{"name": "UNKEY_INSTANCE_ID"}],
                 "resources": {"limits": {"cpu": f"{cpu}m", "memory": f"{memory}Mi"},
                               "requests": {"cpu": f"{cpu // 4}m", "memory": f"{memory // 4}Mi"}}}
    replica_set = {"selector": {"matchLabels": {"unkey.com/deployment.id": number}},
                   "template": {"metadata": {"labels": {**mine, "unkey.com/inject": "true"}},
                                "spec": {"runtimeClassName": "gvisor", "containers": [container]}}}
    out = {("replicasets", namespace, name): owned(document, mine, replica_set)}
    bounds = spec.get("autoscaling")
    if bounds is None:
        replica_set["replicas"] = spec["replicas"]
    else:
        target = {"kind": "ReplicaSet", "name": name, "apiVersion": "apps/v1"}
        its = {k: v for k, v in mine.items() if k != "unkey.com/build.id"}
        out["horizontalpodautoscalers", namespace, name] = owned(document, its, {
            "scaleTargetRef": target, "minReplicas": bounds["min_replicas"], "maxReplicas": bounds["max_replicas"]})
    return out


def of_sentinel(document):
    spec = document["spec"]
    name, number, replicas = spec["k8s_name"], spec["sentinel_id"], spec["replicas"]
    mine = labels(spec, "sentinel", **{"unkey.com/sentinel.id": number})
    gossip = {**mine, "app.kubernetes.io/component": "gossip-lan"}
    its_pods = {"unkey.com/sentinel.id": number}
    peers = {"unkey.com/environment.id": spec["environment_id"], "app.kubernetes.io/component": "sentinel"}
    container = {"name": "sentinel", "image": spec["image"], "resources": {
        "limits": {"cpu": f"{spec['cpu_millicores']}m", "memory": f"{spec['memory_mib']}Mi"}}}
    deployment = {"replicas": replicas, "selector": {"matchLabels": its_pods},
                  "template": {"metadata": {"labels": its_pods}, "spec": {"containers": [container]}}}
    budget = {"minAvailable": 1, "maxUnavailable": None} if replicas <= 1 else {
        "minAvailable": None, "maxUnavailable": 1}
    service = {"type": "ClusterIP", "selector": its_pods, "ports": [{"port": 8040, "targetPort": 8040}]}
    headless = {"clusterIP": "None", "selector": peers, "ports": [
        {"port": 7946, "protocol": "TCP"}, {"port": 7946, "protocol": "UDP"}]}
    policy = {"endpointSelector": {"matchLabels": peers}, "ingress": [{"fromEndpoints": [{"matchLabels": peers}]}]}
    return {(resource, SENTINELS, f"{name}{suffix}"): owned(document, whose, what, owner=owner)
            for resource, suffix, whose, what, owner in (
                ("deployments", "", mine, deployment, None),
                ("services", "", mine, service, ("deployments", SENTINELS, name)),
                ("poddisruptionbudgets", "", mine, budget, ("deployments", SENTINELS, name)),
                ("services", "-gossip-lan", gossip, headless, None),
                ("ciliumnetworkpolicies", "-gossip-lan", gossip, policy, None))}


def of_policy(document):
    spec = document["spec"]
    mine = {**MANAGED_BY, "app.kubernetes.io/component": "ciliumnetworkpolicy",
            "unkey.com/networkpolicy.id": spec["cilium_network_policy_id"]}
    return {("ciliumnetworkpolicies", spec["k8s_namespace"], spec["k8s_name"]):
            owned(document, mine, spec["policy"]["spec"])}


RENDER = {"deployment": of_deployment, "sentinel": of_sentinel, "cilium_network_policy": of_policy}


def expected(documents):
    """By (resource, namespace, name): all that must be there, and nothing besides, but for namespaces."""
    out = {}
    for document in documents:
        for key, value in RENDER[document["kind"]](document).items():
            out[key] = value
            out["namespaces", "", key[1]] = {"metadata": {"labels": {
                **MANAGED_BY, "app.kubernetes.io/component": "namespace"}}, "status": {"phase": "Active"}}
    return out


class Reader:
    """Reads a cluster and says where it is not what documents ask for. `foreign`: see Foreign."""

    def __init__(self, kubernetes, foreign=None):
        self.kubernetes, self.foreign = kubernetes, {} if foreign is None else foreign

    def live(self):
        """Everything that somebody has made, except what a controller made for another object."""
        out = {}
        for resource, path in PATHS.items():
            for item in self.kubernetes.items(path):
                meta = item["metadata"]
                namespace = meta.get("namespace", "")
                if (namespace or meta["name"]) in SYSTEM:
                    continue
                if any(o["kind"] == "Deployment" for o in meta.get("ownerReferences", [])
                       ) and resource == "replicasets":
                    continue
                out[resource, namespace, meta["name"]] = item
        return out

    def faults(self, documents):
        """One line for each thing that is not as it must be; empty: the cluster equals the desired state."""
        wanted, live = expected(documents), self.live()
        out = []
        for key in set(wanted) | set(live):
            if key in self.foreign:
                continue
            if key not in live:
                out.append(f"{key} is missing")
            elif key not in wanted:
                if key[0] != "namespaces":
                    out.append(f"{key} is one too many")
            else:
                out += [f"{key}{fault}" for fault in self.differences(wanted[key], live[key], live)]
        out += self.foreign_faults(live)
        # Pods are most of what there is to read, and last to be right.
        return sorted(out) or sorted(self.pod_faults(documents, live))

    def differences(self, wanted, live, all_live):
        if "deletionTimestamp" in live["metadata"]:
            yield " is being deleted"
        parts = {k: v for k, v in wanted.items() if k != "owner"}
        yield from missing(parts, live)
        ours = {k: v for k, v in live["metadata"].get("labels", {}).items() if k.startswith(OUR_PREFIXES)}
        for label in set(ours) - set(wanted["metadata"]["labels"]):
            yield f" has the label {label} too many"
        owner = wanted.get("owner")
        if owner is not None:
            uid = all_live.get(owner, {}).get("metadata", {}).get("uid")
            owners = [o["uid"] for o in live["metadata"].get("ownerReferences", [])]
            if owners != [uid]:
                yield f" is owned by {owners}, not by {owner}"

    def foreign_faults(self, live):
        """Foreign objects are what they were, byte for byte."""
        for key, before in self.foreign.items():
            now = live.get(key)
            if json.dumps(now) != json.dumps(before):
                yield f"foreign {key} was touched: {json.dumps(before)} became {json.dumps(now)}"

    def pod_faults(self, documents, live):
        """Each workload has its pods, of its present template, and there are no others."""
        pods = {}
        for pod in self.kubernetes.items("/api/v1/pods"):
            meta = pod["metadata"]
            if meta["namespace"] in SYSTEM:
                continue
            whose = meta.get("labels", {})
            number = whose.get("unkey.com/deployment.id") or whose.get("unkey.com/sentinel.id")
            pods.setdefault((meta["namespace"], number), []).append(pod)
        for document in documents:
            if document["kind"] == "cilium_network_policy":
                continue
            spec = document["spec"]
            namespace = spec.get("k8s_namespace", SENTINELS)
            its = pods.pop((namespace, document["id"]), [])
            count = spec.get("replicas")
            if "autoscaling" in spec:
                workload = live.get(("replicasets", namespace, spec["k8s_name"]), {"spec": {}})
                count = workload["spec"].get("replicas", 0)
                bounds = spec["autoscaling"]
                if not bounds["min_replicas"] <= count <= bounds["max_replicas"]:
                    yield f"{document['id']}: {count} replicas are not within {bounds}"
            images = {p["spec"]["containers"][0]["image"] for p in its}
            if len(its) != count or any("deletionTimestamp" in p["metadata"] for p in its):
                yield f"{document['id']}: {len(its)} pods instead of {count}"
            elif images - {spec["image"]}:
                yield f"{document['id']}: pods of {images} instead of {spec['image']}"
        for key, rest in pods.items():
            yield f"{len(rest)} pods of {key} too many"


class Foreign(dict):
    """Objects of others, in our namespaces and with names and labels like ours, as they were once settled."""

    def __init__(self, kubernetes):
        super().__init__()
        self.kubernetes = kubernetes

    def make(self, namespace, number):
        name = f"foreign-{number}"
        ports = [{"port": 80}]
        pod = {"metadata": {"labels": {"of": "others"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
        for resource, marks, spec in (
                ("services", {}, {"clusterIP": "None", "ports": ports, "selector": {"of": "others"}}),
                ("ciliumnetworkpolicies", MANAGED_BY, {"endpointSelector": {}}),
                ("replicasets", {**MANAGED_BY, "davit.dev/region": "elsewhere"},
                 {"replicas": 0, "selector": {"matchLabels": {"of": "others"}}, "template": pod}),
                ("replicasets", {}, {"replicas": 0, "selector": {"matchLabels": {"of": "others"}},
                                     "template": pod})):
            key = (resource, namespace, f"{name}{len(marks)}")
            collection = path_of(*key).rpartition("/")[0]
            what = {"apiVersion": "cilium.io/v2", "kind": "CiliumNetworkPolicy"} if "cilium" in collection else {}
            status, answer = self.kubernetes.request("POST", collection, {
                **what, "metadata": {"name": key[2], "labels": marks}, "spec": spec})
            if status != 201:
                raise AssertionError(f"{collection}: {status} {answer}")
            self[key] = self.settled(key)

    def settled(self, key):
        """As a list shows it, when its controller has seen it."""
        def seen():
            name = key[2]
            found = self.kubernetes.items(path_of(*key).rpartition("/")[0] + f"?fieldSelector=metadata.name%3D{name}")
            ready = key[0] != "replicasets" or found[0].get("status", {}).get("observedGeneration")
            return found[0] if ready else None
        return wait_until(f"{key} is settled", seen, 60)

    def remove(self):
        """All of them, by us."""
        for key in self:
            self.kubernetes.request("DELETE", path_of(*key))
        self.clear()

    def lose(self, namespace):
        """Its namespace is deleted, by us."""
        for key in [k for k in self if k[1] == namespace]:
            del self[key]
