"""Secrets of workloads that a real HashiCorp Vault keeps and decrypts, for an agent that logs in by its service account.

DAVIT_LONG=1: 200 deployments, and a Vault that is away for ten minutes.
"""

import base64
import os
import re
import secrets
import signal
import subprocess
import sys
import time
import unittest

import parts
import test_secrets
from parts import REPOSITORY, deployment, die_with_parent, wait_until

sys.path.insert(0, str(REPOSITORY / "tests/vault"))
import vault as vaults  # noqa: E402  pylint: disable=import-error,wrong-import-position

KEY = "davit-env_1"
LONG = os.environ.get("DAVIT_LONG") == "1"
COUNT, AWAY_S = (200, 600) if LONG else (5, 5)


def build_vault():
    built = subprocess.run([REPOSITORY / "tests/vault/build.sh"], stdout=subprocess.PIPE, check=False)
    if built.returncode != 0:
        why = "the Vault cannot be built here: what is missing stands above"
        raise AssertionError(why) if os.environ.get("DAVIT_NO_SKIPS") else unittest.SkipTest(why)


class OnKubernetes(parts.KubernetesCase):
    @classmethod
    def setUpClass(cls):
        build_vault()
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.namespace = "transit-" + self._testMethodName.removeprefix("test_").split("_")[0]
        self.vault = vaults.Vault(self.world.folder / "vault.log", die_with_parent)
        self.addCleanup(self.vault.close)
        self.vault.make_key(KEY)
        self.vault.allow("davit", ("transit/decrypt/davit-*", ["update"]), ("secret/data/environments/*", ["read"]))
        account = self.account()
        self.before = self.vault.tokens()
        self.server = self.world.server().start()
        self.world.wait_ready(self.server)
        self.agent = self.world.agent(kubeconfig=self.kubernetes.kubeconfig, extra=parts.AT_ONCE)
        self.agent.argv.append(str(self.world.write("vault.toml", f"""
[plugin.vault]
module = "secrets_transit"
url = "{self.vault.url}"
key = "davit-{{keyring}}"
kv_folder = "environments/{{keyring}}"
auth = "kubernetes"
role = "davit"
service_account_file = "{account}"
cache_ms = 0
retry_most_ms = 200
breaker_open_ms = 500
[plugin.applier]
secrets = "vault"
[plugin.deployment]
secrets_as = "secret"
""")))
        self.plaintexts = set()

    def account_token(self, name):
        accounts = "/api/v1/namespaces/default/serviceaccounts"
        self.kubernetes.request("POST", accounts, {"metadata": {"name": name}})
        status, made = self.kubernetes.request("POST", f"{accounts}/{name}/token", {"spec": {"expirationSeconds": 7200}})
        self.assertEqual(status, 201, made)
        return made["status"]["token"]

    def account(self):
        """A file with the token of the agent's service account, which the Vault has reviewed by the API server."""
        reviewer = self.account_token("vault")
        self.kubernetes.request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
            "metadata": {"name": "vault"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:auth-delegator"},
            "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": "vault"}]})
        self.vault.ask("POST", "sys/auth/kubernetes", {"type": "kubernetes"})
        self.vault.ask("POST", "auth/kubernetes/config", {
            "kubernetes_host": self.kubernetes.url, "kubernetes_ca_cert": self.kubernetes.ca.read_text(),
            "token_reviewer_jwt": reviewer, "disable_local_ca_jwt": True})
        self.vault.ask("POST", "auth/kubernetes/role/davit", {
            "bound_service_account_names": ["davit-agent"], "bound_service_account_namespaces": ["default"],
            "token_policies": ["davit"], "token_ttl": "30s"})
        return self.world.write("account.token", self.account_token("davit-agent"))

    def plaintext(self):
        self.plaintexts.add(made := "plain-" + secrets.token_hex(16))
        return made

    def document(self, number, **ciphertexts):
        document = deployment(number, self.namespace)
        if ciphertexts:
            document["spec"]["encrypted_environment_variables"] = {"secrets": ciphertexts}
        return document

    def apply(self, number, **ciphertexts):
        self.world.apply([self.document(number, **ciphertexts)])

    def values(self, number):
        """What the Secret of a workload has; None: there is no Secret."""
        status, found = self.kubernetes.request("GET", f"/api/v1/namespaces/{self.namespace}/secrets/deploy-d-{number}")
        if status == 404:
            return None
        self.assertEqual(status, 200, found)
        return {key: base64.b64decode(value).decode() for key, value in found.get("data", {}).items()}

    def wait_values(self, number, **wanted):
        wait_until(lambda: f"{self.values(number)} of d_{number}\n{self.agent.tail()}",
                   lambda: self.values(number) == wanted, 60)

    def wait_said(self, number, *expressions):
        """What `davit status` says of a record."""
        def said():
            return self.world.davit("status", "deployment", f"d_{number}", "--region", parts.REGION)[1]
        for expression in expressions:
            wait_until(lambda: f"{expression} in {said()}", lambda e=expression: re.search(e, said()), 60)

    def check_end(self):
        """Nothing of a secret is left, and no token of the agent's."""
        forms = [form for p in self.plaintexts for form in (p.encode(), base64.b64encode(p.encode())[:-4])]
        search = test_secrets.OnKubernetes.search_memory
        self.assertNotEqual(search(self.agent.process.pid, [KEY.removesuffix("env_1").encode()]), [], "nothing is found")
        self.assertEqual(search(self.agent.process.pid, forms), [], "in the agent's memory")
        self.assertNotEqual(self.vault.tokens(), self.before)
        self.check_clean_end(self.agent, self.server)
        self.assertEqual(self.vault.tokens(), self.before)
        for path in self.world.folder.rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                self.assertEqual([f for f in forms if f in content], [], path)

    def test_values_arrive_and_outlive_a_rotation(self):
        first, second, kept = self.plaintext(), self.plaintext(), self.plaintext()
        old = self.vault.encrypt(KEY, first)
        self.vault.put("environments/env_1/web", password=kept)
        self.vault.put("environments/env_2/web", password=self.plaintext())
        self.agent.start()
        self.apply(0, A=old, PASSWORD="kv:web#password")
        self.wait_values(0, A=first, PASSWORD=kept)
        self.world.wait_running(["d_0"])

        self.vault.ask("POST", f"transit/keys/{KEY}/rotate")
        new = self.vault.rewrap(KEY, old)
        self.assertTrue(new.startswith("vault:v2:"), new)
        self.apply(1, A=old, B=new)
        self.wait_values(1, A=first, B=first)
        self.vault.ask("POST", f"transit/keys/{KEY}/config", {"min_decryption_version": 2})
        self.apply(2, A=old)
        self.apply(3, A=new, B=self.vault.encrypt(KEY, second))
        self.wait_values(3, A=first, B=second)
        self.wait_said(2, r"parked +deployment +d_2", "the value of A: env_1: .*min_decryption_version")
        self.assertIsNone(self.values(2))
        self.assertEqual(self.values(0), {"A": first, "PASSWORD": kept})

        # What others have is out of reach, however it is named.
        self.apply(4, A="kv:../env_2/web#password")
        self.wait_said(4, r"parked +deployment +d_4", "the value of A: env_1: the reference's path is no path")
        self.check_end()

    def test_sealed_it_delays_who_needs_it_and_nobody_else(self):
        first, second = self.plaintext(), self.plaintext()
        self.agent.start()
        self.apply(0, A=self.vault.encrypt(KEY, first))
        self.wait_values(0, A=first)
        ciphertext = self.vault.encrypt(KEY, second)
        self.vault.seal()
        self.apply(0, A=ciphertext)
        self.apply(1, A=ciphertext)
        self.apply(2)
        self.world.wait_running(["d_2"])
        for number in (0, 1):
            self.wait_said(number, rf"delayed +deployment +d_{number}", "the vault is sealed|the vault did not answer")
        self.wait_said(1, "the vault is sealed")
        self.assertEqual(self.values(0), {"A": first})
        self.vault.unseal()
        self.wait_values(0, A=second)
        self.wait_values(1, A=second)
        self.check_end()

    def test_away_it_changes_nothing_that_runs(self):
        """It takes connections and does not answer. What it is not needed for goes on, and later all have their values."""
        numbers = range(COUNT)
        old, new = ({n: self.plaintext() for n in numbers} for _ in "12")
        self.agent.start()
        self.world.apply([self.document(n, A=self.vault.encrypt(KEY, old[n])) for n in numbers])
        self.world.wait_running([f"d_{n}" for n in numbers], seconds=60 + COUNT)
        changed = [self.document(n, A=self.vault.encrypt(KEY, new[n])) for n in numbers]
        self.vault.process.send_signal(signal.SIGSTOP)
        self.world.apply([*changed, self.document(COUNT)])
        self.world.wait_running([f"d_{COUNT}"])
        self.wait_said(0, r"delayed +deployment +d_0", "the vault did not answer")
        until = time.monotonic() + AWAY_S
        while time.monotonic() < until:
            self.assertEqual({n: self.values(n) for n in numbers}, {n: {"A": old[n]} for n in numbers})
            time.sleep(10 if LONG else 1)
        self.vault.process.send_signal(signal.SIGCONT)
        for n in numbers:
            self.wait_values(n, A=new[n])
        self.world.wait_running([f"d_{n}" for n in numbers], seconds=60 + COUNT)
        self.check_end()


if __name__ == "__main__":
    unittest.main(verbosity=2)
