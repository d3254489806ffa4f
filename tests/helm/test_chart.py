"""The chart in packaging/helm/davit: what Helm says of it, what it makes of each way to use it, and that nothing of
it differs from what davit says of itself. It runs in python.sh beside it; the cluster's side is
tests/e2e/test_chart.py."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "packaging/kubernetes"), str(ROOT / "packaging/helm")]
try:
    import helm_python
    import render
    import yaml
except ImportError as error:
    raise unittest.SkipTest(f"tests/helm/python.sh --install has not been run: {error}") from error
import rules

STAGE = Path(os.environ.get("DAVIT_STAGE", ROOT / "build/release/stage"))
CHART = ROOT / "packaging/helm/davit"
AGENT = {"agent": {"region": "eu-3", "server": {"url": "https://control.example:7070"}, "token": {"value": "abc"}}}
NO_AGENT = {"agent": {"enabled": False}}
SECURE = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


def with_(values, **more):
    return {**values, "agent": {**values["agent"], **more}}


def modes():
    """{name: values} of each way to use the chart."""
    out = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
           for path in sorted((ROOT / "packaging/kubernetes/values").glob("*.yaml"))}
    out["agent"] = AGENT
    out["namespaces"] = with_(AGENT, namespaces=["shop", "web"], replicas=2)
    out["all"] = with_(AGENT, kinds={k: {"enabled": True} for k in rules.KINDS}, networkPolicy={"enabled": True},
                       podMonitor={"enabled": True},
                       server={"url": "https://c:1", "ca": "-----BEGIN CERTIFICATE-----\nx\n"},
                       extraConfig="[plugin.applier]\nforce = false\n")
    return out


def pairs(role_rules):
    return {(group, resource, verb) for rule in role_rules for group in rule["apiGroups"]
            for resource in rule["resources"] for verb in rule["verbs"]}


class Chart(unittest.TestCase):
    def of_kind(self, values, kind):
        return [d for d in render.rendered(values) if d["kind"] == kind]

    def test_lint_finds_nothing(self):
        for name, values in modes().items():
            with self.subTest(name):
                report = helm_python.lint(str(CHART), values, strict=True)
                self.assertEqual(report.get("errors") or [], [])
                self.assertEqual([m for m in report["messages"] if m["severity"] >= 2], [])

    def test_what_is_refused(self):
        for values, said in ((with_(AGENT, regions="x"), "regions"), (with_(AGENT, region="a b"), "region"),
                             (with_(AGENT, region=""), "agent.region"),
                             (with_(AGENT, token={"value": ""}), "agent.token"),
                             (with_(AGENT, server={"url": "control:7070"}), "url"),
                             (with_(AGENT, kinds={"widget": {"enabled": True}}), "agent.kinds.widget"),
                             ({**NO_AGENT, "federation": {"enabled": True, "config": "x = 1"}}, "federation"),
                             ({**NO_AGENT, "server": {"enabled": True, "storage": {
                                 "type": "postgres", "postgres": {"uri": "postgresql://db/davit"}}}},
                              "server.agentTokens")):
            with self.subTest(said), self.assertRaises(Exception) as refused:
                render.rendered(values)
            self.assertIn(said, str(refused.exception))

    def test_the_rules_are_those_that_davit_prints(self):
        self.assertEqual((CHART / "files/rules.yaml").read_text(encoding="utf-8"), rules.rules_text(STAGE))

    def test_the_roles_are_those_of_the_kinds(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("kubeconfig", rules.KUBECONFIG), ("token", "none\n"), ("more.toml", f"""
