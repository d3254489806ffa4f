"""Objects of thirty kinds for manifests, and how two clusters' worth of them are compared field by field."""

import copy

CONTAINER = {"name": "main", "image": "registry.example/app:1", "resources": {"limits": {"cpu": "0.10", "memory": "64Mi"}}}
# Written by Kubernetes, or by whoever applied the object. A pod's zone is that of its node.
CLUSTER_WRITES = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink", "namespace")
OF_THE_WRITER = ("davit.dev/", "applyset.kubernetes.io/", "deployment.kubernetes.io/", "pv.kubernetes.io/",
                 "endpoints.kubernetes.io/", "endpointslice.kubernetes.io/", "topology.kubernetes.io/")
# Different in each object, whoever made it.
ASSIGNED = ("clusterIP", "clusterIPs", "nodeName", "controller-uid", "batch.kubernetes.io/controller-uid", "volumeName")
WIDGETS = {
    "metadata": {"name": "widgets.davit.test"},
    "spec": {"group": "davit.test", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
             "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                           "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


def template(name, **spec):
    return {"metadata": {"labels": {"app": name}}, "spec": {"containers": [CONTAINER], **spec}}


def selected(name):
    return {"matchLabels": {"app": name}}


def replicas(i):
    """Most workloads have no pods: the nodes take so many."""
    return 1 if i < 1 else 0


# apiVersion, kind, resource, and what an object has besides its name.
KINDS = (
    ("v1", "ConfigMap", "configmaps", lambda n, i: {"data": {"number": str(i), "text": "a: [1, 2]\n"}}),
    ("v1", "Secret", "secrets", lambda n, i: {"type": "Opaque", "stringData": {"PASSWORD": f"plain-{i}"}}),
    ("v1", "Service", "services", lambda n, i: {"spec": {"selector": {"app": n}, "ports": [{"port": 80 + i, "name": "a"}]}}),
    ("v1", "ServiceAccount", "serviceaccounts", lambda n, i: {"automountServiceAccountToken": False}),
    ("v1", "Endpoints", "endpoints", lambda n, i: {"subsets": [
        {"addresses": [{"ip": "192.0.2.7"}], "ports": [{"port": 80}]}]}),
    ("v1", "LimitRange", "limitranges", lambda n, i: {"spec": {"limits": [
        {"type": "PersistentVolumeClaim", "max": {"storage": f"{100 + i}Gi"}}]}}),
    ("v1", "ResourceQuota", "resourcequotas", lambda n, i: {"spec": {"hard": {"count/events": str(100000 + i)}}}),
    ("v1", "PodTemplate", "podtemplates", lambda n, i: {"template": template(n)}),
    ("v1", "ReplicationController", "replicationcontrollers", lambda n, i: {"spec": {
        "replicas": replicas(i), "selector": {"app": n}, "template": template(n)}}),
    ("v1", "PersistentVolumeClaim", "persistentvolumeclaims", lambda n, i: {"spec": {
        "storageClassName": "", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}),
    ("v1", "Pod", "pods", lambda n, i: {"spec": {"containers": [CONTAINER], "automountServiceAccountToken": False}}),
    ("apps/v1", "Deployment", "deployments", lambda n, i: {"spec": {
        "replicas": replicas(i), "selector": selected(n), "template": template(n)}}),
    ("apps/v1", "StatefulSet", "statefulsets", lambda n, i: {"spec": {
        "replicas": replicas(i), "serviceName": n, "selector": selected(n), "template": template(n)}}),
    ("apps/v1", "DaemonSet", "daemonsets", lambda n, i: {"spec": {
        "selector": selected(n), "template": template(n, **({} if i < 1 else {"nodeSelector": {"davit.test/no": "node"}}))}}),
    ("apps/v1", "ReplicaSet", "replicasets", lambda n, i: {"spec": {
        "replicas": replicas(i), "selector": selected(n), "template": template(n)}}),
    ("apps/v1", "ControllerRevision", "controllerrevisions", lambda n, i: {"revision": i + 1, "data": {"a": {"b": i}}}),
    ("batch/v1", "Job", "jobs", lambda n, i: {"spec": {"suspend": True, "template": template(n, restartPolicy="Never")}}),
    ("batch/v1", "CronJob", "cronjobs", lambda n, i: {"spec": {
        "schedule": "0 0 31 2 *", "jobTemplate": {"spec": {"template": template(n, restartPolicy="Never")}}}}),
    ("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", lambda n, i: {"spec": {
        "minReplicas": 1, "maxReplicas": 3,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "deployment-1"}}}),
    ("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", lambda n, i: {"spec": {
        "minAvailable": 0, "selector": selected(n)}}),
    ("networking.k8s.io/v1", "Ingress", "ingresses", lambda n, i: {"spec": {"rules": [{"host": f"{n}.example", "http": {
        "paths": [{"path": "/", "pathType": "Prefix",
                   "backend": {"service": {"name": n, "port": {"number": 80}}}}]}}]}}),
    ("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", lambda n, i: {"spec": {
        "podSelector": selected(n), "policyTypes": ["Ingress"]}}),
    ("rbac.authorization.k8s.io/v1", "Role", "roles", lambda n, i: {"rules": [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": [n]}]}),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", lambda n, i: {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": f"role-{i}"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": n}]}),
    ("coordination.k8s.io/v1", "Lease", "leases", lambda n, i: {"spec": {"holderIdentity": n, "leaseDurationSeconds": 9}}),
    ("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", lambda n, i: {
        "addressType": "IPv4", "endpoints": [{"addresses": ["192.0.2.9"]}], "ports": [{"port": 80 + i}]}),
    ("storage.k8s.io/v1", "CSIStorageCapacity", "csistoragecapacities", lambda n, i: {
        "storageClassName": "none", "capacity": f"{i + 1}Gi"}),
    ("cilium.io/v2", "CiliumNetworkPolicy", "ciliumnetworkpolicies", lambda n, i: {"spec": {"endpointSelector": selected(n)}}),
    ("resource.k8s.io/v1", "ResourceClaimTemplate", "resourceclaimtemplates", lambda n, i: {"spec": {"spec": {}}}),
    ("davit.test/v1", "Widget", "widgets", lambda n, i: {
        "spec": {"large": 9007199254740993 + i, "real": 0.1 + i, "later": {"x-unknown": [True, {}, []], "text": "0.10"}}}),
)
RESOURCES = {(version, kind): resource for version, kind, resource, _ in KINDS}


def made(kind, i):
    """The object of this kind with this number."""
    version, name, _, more = next(k for k in KINDS if k[1] == kind)
    called = f"{name.lower()}-{i}"
    return {"apiVersion": version, "kind": name, "metadata": {"name": called, "labels": {"davit.test/number": str(i)}},
            **copy.deepcopy(more(called, i))}


def objects(count, without=()):
    """So many objects, of all other kinds in turn."""
    kinds = [kind for _, kind, _, _ in KINDS if kind not in without]
    return [made(kinds[n % len(kinds)], n // len(kinds)) for n in range(count)]


def collection(obj, namespace):
    version = obj["apiVersion"]
    return (f"/apis/{version}" if "/" in version else f"/api/{version}") + \
        f"/namespaces/{namespace}/{RESOURCES[version, obj['kind']]}"


def path(obj, namespace):
    return f"{collection(obj, namespace)}/{obj['metadata']['name']}"


def without_assigned(value):
    if isinstance(value, dict):
        return {k: without_assigned(v) for k, v in value.items() if k not in ASSIGNED}
    return [without_assigned(v) for v in value] if isinstance(value, list) else value


def compared(live):
    """What of a live object does not depend on who applied it, and when."""
    out = {k: without_assigned(v) for k, v in live.items() if k != "status"}
    metadata = {k: v for k, v in out["metadata"].items() if k not in CLUSTER_WRITES}
    for member in ("labels", "annotations"):
        kept = {k: v for k, v in metadata.get(member, {}).items() if not k.startswith(OF_THE_WRITER)}
        metadata.pop(member, None)
        if kept:
            metadata[member] = kept
    return {**out, "metadata": metadata}
