"""A site moves from Krane: its objects stand in a real cluster, and an agent of Davit takes them over."""

import base64
import unittest

import parts
from krane_objects import Krane
from parts import REGION, deployment, wait_until

NAMESPACE = "moved"
AS_KRANE = """
[plugin.deployment]
hide_kubernetes = true
secrets_as = "secret"
inject_label = false
[plugin.applier]
secrets = "secrets"
resync_interval_ms = 1000
[plugin.secrets]
module = "secrets_file"
"""


class OnKubernetes(parts.KubernetesCase):
    def setUp(self):
        super().setUp()
        key = self.world.folder / "agent.key"
        self.public = parts.seal("keygen", "-o", key).strip()
        self.server = self.world.server().start()
        self.world.wait_ready(self.server)
        self.agent = self.world.agent(kubeconfig=self.kubernetes.kubeconfig,
                                      extra=f'{AS_KRANE}key_file = "{key}"\n')

    def document(self, number, value=None, **more):
        out = deployment(number, NAMESPACE, **more)
        if "autoscaling" in more:
            del out["spec"]["replicas"]
        if value is not None:
            out["spec"]["encrypted_environment_variables"] = {"secrets": {"TOKEN": parts.seal(
                "encrypt", "--keyring", "env_1", "--key", self.public, plaintext=value).strip()}}
        return out

    def objects(self):
        """{(resource, name): uid} of what stands in the namespace, the pods, too."""
        paths = {"pods": "/api/v1", "secrets": "/api/v1", "serviceaccounts": "/api/v1", "replicasets": "/apis/apps/v1",
                 "horizontalpodautoscalers": "/apis/autoscaling/v2"}
        return {(resource, o["metadata"]["name"]): o["metadata"]["uid"] for resource, path in paths.items()
                for o in self.kubernetes.items(f"{path}/namespaces/{NAMESPACE}/{resource}")
                if "deletionTimestamp" not in o["metadata"]}

    def pods_ready(self):
        return sum(any(c["type"] == "Ready" and c["status"] == "True" for c in p.get("status", {}).get("conditions", []))
                   for p in self.kubernetes.items(f"/api/v1/namespaces/{NAMESPACE}/pods"))

    def test_what_runs_is_taken_over_and_no_pod_is_replaced(self):
        documents = [self.document(1, "first", replicas=2), self.document(2, "second"), self.document(3),
                     self.document(4, autoscaling={"min_replicas": 2, "max_replicas": 3})]
        krane = Krane(self.kubernetes, REGION)
        for document, value in zip(documents, ("first", "second", None, None), strict=True):
            krane.deploy(document["spec"], {"TOKEN": value} if value else {})
        wait_until(lambda: f"six pods are ready: {self.pods_ready()}", lambda: self.pods_ready() == 6, 120)
        before = self.objects()

        self.world.apply(documents)
        self.agent.start()
        seen = self.world.wait_running([d["id"] for d in documents], seconds=120)
        pods = {name for resource, name in before if resource == "pods"}
        self.assertEqual({c["name"] for d in documents for c in seen[d["id"]]["observed"]["children"]}, pods)
        # They are the agent's own by now, and stay as they are at each resync.
        sets = self.kubernetes.replica_sets([NAMESPACE])
        self.assertEqual({r["metadata"]["annotations"]["davit.dev/id"] for r in sets.values()},
                         {d["id"] for d in documents})
        self.still_there(before)

        # From here on it is a site like any other.
        changed = self.document(1, "third", replicas=2)
        self.world.apply([changed])
        wait_until(lambda: f"the pods of d_1 are new: {self.objects()}",
                   lambda: not any(self.objects().get(key) == uid for key, uid in before.items()
                                   if key[0] == "pods" and key[1].startswith("app-1-")), 120)
        self.assertEqual(self.value("deploy-d-1"), "third")
        for document in documents:
            self.world.delete("deployment", document["id"])
        self.world.wait_gone()
        wait_until(lambda: f"nothing is left: {self.objects()}",
                   lambda: set(self.objects()) <= {("serviceaccounts", "default")}, 60)
        self.check_clean_end(self.agent, self.server)

    def still_there(self, before):
        for _ in range(3):
            now = self.objects()
            self.assertEqual({key: now.get(key) for key in before}, before, self.agent.tail())
            self.assertEqual(self.pods_ready(), 6)
            self.resynced()

    def resynced(self):
        """Waits for one more resync: an object that somebody edits is as before."""
        path = f"/apis/apps/v1/namespaces/{NAMESPACE}/replicasets/app-3"
        status, answer = self.kubernetes.request("PATCH", path + "?fieldManager=somebody",
                                                 {"spec": {"minReadySeconds": 5}}, "application/merge-patch+json")
        self.assertEqual(status, 200, answer)
        wait_until("the edit is taken back",
                   lambda: self.kubernetes.request("GET", path)[1]["spec"]["minReadySeconds"] == 30)

    def value(self, secret):
        status, found = self.kubernetes.request("GET", f"/api/v1/namespaces/{NAMESPACE}/secrets/{secret}")
        self.assertEqual(status, 200, found)
        return base64.b64decode(found["data"]["TOKEN"]).decode()


if __name__ == "__main__":
    unittest.main(verbosity=2)