[host]
state_dir = "{folder}"
[rpc.client.control]
token_file = "token"
[plugin.cluster]
kubeconfig = "kubeconfig"
""")):
                (Path(folder) / name).write_text(text, encoding="utf-8")
            shown = subprocess.run([STAGE / "bin/davit", "check", "--rights", ROOT / "etc/agent.toml",
                                    f"{folder}/more.toml"], check=True, text=True, capture_output=True).stdout
        role = self.of_kind(AGENT, "ClusterRole")[0]
        self.assertEqual(pairs(role["rules"]), pairs(yaml.safe_load(shown)["rules"]))
        self.assertEqual(self.of_kind(AGENT, "Role"), [])
        namespaced = modes()["namespaces"]
        self.assertEqual(self.of_kind(namespaced, "ClusterRole"), [])
        roles = self.of_kind(namespaced, "Role")
        self.assertEqual([r["metadata"]["namespace"] for r in roles], ["shop", "web", "davit-system"])
        leases = [rule for rule in roles[2]["rules"] if rule.get("resourceNames")]
        self.assertEqual([rule["resourceNames"] for rule in leases], [["davit-eu-3"]] * len(leases))
        self.assertTrue(leases)

    def test_extra_rules_and_a_foreign_kind(self):
        extra = {"apiGroups": ["x.example"], "resources": ["xs"], "verbs": ["get"]}
        widget = {"apiGroups": ["w.example"], "resources": ["widgets"], "verbs": ["list"]}
        values = with_(AGENT, rbac={"extraRules": [extra]},
                       kinds={"widget": {"enabled": True, "rules": [widget], "config": "size = 1\n"}})
        role = self.of_kind(values, "ClusterRole")[0]
        self.assertIn(extra, role["rules"])
        self.assertIn(widget, role["rules"])
        files = self.of_kind(values, "ConfigMap")[0]["data"]
        self.assertIn('[plugin.widget]\nmodule = "kind_widget"\nsize = 1\n', files["10-agent.toml"])

    def test_pods_are_not_privileged(self):
        for name, values in modes().items():
            for document in render.rendered(values):
                if document["kind"] not in ("Deployment", "StatefulSet"):
                    continue
                with self.subTest(f"{name}: {document['metadata']['name']}"):
                    pod = document["spec"]["template"]["spec"]
                    self.assertTrue(pod["securityContext"]["runAsNonRoot"])
                    self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
                    self.assertNotIn("hostNetwork", pod)
                    for container in pod["containers"]:
                        self.assertEqual(container["securityContext"], SECURE)
                        self.assertEqual(container["readinessProbe"]["httpGet"]["path"], "/readyz")
                        self.assertEqual(container["livenessProbe"]["httpGet"]["path"], "/healthz")
                        self.assertTrue(container["resources"]["requests"])

    def test_servers_of_a_database_survive_a_drain(self):
        budget = self.of_kind(modes()["server-postgres"], "PodDisruptionBudget")
        self.assertEqual([b["spec"]["maxUnavailable"] for b in budget], [1])
        self.assertEqual(self.of_kind(modes()["server-postgres"], "Deployment")[0]["spec"]["replicas"], 2)
        self.assertEqual(self.of_kind(modes()["server-sqlite"], "StatefulSet")[0]["spec"]["replicas"], 1)

    def checked(self, mode, *options):
        """What `davit check` says of the configuration of a mode, with the pod's folders elsewhere."""
        with tempfile.TemporaryDirectory() as folder:
            at = Path(folder)
            for name in ("state", "agents", "operator"):
                (at / name).mkdir()
            (at / "operator/token").write_text("a-token-of-an-operator\n", encoding="utf-8")
            (at / "kubeconfig").write_text(rules.KUBECONFIG, encoding="utf-8")
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                            "-subj", "/CN=davit.example", "-days", "90", "-keyout", at / "tls.key", "-out",
                            at / "tls.crt"], check=True, capture_output=True)
            text = next(iter(self.of_kind(modes()[mode], "ConfigMap")[0]["data"].values()))
            for there, here in (("/var/lib/davit-agents", f"{at}/agents"), ("/var/lib/davit", f"{at}/state"),
                                ("/etc/davit-tls", f"{at}"), ("/etc/davit-operator", f"{at}/operator"),
                                ("/etc/davit-upstream", f"{at}"), ("/etc/davit-downstream", f"{at}"),
                                ("/run/davit", f"{at}"), ("0.0.0.0:7070", "127.0.0.1:0"),
                                ("0.0.0.0:9100", "127.0.0.1:0")):
                text = text.replace(there, here)
            (at / "davit.toml").write_text(text, encoding="utf-8")
            done = subprocess.run([STAGE / "bin/davit", "check", *options, at / "davit.toml"], text=True,
                                  capture_output=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_davit_takes_the_configurations(self):
        for mode, options, shown in (("server-sqlite", (), "davit.v1.TokenService/CreateAgentToken"),
                                     ("federation", ("--rights",), "configmaps")):
            with self.subTest(mode):
                code, out, err = self.checked(mode, *options)
                self.assertEqual((code, err), (0, ""))
                self.assertIn(shown, out)

    def test_the_plain_manifests_are_the_charts(self):
        for path in sorted((ROOT / "packaging/kubernetes/values").glob("*.yaml")):
            with self.subTest(path.stem):
                self.assertEqual((path.parents[1] / path.name).read_text(encoding="utf-8"), render.manifests(path))


if __name__ == "__main__":
    unittest.main(verbosity=2)
