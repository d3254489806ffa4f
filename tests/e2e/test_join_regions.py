"""`davit clusters join-regions`: a Cluster that is up becomes a region, and goes as one. kubectl is scripted; the server
and the agent are real. And what `davit agent manifests` refuses."""

import base64
import os
import re
import subprocess
import threading
import time
import unittest
from pathlib import Path

from parts import AT_ONCE, DAVIT, KUBECONFIG, REPOSITORY, Case, Kubernetes, wait_until
from regions_case import REGION, RegionsCase, cluster

FAILURES = (
    ("error: Unable to connect to the server: dial tcp 127.0.0.1:1: connect: connection refused", "UNAVAILABLE"),
    ('Error from server (Forbidden): namespaces is forbidden: User "u" cannot patch', "PERMISSION_DENIED"),
    ("error: You must be logged in to the server (Unauthorized)", "UNAUTHENTICATED"),
    ("The Deployment \"davit-agent\" is invalid: spec.replicas: Invalid value", "FAILED_PRECONDITION"),
)


class Whole(RegionsCase):
    def joined(self, of):
        """A region with an agent at work."""
        self.join(of)
        agent = self.agent()
        self.until_done("reconcile", of)
        return agent

    def end_with_its_pod(self, agent):
        """What the cluster does once the Deployment is deleted."""
        def each(answer):
            if "is ending" in answer.get("progress", ""):
                agent.stop()
                self.unset("pods")
        return each

    def nothing_is_left(self):
        self.assertEqual((self.files(), self.agents(), self.records()), ([], [], []))

    def test_a_cluster_becomes_a_region_and_goes(self):
        self.begin()
        waiting = self.join(cluster(kubeconfig=None))
        self.assertEqual(waiting["progress"], "the Cluster has no kubeconfig yet (/status/providerStatus/kubeconfig)")
        self.assertEqual(self.files(), [])
        of = cluster()
        self.set("reason", "ImagePullBackOff")
        self.assertEqual(self.join(of)["progress"],
                         f"the agent of region {REGION} has not reported yet: its pod waits (ImagePullBackOff)")
        self.check_installed()
        token = (self.tokens / f"{REGION}.token").read_text(encoding="utf-8")
        agent = self.agent()
        events, _ = self.until_done("reconcile", of)
        self.assertEqual(events, ["RegionJoined"])
        self.assertEqual(self.join(of), {})
        self.assertEqual((self.tokens / f"{REGION}.token").read_text(encoding="utf-8"), token)
        self.apply(1, 2, 3)
        self.world.wait_running(["d_1", "d_2", "d_3"])
        self.said()
        events, progress = self.until_done("delete", of, each=self.end_with_its_pod(agent))
        self.assertEqual(events, ["RegionLeft"])
        self.assertIn(f"the agent of region {REGION} is ending", progress)
        said = [s for s in self.said() if s != "get pods"]
        self.assertEqual(said[0], "delete deployments.apps")
        self.assertEqual(said[-3:], ["delete clusterrolebindings,clusterroles", "delete rolebindings,roles",
                                     "delete namespace"])
        self.nothing_is_left()
        self.world.wait_gone()
        self.assertEqual(self.leave(of), {})

    def check_installed(self):
        call = next(c for c in self.calls() if c["words"][0] == "apply")
        self.assertEqual(call["words"], ["apply", "--server-side", "--force-conflicts",
                                         "--field-manager=davit-regions", "--filename=-"])
        self.assertEqual(call["kubeconfig"], KUBECONFIG)
        self.assertEqual(re.findall(r"^kind: (\w+)$", call["input"], re.M),
                         ["Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "ConfigMap", "Secret",
                          "Deployment"])
        self.assertIn(f'region = "{REGION}"\n    url = "http://127.0.0.1:{self.world.port}"', call["input"])
        path = self.tokens / f"{REGION}.token"
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        token = path.read_text(encoding="utf-8").strip()
        self.assertGreaterEqual(len(token), 43)
        self.assertIn(base64.b64encode(token.encode()).decode(), call["input"])

    def test_whose_the_region_is(self):
        self.begin()
        mine, other = cluster(), cluster(name="other", uid="uid-2", region=REGION)
        self.join(mine)
        before = self.files()
        error = self.join(other)["error"]
        self.assertEqual((error["code"], error["message"]),
                         ("ALREADY_EXISTS", f"region {REGION} is of another Cluster, default/{REGION} (uid uid-1)"))
        self.said()
        self.assertEqual(self.leave(other), {})
        self.assertEqual((self.files(), self.said()), (before, []))
        # The name is used again: the former Cluster's removal does not touch the new one.
        moved = self.join(cluster(region="eu-10"))["error"]
        self.assertEqual((moved["code"], moved["reason"]), ("INVALID_ARGUMENT", "UnsupportedChange"))
        # Removed by its uid, whatever its annotation says by now.
        self.unset("pods")
        self.until_done("delete", cluster(region="eu-10", kubeconfig=None))
        self.nothing_is_left()
        (self.tokens / "us-1.token").write_text("by-hand\n", encoding="utf-8")
        foreign = self.join(cluster(name="us-1"))["error"]
        self.assertEqual(foreign["code"], "ALREADY_EXISTS")
        self.assertIn("that no Cluster has made", foreign["message"])
        self.assertEqual(self.leave(cluster(name="us-1")), {})
        (self.tokens / f".{REGION}.owner").write_text("{", encoding="utf-8")
        broken = self.join(mine)["error"]
        self.assertEqual(broken["code"], "FAILED_PRECONDITION")
        self.assertIn("cannot be read", broken["message"])

    def test_what_is_refused(self):
        self.begin()
        for of, code, text in (
                (cluster(region="*"), "INVALID_ARGUMENT", "is no region"),
                (cluster(region=".hidden"), "INVALID_ARGUMENT", "begins with no"),
                (cluster(kubeconfig="relative/path"), "FAILED_PRECONDITION", "neither an absolute path"),
                (cluster(kubeconfig="/not/there"), "FAILED_PRECONDITION", "cannot be read"),
                (cluster(kubeconfig="a: b\n"), "FAILED_PRECONDITION", "names no cluster"),
                (cluster(kubeconfig=KUBECONFIG.replace("token: t", "exec: {command: sh}")), "FAILED_PRECONDITION",
                 "neither run programs nor name files")):
            error = self.join(of)["error"]
            self.assertEqual(error["code"], code, error)
            self.assertIn(text, error["message"])
        self.assertEqual((self.calls(), self.files()), ([], []), "nothing is begun")
        self.assertEqual(self.run_program("reconcile", cluster(), stdin="{}")[0], 2)
        self.assertEqual(self.run_program("reconcile", cluster(), stdin="")[0], 2)
        wrong = self.join(cluster(), files=[self.configuration])["error"]
        self.assertEqual(wrong["code"], "FAILED_PRECONDITION")
        self.assertIn("names no cluster_kubernetes", wrong["message"].replace("these files name no", "names no"))
        for why, code in FAILURES:
            self.set("failures", {"apply": why})
            error = self.join(cluster())["error"]
            self.assertEqual(error["code"], code, error)
            self.assertIn(why, error["message"])
        self.unset("failures")
        self.kubectl.rename(self.script / "away")
        self.assertEqual(self.join(cluster())["error"]["code"], "FAILED_PRECONDITION")
        (self.script / "away").rename(self.kubectl)
        self.server.stop()
        for call in (self.join, self.leave):
            self.assertEqual(call(cluster())["error"]["code"], "UNAVAILABLE")
        self.tokens.rename(self.world.folder / "unmounted")
        for call in (self.join, self.leave):
            error = call(cluster())["error"]
            self.assertEqual(error["code"], "UNAVAILABLE")
            self.assertIn("is not there", error["message"])

    def test_a_cluster_that_is_away_is_left(self):
        self.options = ["--drain-seconds", "60", "--agent-seconds", "1"]
        self.begin()
        of = cluster()
        agent = self.joined(of)
        self.apply(1)
        self.world.wait_running(["d_1"])
        agent.kill()
        self.set("failures", {"delete": FAILURES[0][0]})
        self.options = ["--drain-seconds", "1", "--agent-seconds", "3"]
        events, progress = self.until_done("delete", of)
        self.assertEqual(events, ["RegionNotDrained", "AgentNotRemoved", "RegionLeft"])
        self.assertTrue(any("does not answer" in p for p in progress), progress)
        self.nothing_is_left()

    def test_killed_at_each_call_of_kubectl(self):
        """One region, never two; and at the end nothing."""
        self.begin()
        of, agent = cluster(), None
        for number in range(1, 5):
            self.said()
            self.set("kill_at", str(number))
            killed = self.join(of)
            self.assertEqual(killed[0] if isinstance(killed, tuple) else 0, -9 if number <= 2 and agent is None else 0)
            self.unset("kill_at")
            token = (self.tokens / f"{REGION}.token").read_text(encoding="utf-8")
            agent = agent if number < 2 else agent or self.agent()
            if agent:
                self.until_done("reconcile", of)
            self.assertEqual((self.tokens / f"{REGION}.token").read_text(encoding="utf-8"), token)
            self.assertEqual(self.files(), [f".{REGION}.owner", f"{REGION}.token"])
        self.apply(1, 2)
        self.world.wait_running(["d_1", "d_2"])
        kills = 0
        for number in range(1, 7):
            self.said()
            self.set("kill_at", str(number))

            def killed():
                answer = self.leave(of)
                if isinstance(answer, tuple):
                    return True
                self.end_with_its_pod(agent)(answer)
                return "requeueAfterSeconds" not in answer
            wait_until("killed, or done", killed, 60, 0.2)
            self.unset("kill_at")
            kills += f".{REGION}.owner" in self.files()
        self.assertGreater(kills, 3)
        self.until_done("delete", of, each=self.end_with_its_pod(agent))
        self.nothing_is_left()

    def test_killed_at_any_time(self):
        self.begin()
        of = cluster()
        agent = self.joined(of)
        self.apply(*range(20))
        self.world.wait_running([f"d_{n}" for n in range(20)])
        self.unset("pods")
        agent.stop()
        self.options = ["--drain-seconds", "1", "--agent-seconds", "1"]
        for step in range(12):
            self.kill_after(0.02 * step, of)
        self.until_done("delete", of)
        self.nothing_is_left()

    def kill_after(self, seconds, of):
        """A call that is killed while it runs, unless it is quicker."""
        before = {int(p) for p in os.listdir("/proc") if p.isdigit()}

        def kill():
            time.sleep(seconds)
            for pid in {int(p) for p in os.listdir("/proc") if p.isdigit()} - before:
                try:
                    with open(f"/proc/{pid}/cmdline", encoding="utf-8") as words:
                        if str(self.tokens) in words.read():
                            os.kill(pid, 9)
                except OSError:
                    pass
        killer = threading.Thread(target=kill)
        killer.start()
        self.leave(of)
        killer.join()


