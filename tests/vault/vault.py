"""A HashiCorp Vault of its own, built by build.sh: started, initialized, sealed and asked by its HTTP API."""

import base64
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def program():
    """None: it is not built, and is not to be had here."""
    found = subprocess.run([FOLDER / "build.sh", "--find"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                           check=False)
    return Path(found.stdout.strip()) / "vault-server" if found.returncode == 0 else None


def b64(text):
    return base64.b64encode(text.encode()).decode()


class Vault:
    """Unsealed, with an engine `transit` and a KV of version 2 at `secret`. `log`: a file for what it says."""

    def __init__(self, log=None, preexec_fn=None):
        with open(log or os.devnull, "ab") as out:
            self.process = subprocess.Popen([program()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=out,
                                            preexec_fn=preexec_fn)
        self.url = self.process.stdout.readline().decode().strip()
        if not self.url:
            raise RuntimeError("vault-server has ended")
        self.token = None
        made = self.ask("PUT", "sys/init", {"secret_shares": 1, "secret_threshold": 1})
        self.unseal_key, self.token = made["keys"][0], made["root_token"]
        self.unseal()
        self.ask("POST", "sys/mounts/transit", {"type": "transit"})
        self.ask("POST", "sys/mounts/secret", {"type": "kv", "options": {"version": "2"}})
        # A KV that was just mounted upgrades itself for a moment.
        while self.request("POST", "secret/data/first", {"data": {"a": "b"}})[0] != 200:
            pass

    def request(self, method, path, body=None, token=None):
        """(status, JSON)."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/v1/{path}", data, {"X-Vault-Token": token or self.token or ""},
                                         method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")

    def ask(self, method, path, body=None):
        status, answer = self.request(method, path, body)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {answer}")
        return answer

    def seal(self):
        self.ask("PUT", "sys/seal")

    def unseal(self):
        self.ask("PUT", "sys/unseal", {"key": self.unseal_key})
        # It answers before it is active.
        while self.request("GET", "sys/health")[0] != 200:
            pass

    def make_key(self, name):
        self.ask("POST", f"transit/keys/{name}")

    def encrypt(self, key, plaintext):
        return self.ask("POST", f"transit/encrypt/{key}", {"plaintext": b64(plaintext)})["data"]["ciphertext"]

    def rewrap(self, key, ciphertext):
        return self.ask("POST", f"transit/rewrap/{key}", {"ciphertext": ciphertext})["data"]["ciphertext"]

    def put(self, path, **fields):
        """A new version of a secret of the KV."""
        return self.ask("POST", f"secret/data/{path}", {"data": fields})["data"]["version"]

    def allow(self, policy, *rules):
        """`rules`: (path, capabilities)."""
        text = "\n".join(f'path "{path}" {{ capabilities = {json.dumps(list(what))} }}' for path, what in rules)
        self.ask("PUT", f"sys/policies/acl/{policy}", {"policy": text})

    def approle(self, name, policy, **limits):
        """(role id, secret id) of a new role."""
        if self.request("GET", "sys/auth/approle")[0] != 200:
            self.ask("POST", "sys/auth/approle", {"type": "approle"})
        self.ask("POST", f"auth/approle/role/{name}", {"token_policies": [policy], **limits})
        role = self.ask("GET", f"auth/approle/role/{name}/role-id")["data"]["role_id"]
        return role, self.ask("POST", f"auth/approle/role/{name}/secret-id", {})["data"]["secret_id"]

    def tokens(self):
        """The accessors of all tokens that live."""
        return set(self.ask("LIST", "auth/token/accessors")["data"]["keys"])

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait()
        self.process.stdout.close()


if __name__ == "__main__":
    vault = Vault()
    print(f"VAULT_ADDR={vault.url} VAULT_TOKEN={vault.token}", flush=True)
    sys.stdin.read()
    vault.close()
