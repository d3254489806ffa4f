"""The objects that Krane makes of a deployment in a cluster, at its revision with Secrets and autoscalers: who applies
them, in which order and with which fields. The agents of Davit take such objects over."""

import base64

MANAGER = "?fieldManager=krane"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
HIDDEN = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "KUBERNETES_SERVICE_PORT_HTTPS", "KUBERNETES_PORT",
          "KUBERNETES_PORT_443_TCP", "KUBERNETES_PORT_443_TCP_PROTO", "KUBERNETES_PORT_443_TCP_PORT",
          "KUBERNETES_PORT_443_TCP_ADDR")


def labels(spec, *without):
    ids = {f"unkey.com/{part}.id": spec.get(f"{part}_id", "")
           for part in ("workspace", "project", "app", "environment", "deployment", "build") if part not in without}
    return {**ids, "app.kubernetes.io/managed-by": "krane", "app.kubernetes.io/component": "deployment"}


def environment(spec, region):
    values = {"PORT": str(spec["port"]), "UNKEY_DEPLOYMENT_ID": spec["deployment_id"], "UNKEY_ENVIRONMENT_SLUG": "",
              "UNKEY_REGION": region, "UNKEY_GIT_COMMIT_SHA": "", "UNKEY_GIT_BRANCH": "", "UNKEY_GIT_REPO": "",
              "UNKEY_GIT_COMMIT_MESSAGE": ""}
    return [*({"name": name, "value": value} for name, value in values.items()),
            {"name": "UNKEY_INSTANCE_ID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            *({"name": name, "value": ""} for name in HIDDEN)]


def pod_template(spec, region, secrets_name):
    cpu, memory = int(spec["cpu_millicores"]), int(spec["memory_mib"])
    same = {"matchLabels": {"unkey.com/deployment.id": spec["deployment_id"]}}
    container = {"name": "deployment", "image": spec["image"], "imagePullPolicy": "IfNotPresent",
                 "env": environment(spec, region),
                 "ports": [{"name": "deployment", "containerPort": spec["port"]}],
                 "resources": {"limits": {"cpu": f"{cpu}m", "memory": f"{memory}Mi"},
                               "requests": {"cpu": f"{max(1, cpu // 4)}m", "memory": f"{max(1, memory // 4)}Mi"}}}
    pod = {"runtimeClassName": "gvisor", "restartPolicy": "Always", "automountServiceAccountToken": False,
           "enableServiceLinks": False, "containers": [container],
           "tolerations": [{"key": "karpenter.sh/nodepool", "operator": "Equal", "value": "untrusted",
                            "effect": "NoSchedule"}],
           "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
                                          "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": same}],
           "affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
               {"weight": 100, "podAffinityTerm": {"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {
                   "matchLabels": {"unkey.com/environment.id": spec["environment_id"],
                                   "app.kubernetes.io/component": "sentinel"}},
                                                   "namespaces": ["sentinel"]}}]}}}
    if secrets_name:
        container["envFrom"] = [{"secretRef": {"name": secrets_name}}]
        pod["serviceAccountName"] = secrets_name
    return {"metadata": {"generateName": spec["k8s_name"] + "-", "labels": labels(spec)}, "spec": pod}


def autoscaler(spec, owner):
    bounds = spec["autoscaling"]
    return {"minReplicas": bounds["min_replicas"], "maxReplicas": bounds["max_replicas"],
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner["name"]},
            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}},
            "metrics": [{"type": "Resource", "resource": {
                "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]}


class Krane:
    """Krane's agent of the rig's cluster."""

    def __init__(self, kubernetes, region):
        self.kubernetes = kubernetes
        self.region = region

    def sent(self, method, path, body, content_type="application/json"):
        status, answer = self.kubernetes.request(method, path, body, content_type)
        assert status in (200, 201, 409), (method, path, status, answer)
        return answer

    def apply(self, version, resource, ns, kind, name, body):
        root = "/api/v1" if version == "v1" else f"/apis/{version}"
        metadata = {"namespace": ns, "name": name, **body.pop("metadata", {})}
        return self.sent("PATCH", f"{root}/namespaces/{ns}/{resource}/{name}{MANAGER}",
                         {"apiVersion": version, "kind": kind, "metadata": metadata, **body}, APPLY)

    def deploy(self, spec, values):
        """`values`: the plaintexts of its secrets, by variable; {}: it has none. Returns the ReplicaSet."""
        ns, name = spec["k8s_namespace"], spec["k8s_name"]
        self.sent("POST", "/api/v1/namespaces", {"metadata": {"name": ns}})
        self.apply("v1", "serviceaccounts", ns, "ServiceAccount", "default", {"automountServiceAccountToken": False})
        secrets_name = "deploy-" + spec["deployment_id"].lower().replace("_", "-") if values else ""
        own = {"unkey.com/deployment.id": spec["deployment_id"], "app.kubernetes.io/managed-by": "krane"}
        if values:
            data = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
            self.apply("v1", "secrets", ns, "Secret", secrets_name,
                       {"metadata": {"labels": own}, "type": "Opaque", "data": data})
            self.apply("v1", "serviceaccounts", ns, "ServiceAccount", secrets_name,
                       {"metadata": {"labels": own}, "automountServiceAccountToken": False})
        workload = {"metadata": {"labels": labels(spec)}, "status": {"replicas": 0}, "spec": {
            "minReadySeconds": 30, "template": pod_template(spec, self.region, secrets_name),
            "selector": {"matchLabels": {"unkey.com/deployment.id": spec["deployment_id"]}}}}
        if "replicas" in spec:
            workload["spec"]["replicas"] = spec["replicas"]
        made = self.apply("apps/v1", "replicasets", ns, "ReplicaSet", name, workload)
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": made["metadata"]["uid"],
                 "controller": True, "blockOwnerDeletion": True}
        for resource in ("secrets", "serviceaccounts") if values else ():
            self.sent("PATCH", f"/api/v1/namespaces/{ns}/{resource}/{secrets_name}{MANAGER}",
                      {"metadata": {"ownerReferences": [owner]}}, MERGE)
        if "autoscaling" in spec:
            self.apply("autoscaling/v2", "horizontalpodautoscalers", ns, "HorizontalPodAutoscaler", name, {
                "metadata": {"labels": labels(spec, "build"), "ownerReferences": [owner]},
                "spec": autoscaler(spec, made["metadata"])})
        return made