class ByTheServer(Whole):
    """The server makes the tokens, and the program has notes of its own."""

    def makes_tokens(self):
        notes = self.world.folder / "notes"
        notes.mkdir(exist_ok=True)
        return "--notes", notes

    def nothing_is_left(self):
        super().nothing_is_left()
        self.assertEqual(list((self.world.folder / "notes").iterdir()), [])

    def test_whose_the_region_is(self):
        self.begin()
        (self.tokens / "us-1.token").write_text("by-hand-by-hand-by-hand\n", encoding="utf-8")
        foreign = self.join(cluster(name="us-1"))["error"]
        self.assertEqual(foreign["code"], "ALREADY_EXISTS")
        self.assertIn("was made by an operator", foreign["message"])
        self.join(cluster())
        (self.world.folder / "notes" / f".{REGION}.owner").unlink()  # as another program with notes of its own sees it
        other = self.join(cluster(name="other", uid="uid-2", region=REGION))["error"]
        self.assertEqual(other["code"], "ALREADY_EXISTS")
        self.assertIn("(uid uid-1)", other["message"])

    # What is in the notes is the same as in the folder of tokens: tested above.
    test_what_is_refused = test_a_cluster_that_is_away_is_left = None
    test_killed_at_each_call_of_kubectl = test_killed_at_any_time = None


