"""How an agent gets into clusters: kubeconfigs as managed clouds write them, with an exec plugin of the same protocol;
proxies; a Role in a few namespaces instead of a ClusterRole."""

import base64
import json
import os
import shutil
import subprocess
import urllib.parse
from pathlib import Path

import parts
from parts import AT_ONCE, DAVIT, deployment, wait_until
from tunnels import Tunnels

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
SECRETS = "/api/v1/namespaces/default/secrets"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
SOON = AT_ONCE + """
[plugin.applier]
access_review_interval_ms = 500
parked_retry_ms = 1000
"""
USERS = {
    # aws eks update-kubeconfig
    "aws": """exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      args: [--region, eu-central-1, eks, get-token, --cluster-name, demo, --output, json]
      command: aws
      env:
      - name: AWS_PROFILE
        value: production""",
    # gcloud container clusters get-credentials
    "gke-gcloud-auth-plugin": """exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: gke-gcloud-auth-plugin
      installHint: Install gke-gcloud-auth-plugin for use with kubectl by following
        https://cloud.google.com/kubernetes-engine/docs/how-to/cluster-access-for-kubectl
      provideClusterInfo: true""",
    # kubelogin convert-kubeconfig -l workloadidentity
    "kubelogin": """exec:
      apiVersion: client.authentication.k8s.io/v1
      args: [get-token, --login, workloadidentity, --server-id, 6dae42f8-4368-4678-94ff-3960e28e3630]
      command: kubelogin
      env: null
      interactiveMode: Never
      provideClusterInfo: false""",
}


