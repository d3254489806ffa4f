"""What a site and a record say of their pods, on a real API server with Kubernetes' own Pod Security admission."""

import base64
import json
import re
import unittest

import parts
from parts import deployment, wait_until

CREDENTIAL = json.dumps({"auths": {"registry.example": {"username": "davit", "password": "hunter2"}}})
NAMESPACE = "strict"


class OnKubernetes(parts.KubernetesCase):
    def setUp(self):
        super().setUp()
        for path, body in (
                ("/api/v1/namespaces", {"metadata": {"name": NAMESPACE, "labels": {
                    "pod-security.kubernetes.io/enforce": "restricted"}}}),
                ("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "tenants"}, "value": 1000}),
                (f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", {"metadata": {"name": "web"}})):
            status, said = self.kubernetes.request("POST", path, body)
            self.assertIn(status, (201, 409), said)
        sealed = self.world.folder / "sealed/registries"
        sealed.mkdir(parents=True)
        key = self.world.folder / "agent.key"
        public = parts.seal("keygen", "-o", key).strip()
        (sealed / "depot").write_text(parts.seal("encrypt", "--key", public, "--ref", "registries/depot",
                                                 plaintext=CREDENTIAL), encoding="utf-8")
        self.settings = self.world.write("pods.toml", f"""
[plugin.secrets]
module = "secrets_file"
key_file = "{key}"
directory = "{sealed.parent}"
[plugin.applier]
secrets = "secrets"
resync_interval_ms = 3000
[[plugin.deployment.pull_secrets]]
name = "registry"
ref = "registries/depot"
[plugin.deployment.pod]
priority_class = "tenants"
labels = {{ team = "platform" }}
""")
        self.server = self.world.server().start()
        self.world.wait_ready(self.server)
        self.agent = self.world.agent(kubeconfig=self.kubernetes.kubeconfig, extra=parts.AT_ONCE)
        self.agent.argv.append(str(self.settings))
        self.metrics_port = self.world.with_metrics(self.agent)
        self.agent.start()

    def pods(self):
        return {p["metadata"]["labels"]["unkey.com/deployment.id"]: p
                for p in self.kubernetes.items(f"/api/v1/namespaces/{NAMESPACE}/pods")}

    def test_pods_are_as_site_and_record_say(self):
        restricted = {"pod_security": "restricted"}
        self.world.apply([
            deployment(0, NAMESPACE),
            deployment(1, NAMESPACE, pod=restricted),
            deployment(2, NAMESPACE, ephemeral_storage={"size_mib": "512"},
                       pod={**restricted, "service_account": "web", "mount_service_account_token": True,
                            "labels": {"tier": "paid"}, "annotations": {"example.com/owner": "Ann & Bob"}}),
            deployment(3, NAMESPACE, pod={**restricted, "run_as_non_root": False})])
        self.world.wait_running(["d_1", "d_2"])

        def said(number):
            return self.world.davit("status", "deployment", f"d_{number}", "--region", parts.REGION)[1]
        for number, violated in ((0, "allowPrivilegeEscalation"), (3, "runAsNonRoot")):
            wait_until(lambda n=number: said(n), lambda n=number, v=violated: re.search(
                rf"violates PodSecurity .restricted:latest.: .*{v}", said(n), re.S))
        pods = self.pods()
        self.assertEqual(sorted(pods), ["d_1", "d_2"])
        spec, labels = pods["d_2"]["spec"], pods["d_2"]["metadata"]["labels"]
        self.assertEqual((spec["serviceAccountName"], spec["priority"]), ("web", 1000))
        self.assertEqual((labels["team"], labels["tier"]), ("platform", "paid"))
        self.assertEqual(pods["d_2"]["metadata"]["annotations"]["example.com/owner"], "Ann & Bob")
        self.assertEqual(spec["containers"][0]["resources"]["limits"]["ephemeral-storage"], "512Mi")
        self.assertIn("volumes", spec, "the account's token")
        self.assertNotIn("volumes", pods["d_1"]["spec"])

        # The registry's credential is where the pods look for it, and comes back.
        path = f"/api/v1/namespaces/{NAMESPACE}/secrets/registry"

        def credential():
            status, found = self.kubernetes.request("GET", path)
            return base64.b64decode(found["data"][".dockerconfigjson"]).decode() if status == 200 else None
        self.assertEqual(credential(), CREDENTIAL)
        self.assertEqual(spec["imagePullSecrets"], [{"name": "registry"}])
        self.kubernetes.request("DELETE", path)
        wait_until("the credential is there again", lambda: credential() == CREDENTIAL)

        # What the API server has added is no drift, after a restart neither.
        self.agent.kill()
        self.agent.start()
        self.world.apply([deployment(4, NAMESPACE, pod=restricted)])
        self.world.wait_running(["d_1", "d_2", "d_4"])
        now = self.pods()
        self.assertEqual([now[d]["metadata"]["uid"] for d in pods], [p["metadata"]["uid"] for p in pods.values()])
        self.assertEqual(parts.metrics(self.metrics_port).get("davit_applier_repairs_total", 0), 0,
                         self.agent.tail())

        # A record that relaxes itself replaces its pod.
        self.world.apply([deployment(2, NAMESPACE, pod={"pod_security": "restricted", "service_account": ""})])
        wait_until("the pod has the default account", lambda: self.pods().get("d_2", {}).get("spec", {}).get(
            "serviceAccountName") == "default")
        self.check_clean_end(self.agent, self.server)


if __name__ == "__main__":
    unittest.main(verbosity=2)