class OnKubernetes(RegionsCase):
    """With kubectl and an API server: the agent has the account that was installed, and no other right."""

    ROLES = "/apis/rbac.authorization.k8s.io/v1/"
    OURS = "app.kubernetes.io/managed-by=davit,app.kubernetes.io/instance=davit-agent"

    @classmethod
    def setUpClass(cls):
        cls.kubernetes = Kubernetes()

    @classmethod
    def tearDownClass(cls):
        cls.kubernetes.close()

    def account(self):
        """A kubeconfig of the agent's service account."""
        status, answer = self.kubernetes.request(
            "POST", "/api/v1/namespaces/davit-system/serviceaccounts/davit-agent/token",
            {"spec": {"expirationSeconds": 7200}})
        self.assertEqual(status, 201, answer)
        return self.world.write("account", f"""apiVersion: v1
kind: Config
current-context: rig
clusters: [{{name: rig, cluster: {{server: "{self.kubernetes.url}", certificate-authority: "{self.kubernetes.ca}"}}}}]
users: [{{name: davit, user: {{token: "{answer['status']['token']}"}}}}]
contexts: [{{name: rig, context: {{cluster: rig, user: davit}}}}]
""")

    def left(self):
        """What is there of the agent: its roles, and its namespace."""
        roles = [i["metadata"]["name"] for kind in ("clusterroles", "clusterrolebindings", "roles", "rolebindings")
                 for i in self.kubernetes.items(self.ROLES + kind, self.OURS)]
        status, _ = self.kubernetes.request("GET", "/api/v1/namespaces/davit-system")
        return roles + (["davit-system"] if status == 200 else [])

    def test_an_agent_with_the_rights_that_were_installed(self):
        self.kubectl = Path(self.kubernetes.state["assets"]) / "kubectl"
        self.begin()
        of = cluster(kubeconfig=str(self.kubernetes.kubeconfig))
        wait_until("it is installed", lambda: "has not reported yet" in self.join(of).get("progress", ""), 60)
        first = self.kubernetes.request("GET", "/apis/apps/v1/namespaces/davit-system/deployments/davit-agent")[1]
        self.join(of)
        again = self.kubernetes.request("GET", "/apis/apps/v1/namespaces/davit-system/deployments/davit-agent")[1]
        self.assertEqual(again["metadata"]["generation"], first["metadata"]["generation"])
        agent = self.world.agent("installed", region=REGION, token=f"agents/{REGION}", kubeconfig=self.account(),
                                 extra=AT_ONCE).start()
        self.assertEqual(self.until_done("reconcile", of)[0], ["RegionJoined"])
        self.apply(1, 2)
        self.world.wait_running(["d_1", "d_2"])
        issues = [i for a in self.world.status()["agents"] for i in a.get("issues", ()) if i["condition"] == "denied"]
        self.assertEqual(issues, [])
        self.assertEqual(len(self.kubernetes.replica_sets(["shop"])), 2)

        def each(answer):
            if "is ending" in answer.get("progress", ""):
                agent.stop()
        self.assertEqual(self.until_done("delete", of, each=each)[0], ["RegionLeft"])
        self.assertEqual((self.files(), self.agents(), self.records()), ([], [], []))
        self.assertEqual(self.kubernetes.replica_sets(["shop"]), {})
        wait_until(lambda: f"nothing is left: {self.left()}", lambda: not self.left(), 60)
        self.assertFalse(Path(".kube").exists(), "kubectl has kept something of the cluster")


