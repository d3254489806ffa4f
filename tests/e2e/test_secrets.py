"""Secrets of workloads: encrypted in the control plane, decrypted by the agent into Secrets on a real API server.

DAVIT_LONG=1: 200 deployments.
"""

import base64
import os
import re
import secrets
import threading
import unittest

import parts
from api_proxy import ApiProxy
from parts import deployment, wait_until

LONG = os.environ.get("DAVIT_LONG") == "1"
COUNT = 200 if LONG else 12
# Memory of a process that others may have written: no mapped files, and not what a sanitizer reserves.
WRITABLE = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) rw-p \S+ \S+ 0 *(\[heap\]|\[stack\])?$", re.M)
REGION_BYTES_MAX = 256 << 20


class OnKubernetes(parts.KubernetesCase):
    def setUp(self):
        super().setUp()
        self.key = self.world.folder / "agent.key"
        self.public = parts.seal("keygen", "-o", self.key).strip()
        self.settings = self.world.write("secrets.toml", f"""
[plugin.secrets]
module = "secrets_file"
key_file = "{self.key}"
[plugin.applier]
secrets = "secrets"
[plugin.deployment]
secrets_as = "secret"
""")
        self.proxy = ApiProxy(self.kubernetes, self.world.folder)
        self.server = self.world.server().start()
        self.world.wait_ready(self.server)
        self.agent = self.world.agent(kubeconfig=self.proxy.kubeconfig, extra=parts.AT_ONCE)
        self.agent.argv.append(str(self.settings))
        self.plaintexts = set()
        self.namespace = "secrets-" + self._testMethodName.removeprefix("test_").split("_")[0]

    def tearDown(self):
        self.proxy.down()
        super().tearDown()

    def sealed(self, plaintext=None, public=None):
        """A value that nobody else has, and its ciphertext."""
        plaintext = plaintext or "plain-" + secrets.token_hex(16)
        self.plaintexts.add(plaintext)
        return plaintext, parts.seal("encrypt", "--keyring", "env_1", "--key", public or self.public,
                                     plaintext=plaintext).strip()

    def workload(self, number, **ciphertexts):
        document = deployment(number, self.namespace)
        if ciphertexts:
            document["spec"]["encrypted_environment_variables"] = {"secrets": ciphertexts}
        return document

    def values(self, number):
        """What the Secret of a workload has; None: there is no Secret."""
        status, found = self.kubernetes.request("GET", f"/api/v1/namespaces/{self.namespace}/secrets/deploy-d-{number}")
        if status == 404:
            return None
        self.assertEqual(status, 200, found)
        return {key: base64.b64decode(value).decode() for key, value in found.get("data", {}).items()}

    def wait_values(self, wanted, seconds=60):
        """`wanted`: by number."""
        def differ():
            return {n: self.values(n) for n, values in wanted.items() if self.values(n) != values}
        wait_until(lambda: f"{len(differ())} Secrets, {list(differ().items())[:2]}\n{self.agent.tail()}",
                   lambda: not differ(), seconds)

    def pods(self, number):
        return [p for p in self.kubernetes.items(f"/api/v1/namespaces/{self.namespace}/pods")
                if p["metadata"].get("labels", {}).get("unkey.com/deployment.id") == f"d_{number}"
                and "deletionTimestamp" not in p["metadata"]]

    def wait_said(self, number, *expressions):
        """What `davit status` says of a record."""
        def said():
            return self.world.davit("status", "deployment", f"d_{number}", "--region", parts.REGION)[1]
        for expression in expressions:
            wait_until(lambda: f"{expression} in {said()}", lambda e=expression: re.search(e, said()))

    def test_values_arrive_rotate_and_go(self):
        made = {n: self.sealed() for n in range(COUNT)}
        self.world.apply([self.workload(n, DATABASE_URL=c) for n, (_, c) in made.items()])
        self.agent.start()
        self.wait_values({n: {"DATABASE_URL": p} for n, (p, _) in made.items()}, 60 + COUNT)
        self.world.wait_running([f"d_{n}" for n in range(COUNT)], seconds=60 + COUNT)
        before = self.pods(0)
        self.assertEqual(before[0]["spec"]["containers"][0]["envFrom"], [{"secretRef": {"name": "deploy-d-0"}}])
        self.assertEqual(before[0]["spec"]["serviceAccountName"], "deploy-d-0")

        plaintext, ciphertext = self.sealed()
        self.world.apply([self.workload(0, DATABASE_URL=ciphertext), self.workload(1)])
        self.wait_values({0: {"DATABASE_URL": plaintext}, 2: {"DATABASE_URL": made[2][0]}})
        wait_until("its pods are new", lambda: (now := self.pods(0)) and
                   now[0]["metadata"]["uid"] != before[0]["metadata"]["uid"], 60)
        self.wait_values({1: None})
        # Its account is gone, and its pods do not ask for it.
        for pod in self.pods(1):
            self.kubernetes.request("DELETE", f"/api/v1/namespaces/{self.namespace}/pods/{pod['metadata']['name']}")
        wait_until("it has another pod", lambda: [(p["spec"]["serviceAccountName"], p["status"]["phase"])
                                                  for p in self.pods(1)] == [("default", "Running")])

        for n in range(COUNT):
            self.world.delete("deployment", f"d_{n}")
        self.world.wait_gone()
        left = [s["metadata"]["name"] for s in self.kubernetes.items(f"/api/v1/namespaces/{self.namespace}/secrets")]
        self.assertEqual([name for name in left if name.startswith("deploy-")], [])
        self.check_nothing_is_left()
        self.check_clean_end(self.agent, self.server)

    def check_nothing_is_left(self):
        """No plaintext in what the agent and the server have written, said or keep in memory."""
        forms = [form for p in self.plaintexts for form in (p.encode(), base64.b64encode(p.encode())[:-4])]
        said = self.world.davit("status", "-o", "json")[1].encode()
        self.assertEqual([f for f in forms if f in said], [])
        for path in self.world.folder.rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                self.assertEqual([f for f in forms if f in content], [], path)
        self.assertNotEqual(self.search_memory(self.agent.process.pid, [self.public.encode()]), [], "nothing is found")
        for process in (self.agent, self.server):
            found = self.search_memory(process.process.pid, forms)
            self.assertEqual(found, [], f"in the memory of {process.name}")

    @staticmethod
    def search_memory(pid, forms):
        found = []
        with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
            for begin, end, _ in WRITABLE.findall(maps.read()):
                begin, end = int(begin, 16), int(end, 16)
                if end - begin > REGION_BYTES_MAX:
                    continue
                try:
                    memory.seek(begin)
                    content = memory.read(end - begin)
                except OSError:
                    continue
                found += [form for form in forms if form in content]
        return found

    def test_what_is_changed_behind_our_back_is_put_back(self):
        plaintext, ciphertext = self.sealed()
        self.world.apply([self.workload(0, TOKEN=ciphertext)])
        self.agent.start()
        self.wait_values({0: {"TOKEN": plaintext}})
        path = f"/api/v1/namespaces/{self.namespace}/secrets/deploy-d-0"
        for patch in ({"data": {"TOKEN": base64.b64encode(b"changed").decode()}}, {"data": {"TOKEN": None}}):
            status, said = self.kubernetes.request("PATCH", path + "?fieldManager=kubectl-edit", patch,
                                                   "application/merge-patch+json")
            self.assertEqual(status, 200, said)
            self.wait_values({0: {"TOKEN": plaintext}})
        self.kubernetes.request("DELETE", path)
        self.wait_values({0: {"TOKEN": plaintext}})

    def test_a_secret_that_cannot_be_decrypted_holds_up_nobody(self):
        good, ciphertext = self.sealed()
        stranger = parts.seal("keygen", "-o", self.world.folder / "stranger.key").strip()
        _, foreign = self.sealed(public=stranger)
        self.world.apply([self.workload(0, A=ciphertext, B=foreign), self.workload(1, A=ciphertext)])
        self.agent.start()
        self.wait_values({1: {"A": good}, 0: None})
        self.wait_said(0, r"parked +deployment +d_0", "the value of B: env_1: ")

        # The key is away: the record waits, and what runs goes on.
        hidden = self.world.folder / "hidden.key"
        self.key.rename(hidden)
        plaintext, ciphertext = self.sealed()
        self.world.apply([self.workload(1, A=ciphertext), self.workload(2)])
        self.world.wait_running(["d_2"])
        self.wait_said(1, r"delayed +deployment +d_1", "the value of A: env_1: ")
        self.assertEqual(self.values(1), {"A": good})
        hidden.rename(self.key)
        self.wait_values({1: {"A": plaintext}})

    def test_killed_between_secret_and_workload(self):
        for before_the_answer in (False, True):
            with self.subTest(before_the_answer=before_the_answer):
                self.proxy.reset()
                begun, killed = threading.Event(), threading.Event()

                def hook(call, begun=begun, killed=killed):
                    if call.mutation and "/secrets/deploy-" in call.path and not begun.is_set():
                        begun.set()
                        self.agent.kill()
                        killed.set()
                if before_the_answer:
                    self.proxy.answered = hook
                else:
                    self.proxy.sent = hook
                number = 100 + before_the_answer
                plaintext, ciphertext = self.sealed()
                self.world.apply([self.workload(number, A=ciphertext)])
                self.agent.start()
                wait_until("it was killed", killed.is_set)
                self.agent.start()
                self.world.wait_running([f"d_{number}"])
                self.wait_values({number: {"A": plaintext}})
                self.agent.kill()


if __name__ == "__main__":
    unittest.main(verbosity=2)