class OnKubernetes(parts.KubernetesCase):
    def setUp(self):
        super().setUp()
        # A server that is new waits before it takes over what another test's has left.
        self.space = f"of-{self._testMethodName[len('test_'):].replace('_', '-')}"[:60].rstrip("-")
        self.server = self.world.server().start()
        self.world.wait_ready(self.server)
        self.bin = self.world.folder / "bin"
        self.bin.mkdir()
        for name in USERS:
            shutil.copy(Path(__file__).with_name("cloud_login.py"), self.bin / name)

    def request(self, method, path, body=None):
        status, answer = self.kubernetes.request(method, path, body)
        self.assertIn(status, (200, 201, 202, 404, 409), answer)
        return answer

    # --- accounts and kubeconfigs

    def account(self, name="davit"):
        """A service account that may do nothing yet."""
        self.request("POST", ACCOUNTS, {"metadata": {"name": name}})
        return name

    def may_do_all(self, account):
        self.request("POST", f"{RBAC}/clusterrolebindings", {
            "metadata": {"name": f"all-of-{account}"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": account}]})

    def token(self, account, of="first"):
        """A token that ends when the Secret `of` is deleted."""
        name = f"{account}-{of}"
        self.request("POST", SECRETS, {"metadata": {"name": name}})
        uid = self.request("GET", f"{SECRETS}/{name}")["metadata"]["uid"]
        bound = {"kind": "Secret", "apiVersion": "v1", "name": name, "uid": uid}
        return self.request("POST", f"{ACCOUNTS}/{account}/token", {
            "spec": {"expirationSeconds": 7200, "boundObjectRef": bound}})["status"]["token"]

    def mode(self, **mode):
        draft = self.bin / "mode.json.new"
        draft.write_text(json.dumps(mode), encoding="utf-8")
        draft.replace(self.bin / "mode.json")

    def runs(self):
        path = self.bin / "runs.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []

    def kubeconfig(self, user, url=None, more=""):
        ca = base64.b64encode(self.kubernetes.ca.read_bytes()).decode()
        return self.world.write("kubeconfig", f"""apiVersion: v1
kind: Config
clusters:
- cluster:
    certificate-authority-data: {ca}
    server: {url or self.kubernetes.url}
{more}  name: demo
contexts:
- context: {{cluster: demo, user: demo}}
  name: demo
current-context: demo
users:
- name: demo
  user:
    {user}
""")

    def agent(self, user, name="agent", extra=SOON, **more):
        agent = self.world.agent(name, kubeconfig=self.kubeconfig(user, **more), extra=extra)
        agent.env = {"PATH": f"{self.bin}:{os.environ['PATH']}"}
        return agent

    def check(self, agent, *options):
        done = subprocess.run([DAVIT, "check", *agent.argv[2:], *options], text=True, capture_output=True,
                              timeout=60 * parts.PATIENCE, check=False, env={**os.environ, **agent.env})
        return done.returncode, done.stdout, done.stderr

    def converges(self, *documents):
        self.world.apply(documents)
        self.world.wait_running([document["id"] for document in documents])

    # --- exec plugins

    def test_kubeconfigs_of_managed_clouds_work(self):
        account = self.account()
        self.may_do_all(account)
        self.mode(token=self.token(account))
        for number, (command, user) in enumerate(USERS.items()):
            with self.subTest(command=command):
                before = len(self.runs())
                agent = self.agent(user, f"agent-{number}")
                self.assertEqual(self.check(agent)[::2], (0, ""))
                agent.start()
                self.converges(deployment(number + 1, self.space))
                runs = self.runs()[before:]
                self.assertEqual(len(runs), 2, "one for the check, and one for all requests of the agent")
                self.assertEqual(runs[1]["argv"][0], command)
                self.assertEqual(runs[1]["profile"], "production" if command == "aws" else "")
                cluster = runs[1]["info"]["spec"].get("cluster", {})
                self.assertEqual(cluster.get("server"), self.kubernetes.url if command.startswith("gke") else None)
                self.assertNotIn(self.mode_token(), agent.text())
                self.check_clean_end(agent)

    def mode_token(self):
        return json.loads((self.bin / "mode.json").read_text(encoding="utf-8"))["token"]

    def test_a_token_for_five_seconds_is_made_anew_in_time(self):
        account = self.account()
        self.may_do_all(account)
        self.mode(token=self.token(account), lives_s=5)
        agent = self.agent(USERS["aws"]).start()
        number = 0
        while len(self.runs()) < 4:
            number += 1
            self.converges(deployment(number, self.space))
        self.assertNotIn("does not accept the credentials", agent.text())
        self.check_clean_end(agent, self.server)

    def test_a_token_that_was_revoked_is_made_anew_and_no_request_fails(self):
        account = self.account()
        self.may_do_all(account)
        self.mode(token=self.token(account))
        agent = self.agent(USERS["kubelogin"]).start()
        self.converges(deployment(1, self.space))
        self.mode(token=self.token(account, of="second"))
        self.request("DELETE", f"{SECRETS}/{account}-first")
        number = 1
        while len(self.runs()) < 2:
            number += 1
            self.converges(deployment(number, self.space))
        self.converges(deployment(number + 1, self.space))
        self.assertNotIn("does not accept the credentials", agent.text())
        self.assertEqual(len(self.runs()), 2)
        self.check_clean_end(agent, self.server)

    def test_a_plugin_that_goes_wrong_is_said_and_waited_for(self):
        account = self.account()
        self.may_do_all(account)
        token = self.token(account)
        said = {"fail": 'it ended with exit code 1; it says: Unable to locate credentials. You can configure credentials '
                        'by running "aws configure".',
                "rubbish": "its answer is no JSON object",
                "terminal": "No such device or address"}
        agent = self.agent(USERS["aws"])
        for does, words in said.items():
            with self.subTest(does=does):
                self.mode(does=does, token=token)
                code, _, err = self.check(agent)
                self.assertNotEqual(code, 0)
                self.assertIn('exec plugin "aws": ', err)
                self.assertIn(words, err)
        agent.start()
        wait_until(agent.tail, lambda: "the kubeconfig's exec plugin has failed" in agent.text())
        self.mode(token=token, slow_s=3)
        self.converges(deployment(1, self.space))
        self.assertIn("the kubeconfig's exec plugin works again", agent.text())
        self.check_clean_end(agent, self.server)
        interactive = USERS["kubelogin"].replace("Never", "Always")
        code, _, err = self.check(self.agent(interactive, "interactive"))
        self.assertNotEqual(code, 0)
        self.assertIn("interactiveMode is Always, and there is nobody to ask", err)

    # --- the way there

    def test_proxies_of_the_kubeconfig_and_of_the_environment(self):
        account = self.account()
        self.may_do_all(account)
        user = f"token: {self.token(account)}"
        place = urllib.parse.urlsplit(self.kubernetes.url)
        tunnels = Tunnels((place.hostname, place.port))
        self.addCleanup(tunnels.close)
        # A name that nobody but the proxy knows, and a certificate that is of another name.
        hidden, name = "https://api.invalid:6443", f"    tls-server-name: {place.hostname}\n"
        for number, scheme in enumerate(("http", "socks5")):
            with self.subTest(scheme=scheme):
                tunnels.targets.clear()
                proxy = f"    proxy-url: {scheme}://127.0.0.1:{tunnels.port}\n"
                agent = self.agent(user, f"agent-{scheme}", url=hidden, more=name + proxy).start()
                self.converges(deployment(number + 1, self.space))
                kind = "CONNECT" if scheme == "http" else "SOCKS"
                self.assertEqual(set(tunnels.targets), {(kind, "api.invalid", 6443)})
                self.check_clean_end(agent)
        agent = self.agent(user, "agent-environment", url=hidden, more=name)
        agent.env["HTTPS_PROXY"] = f"http://127.0.0.1:{tunnels.port}"
        self.assertEqual(self.check(agent)[::2], (0, ""))
        agent.env["NO_PROXY"] = "invalid"
        self.assertNotEqual(self.check(agent)[0], 0, "nobody but the proxy knows that name")

    # --- namespaces

    def grant(self, account, rules_by_namespace):
        for namespace, rules in rules_by_namespace.items():
            base = f"{RBAC}/namespaces/{namespace}"
            self.request("DELETE", f"{base}/roles/davit-agent")
            self.request("POST", f"{base}/roles", {"metadata": {"name": "davit-agent"}, "rules": rules})
            self.request("POST", f"{base}/rolebindings", {
                "metadata": {"name": "davit-agent"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "davit-agent"},
                "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": account}]})

    def roles_of(self, text):
        """{namespace: rules} as `davit check --rights` prints them."""
        out = {}
        for document in text.split("---\n"):
            lines = document.splitlines()
            self.assertIn("kind: Role", lines)
            namespace = next(line.split()[1] for line in lines if line.startswith("  namespace: "))
            rules, words = [], document.split("- apiGroups: ")[1:]
            for word in words:
                group, resources, verbs = (part.partition("[")[2].rstrip("]") for part in word.strip().splitlines())
                rules.append({"apiGroups": [group.strip('"')], "resources": [resources], "verbs": verbs.split(", ")})
            out[namespace] = rules
        return out

    def issues(self):
        return {i["name"]: i["reason"] for a in self.world.status()["agents"] for i in a.get("issues", [])}

    def test_a_role_in_each_namespace_is_enough(self):
        account = self.account("tenant")
        for namespace in ("one", "two", "other"):
            self.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        agent = self.agent(f"token: {self.token(account)}",
                           extra='namespaces = ["one", "two"]\nrequests_per_second = 50\n' + SOON)
        roles = self.roles_of(self.check(agent, "--rights")[1])
        self.assertEqual(set(roles), {"one", "two"})
        self.grant(account, roles)
        wait_until(lambda: f"the check passes: {self.check(agent)}", lambda: self.check(agent)[0] == 0)
        agent.start()
        self.converges(deployment(1, "one"), deployment(2, "two"))
        self.converges(deployment(1, "one", image="registry.example/app:2"))
        self.world.apply([deployment(3, "other")])
        words = 'namespace "other" is left alone: this agent is restricted to namespaces (one, two)'
        wait_until(lambda: f"the record says so: {self.world.davit('status')[1]}; {agent.tail()}",
                   lambda: words in json.dumps(self.world.status()).replace('\\"', '"'))
        self.converges(deployment(4, "two"))
        for record in ("d_1", "d_2", "d_4"):
            self.world.delete("deployment", record)
        wait_until(agent.tail, lambda: not self.kubernetes.replica_sets({"one", "two"}))
        self.assertEqual(agent.stop(), 0)
        self.lacks_one_right(account, agent, roles)
        self.check_clean_end(agent, self.server)

    def lacks_one_right(self, account, agent, roles):
        without = [{**rule, "verbs": [v for v in rule["verbs"] if v != "watch" or rule["resources"] != ["replicasets"]]}
                   for rule in roles["two"]]
        self.grant(account, {"two": without})
        line = ('the agent\'s account may not watch replicasets (API group "apps") in namespace "two": grant it by a Role '
                "in namespace two")
        wait_until(lambda: f"the check says: {line}; {self.check(agent)}", lambda: line in self.check(agent)[2])
        agent.start()
        wait_until(lambda: f"an issue: {self.issues()}; {agent.tail()}",
                   lambda: line in self.issues().get("access to replicasets.apps in namespace two", ""))
        self.grant(account, roles)
        wait_until(lambda: f"nothing is denied: {self.issues()}",
                   lambda: not [name for name in self.issues() if name.startswith("access to")])
        self.converges(deployment(5, "two"))

    def test_the_lease_must_be_in_one_of_the_namespaces(self):
        extra = 'namespaces = ["one"]\n' + SOON + '[plugin.leader]\nmodule = "leader"\ncluster = "cluster"\nserver = "control"\n'
        agent = self.agent("token: any", extra=extra).start()
        wait_until(agent.tail, lambda: not agent.alive())
        self.assertIn('the Lease\'s namespace "kube-system" is not among those to which "cluster" is restricted: set it '
                      "to one of one", agent.text())