class Manifests(Case):
    def manifests(self, text, *options, shipped=True):
        overlay = self.world.write("overlay.toml", text)
        done = subprocess.run([str(DAVIT), "agent", "manifests", *([REPOSITORY / "etc/agent.toml"] if shipped else []),
                               overlay, *options], text=True, capture_output=True, timeout=60, check=False,
                              env={"PATH": os.environ["PATH"], "HOME": "/not/there"})
        return done.returncode, done.stdout, done.stderr

    def test_what_is_refused(self):
        token = ("--token-secret", "mine")
        client, two = "[rpc.client.control]\n", "[rpc.client.second]\nurl = 'http://c:1'\nregion = 'r'\ntoken_file = 'x'\n"
        for text, options, said, shipped in (
                ("", (), "which token", True),
                ("", token, "no cluster_kubernetes", False),
                ("[plugin.cluster]\nmodule = 'cluster_memory'\n", token, "no cluster_kubernetes", True),
                ("[plugin.more]\nmodule = 'cluster_kubernetes'\n", token, "name two clusters", True),
                (two, token, "name two servers", True),
                (client + "region = ''\n", token, "region is missing", True),
                ("", (*token, "--region", "a b"), "is no region", True),
                ("", (*token, "--url", "unix:/x"), "no address that a pod can dial", True),
                (client + "ca_file = '/etc/ca.crt'\n", token, "overlay.toml:2: rpc.client.control.ca_file: /etc/ca.crt "
                 "is not in the pod: give it with --ca-file", True),
                ("[plugin.vault]\nmodule = 'secrets_vault'\nurl = 'https://v'\ntoken_file = 'credential:v'\n", token,
                 "plugin.vault.token_file: credential:v is not in the pod", True),
                ("[plugin.cluster]\nserver = 'https://k'\n", token, "take this out", True),
                ("[plugin.applier]\nworkers_max = 1\n", token, "unknown key", True),
                ("", (*token, "--namespace", "kube-system"), "a namespace of its own", True),
                ("", (*token, "--name", "Agent"), "is no name", True),
                ("", (*token, "--metrics-port", "65536"), "--metrics-port must be", True),
                ("", ("--token-file", "/not/there"), "cannot be read", True)):
            with self.subTest(said):
                code, out, err = self.manifests(text, *options, shipped=shipped)
                self.assertEqual((code, out), (2, ""), err)
                self.assertIn(said, err)

    def test_they_need_neither_a_cluster_nor_a_kubeconfig(self):
        text = "[plugin.cluster]\nkubeconfig = '/not/there'\ncontext = 'c'\n[plugin.leader]\nmodule = 'leader'\n" \
               "cluster = 'cluster'\nserver = 'control'\n[host]\nstop_delay_ms = 60000\n"
        ca = self.world.folder / "ca.crt"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-subj", "/CN=ca", "-keyout", "/dev/null", "-out", ca], check=True, capture_output=True)
        code, out, err = self.manifests(text, "--token-file", self.world.folder / "agent.token", "--region", "eu-7",
                                        "--ca-file", ca, "--metrics-port", "9200", "--name", "robot")
        self.assertEqual((code, err), (0, ""))
        self.assertIn('kubeconfig = ""\n    context = ""', out)
        self.assertIn("resourceNames:\n      - davit-eu-7\n", out)
        self.assertIn('metrics_listen = "0.0.0.0:9200"', out)
        self.assertIn("containerPort: 9200", out)
        self.assertIn('ca_file = "/etc/davit/ca.crt"', out)
        self.assertIn("terminationGracePeriodSeconds: 75", out)
        self.assertEqual(len(re.findall(r"^kind: RoleBinding$", out, re.M)), 1)
        self.assertIn("name: robot-token", out)
        code, out, _ = self.manifests(text, "--token-secret", "mine")
        self.assertEqual(code, 0)
        self.assertIn("secretName: mine", out)
        self.assertNotIn("kind: Secret\n", out)


if __name__ == "__main__":
    unittest.main(verbosity=2)
