"""Pods of a real Kubernetes that have their secrets decrypted, by tokens that its API server has made for them."""

import base64
import itertools
import json
import unittest
import urllib.error
import urllib.request

import parts
from node_peer import NodePeer
from parts import deployment, free_port, wait_until
from relay import Relay
from test_rights import rules_of

METHOD = "krane.v1.SecretsService/DecryptSecretsBlob"
AUDIENCE = "secrets.davit.test"
REFUSED = ("unauthenticated", "the token is not that of a pod of this deployment")
AWAY = ("unavailable", "the token cannot be verified now: try again later")
HTTP_OF_REFUSED = 401
ROLE = "davit-secrets-blob"


class OnKubernetes(parts.KubernetesCase):
    namespace = "blob"

    def setUp(self):
        super().setUp()
        self.key = self.world.folder / "agent.key"
        public = parts.seal("keygen", "-o", self.key).strip()
        self.port = free_port()
        self.server = self.world.server().start()
        self.world.wait_ready(self.server)
        self.relay = Relay(int(self.kubernetes.url.rpartition(":")[2]))
        self.addCleanup(self.relay.close)
        self.agent = self.world.agent(kubeconfig=self.kubernetes.kubeconfig, extra=f"""
[rpc.server.pods]
listen = "127.0.0.1:{self.port}"
role_without_token = "pod"
[plugin.sealed]
module = "secrets_file"
key_file = "{self.key}"
[plugin.reviews]
module = "cluster_kubernetes"
kubeconfig = "{self.account()}"
[plugin.secrets_blob]
module = "secrets_blob"
cluster = "reviews"
secrets = "sealed"
audiences = ["{AUDIENCE}"]
reviews_per_second_per_address = 1000
{parts.AT_ONCE}""")
        self.grant_what_is_asked_for()
        self.agent.start()
        sealed = parts.seal("encrypt", "--keyring", "env_1", "--key", public, plaintext="hunter2-of-d_0").strip()
        documents = [deployment(0, self.namespace), deployment(1, self.namespace)]
        for document in documents:
            document["spec"]["encrypted_environment_variables"] = {"secrets": {"PASSWORD": sealed}}
        self.world.apply(documents)
        self.world.wait_running(["d_0", "d_1"])
        self.pods = {p["metadata"]["labels"]["unkey.com/deployment.id"]: p
                     for p in self.kubernetes.items(f"/api/v1/namespaces/{self.namespace}/pods")}
        self.tokens, self.numbers = [], itertools.count(1)
        self.client = NodePeer("client.mjs")
        self.addCleanup(self.client.close)

    def made(self, path, body):
        status, answer = self.kubernetes.request("POST", path, body)
        self.assertIn(status, (200, 201, 409), answer)
        return answer

    def account(self):
        """The kubeconfig of an account that has the rights of the role and no others."""
        accounts = "/api/v1/namespaces/default/serviceaccounts"
        self.made(accounts, {"metadata": {"name": "reviews"}})
        token = self.made(f"{accounts}/reviews/token", {"spec": {"expirationSeconds": 7200}})["status"]["token"]
        return self.world.write("reviews.kubeconfig", f"""apiVersion: v1
kind: Config
current-context: rig
clusters:
- name: rig
  cluster: {{server: "https://127.0.0.1:{self.relay.port}", certificate-authority: "{self.kubernetes.ca}"}}
users: [{{name: reviews, user: {{token: "{token}"}}}}]
contexts: [{{name: rig, context: {{cluster: rig, user: reviews}}}}]
""")

    def grant_what_is_asked_for(self):
        files = self.agent.argv[2:]
        missing = self.world.davit("check", *files, check=False)[2]
        self.assertIn('may not create tokenreviews (API group "authentication.k8s.io") in all namespaces; '
                      'the agent\'s account may not get pods (API group "") in all namespaces', missing)
        role = next(r for r in self.world.davit("check", "--rights", *files)[1].split("---\n") if ROLE in r)
        rules = [{"apiGroups": [group], "resources": [resource], "verbs": verbs}
                 for group, resource, verbs in rules_of(role)]
        roles = "/apis/rbac.authorization.k8s.io/v1"
        self.made(f"{roles}/clusterroles", {"metadata": {"name": ROLE}, "rules": rules})
        self.made(f"{roles}/clusterrolebindings", {
            "metadata": {"name": ROLE},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": ROLE},
            "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": "reviews"}]})
        wait_until("nothing is missing", lambda: self.world.davit("check", *files, check=False)[0] == 0)

    def token(self, deployment_id=None, audience=AUDIENCE):
        """A token of the pods' service account; of a pod when a deployment is named. As `kubectl create token` asks."""
        spec = {"audiences": [audience], "expirationSeconds": 600}
        if deployment_id:
            of = self.pods[deployment_id]["metadata"]
            spec["boundObjectRef"] = {"kind": "Pod", "apiVersion": "v1", "name": of["name"], "uid": of["uid"]}
        status, answer = self.kubernetes.request(
            "POST", f"/api/v1/namespaces/{self.namespace}/serviceaccounts/default/token",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})
        self.assertEqual(status, 201, answer)
        self.tokens.append(answer["status"]["token"])
        return self.tokens[-1]

    def message(self, token, deployment_id="d_0", environment_id="env_1"):
        """What the program in a pod sends, with the blob as it stands in the pod's variable."""
        variables = {v["name"]: v.get("value") for v in self.pods["d_0"]["spec"]["containers"][0]["env"]}
        return {"encrypted_blob": variables["UNKEY_ENCRYPTED_ENV"], "environment_id": environment_id, "token": token,
                "deployment_id": deployment_id}

    def ask(self, message, **how):
        """By the Connect client: the variables, or (code, text)."""
        number = next(self.numbers)
        call = {"url": f"http://127.0.0.1:{self.port}", "protocol": "connect", "http": "2", "format": "proto", **how}
        since = len(self.client.events)
        self.client.tell(id=number, method=METHOD, message=message, headers=[], timeout_ms=20_000, **call)
        ended = self.client.wait_event("the call has ended", lambda e: e.get("id") == number
                                       and ("error" in e or "end" in e), since=since)
        if "error" in ended:
            return ended["error"]["code"], ended["error"]["message"]
        answers = [e["message"] for e in self.client.events if e.get("id") == number and "message" in e]
        return answers[0].get("env_vars", {})

    def post(self, message):
        """As a program without any library does: (status, JSON)."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/{METHOD}", json.dumps(message).encode(),
                                         {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def test_a_pod_gets_its_variables_and_nobody_else_does(self):
        own = self.token("d_0")
        for how in ({}, {"http": "1.1"}, {"format": "json"}, {"protocol": "grpc"}, {"protocol": "grpc-web"}):
            with self.subTest(how=how):
                self.assertEqual(self.ask(self.message(own), **how), {"PASSWORD": "hunter2-of-d_0"})
        self.assertEqual(self.post(self.message(own)), (200, {"envVars": {"PASSWORD": "hunter2-of-d_0"}}))
        self.assertEqual(self.ask({**self.message(own), "encrypted_blob": ""}), {})

        strangers = {
            "for another deployment": self.message(own, deployment_id="d_1"),
            "for another environment": self.message(own, environment_id="env_2"),
            "by a pod of another deployment": self.message(self.token("d_1")),
            "by a token without a pod": self.message(self.token()),
            "by a token for another audience": self.message(self.token("d_0", "https://kubernetes.default.svc")),
            "by a token that somebody changed": self.message(own[:-8] + own[-8:].swapcase()),
            "by the agent's own administrator": self.message(self.kubernetes.token_file.read_text().strip()),
            "without a token": self.message(""),
        }
        for what, message in strangers.items():
            with self.subTest(what):
                self.assertEqual(self.ask(message), REFUSED)
        self.assertEqual(self.ask(self.message(own, "d_1"), protocol="grpc"), REFUSED)
        status, said = self.post(self.message(own, "d_1"))
        self.assertEqual((status, said["code"], said["message"]), (HTTP_OF_REFUSED, *REFUSED))

        self.delete_pod("d_0")
        self.assertEqual(self.ask(self.message(own)), REFUSED)
        other = self.message(self.token("d_1"), "d_1")
        self.assertEqual(self.ask(other), {"PASSWORD": "hunter2-of-d_0"})
        self.relay.close()
        # A connection that comes at this moment may still be let through.
        wait_until("the API server is away", lambda: self.relay.cut() or self.ask(other) == AWAY)
        self.check_the_port_serves_nothing_else()
        self.check_log()
        self.check_clean_end(self.agent, self.server)

    def delete_pod(self, deployment_id):
        path = f"/api/v1/namespaces/{self.namespace}/pods/{self.pods[deployment_id]['metadata']['name']}"
        self.kubernetes.request("DELETE", path + "?gracePeriodSeconds=0")
        wait_until("the pod is gone", lambda: self.kubernetes.request("GET", path)[0] == 404)

    def check_the_port_serves_nothing_else(self):
        number = next(self.numbers)
        self.client.tell(id=number, method="davit.v1.OperatorService/Get", message={}, headers=[], protocol="connect",
                         url=f"http://127.0.0.1:{self.port}", http="2", format="proto", timeout_ms=9_000)
        ended = self.client.wait_event("it is refused", lambda e: e.get("id") == number and "error" in e)
        self.assertEqual(ended["error"]["code"], "unimplemented", ended)

    def check_log(self):
        log = self.agent.text()
        self.assertIn("the pod is one of another deployment", log)
        secret = base64.b64encode(b"hunter2-of-d_0").decode()
        for never in (*self.tokens, *(t.split(".")[2] for t in self.tokens), "hunter2-of-d_0", secret):
            self.assertNotIn(never, log)


if __name__ == "__main__":
    unittest.main(verbosity=2)
