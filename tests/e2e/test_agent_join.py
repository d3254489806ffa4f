"""`davit token`, `davit agent join` and `davit agent leave`: an agent of a running server, from its token to its end.
The server and the agent are real; what is printed for a cluster is read."""

import base64
import os
import re
import subprocess
import unittest

from kubectl import kubectl
from parts import AT_ONCE, DAVIT, PATIENCE, REPOSITORY, STAGE, Case, Kubernetes, deployment, free_port, wait_until

REGION = "eu-3"
URL = "https://control.example:7070"


def alone(*words):
    """davit without a server in its environment."""
    env = {name: value for name, value in os.environ.items() if name != "DAVIT_SERVER"}
    done = subprocess.run([DAVIT, *map(str, words)], text=True, capture_output=True, timeout=60, check=False, env=env)
    return done.returncode, done.stdout, done.stderr


class Tokens(Case):
    def test_without_a_server(self):
        code, out, _ = alone("token", "new", "--region", REGION)
        self.assertEqual(code, 0)
        token, _, lines = out.partition("\n\n")
        self.assertRegex(token, "^[0-9a-f]{64}$")
        self.assertIn(f'[[rpc.server.main.token]]\nname = "{REGION}"\nfile = "/etc/davit/{REGION}.token"\n'
                      f'role = "agent"\nregions = ["{REGION}"]\n', lines)
        file = self.world.folder / "operator.token"
        code, out, err = alone("token", "new", "--role", "operator", "--name", "anna", "--out", file)
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(file.read_text(encoding="utf-8"), "^[0-9a-f]{64}\n$")
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        self.assertNotIn(file.read_text(encoding="utf-8").strip(), out)
        self.assertIn(f'name = "anna"\nfile = "{file}"\nrole = "operator"\n', out)
        self.assertNotIn("regions", out)
        before = file.read_bytes()
        code, out, err = alone("token", "new", "--role", "operator", "--out", file)
        self.assertEqual((code, out), (4, ""))
        self.assertIn("not overwritten", err)
        self.assertEqual(file.read_bytes(), before)

    def test_what_is_refused(self):
        for words, said in (((), "--region"), (("--region", "a b"), "is no region"),
                            (("--region", "*", "--region", "a"), "alone"),
                            (("--role", "Operator"), "lower_snake_case"),
                            (("--role", "operator", "--region", "a"), "every region"),
                            (("--region", "a", "--existing", "keep"), "--server"),
                            (("--region", "a", "--region", "b", "--server", "unix:/x"), "one region"),
                            (("--region", "a", "--server", "unix:/x", "--existing", "both"), "keep or replace")):
            code, out, err = alone("token", "new", *words)
            self.assertEqual((code, out), (2, ""), err)
            self.assertIn(said, err)

    def test_the_lines_are_those_of_a_server(self):
        """SIGHUP takes them in, and the token lets an agent in."""
        file = self.world.folder / "new.token"
        lines = alone("token", "new", "--region", REGION, "--out", file)[1]
        more = self.world.folder / "tokens.toml"
        server = self.world.server()
        first = (self.world.folder / "server.toml").read_text(encoding="utf-8")
        table = first[first.index("[[rpc.server.main.token]]"):first.index("[rpc.server.operator]")]
        more.write_text(table, encoding="utf-8")
        server.argv.append(str(more))
        server.start()
        self.world.wait_ready(server)
        more.write_text(table + lines, encoding="utf-8")
        server.process.send_signal(1)
        wait_until(server.tail, lambda: "reloaded" in server.text())
        self.world.agent(region=REGION, token="new").start()
        wait_until(server.tail, lambda: REGION in [a["region"] for a in self.world.status().get("agents", ())])


class Join(Case):
    def setUp(self):
        super().setUp()
        world = self.world
        self.tokens = world.folder / "agents"
        self.tokens.mkdir()
        self.server = world.server()
        world.token("operator", "operator-secret")
        self.tcp = f"http://127.0.0.1:{world.port}"
        table = (world.folder / "server.toml").read_text(encoding="utf-8")
        table = table[table.index("[[rpc.server.main.token]]"):table.index("[rpc.server.operator]")]
        self.server.argv.append(str(world.write("tokens.toml", f"""
[rpc.server.main]
agent_tokens_dir = "{self.tokens}"
public_url = "{URL}"
{table}
[[rpc.server.main.token]]
name = "anna"
file = "{world.folder}/operator.token"
role = "operator"
[plugin.manifest]
module = "kind_manifest"
""")))
        self.server.start()
        world.wait_ready(self.server)

    def davit(self, *words):
        return self.world.davit(*words, check=False)

    def files(self):
        return sorted(path.name for path in self.tokens.iterdir())

    def agents(self):
        return [a["agent"] for a in self.world.status().get("agents", ()) if a["region"] == REGION]

    def joined(self):
        """A region with an agent at work, whose token join has made."""
        code, out, err = self.davit("agent", "join", "--region", REGION)
        self.assertEqual(code, 0, err)
        agent = self.world.agent(region=REGION, token=f"agents/{REGION}").start()
        wait_until(agent.tail, self.agents)
        return out, agent

    def test_an_agent_of_this_server(self):
        out, _ = self.joined()
        token = (self.tokens / f"{REGION}.token").read_text(encoding="utf-8").strip()
        self.assertIn(base64.b64encode(token.encode()).decode(), out)
        self.assertEqual(re.findall(r"^kind: (\w+)$", out, re.M),
                         ["Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "ConfigMap", "Secret",
                          "Deployment"])
        kinds = re.findall(r'module = "(kind_\w+)"', out)
        self.assertEqual(sorted(kinds),
                         ["kind_cilium_network_policy", "kind_deployment", "kind_manifest", "kind_sentinel"])
        self.assertIn(f'region = "{REGION}"\n    url = "{URL}"', out)
        # By TCP and an operator's token, too; and the same token for another agent.
        code, again, err = alone("agent", "join", "--region", REGION, "--existing", "keep", "--server", self.tcp,
                                 "--token-file", self.world.folder / "operator.token", "--url", "http://other:1")
        self.assertEqual((code, err), (0, ""))
        self.assertIn(base64.b64encode(token.encode()).decode(), again)
        self.assertIn('url = "http://other:1"', again)

    def test_what_is_refused_prints_nothing_and_makes_nothing(self):
        join = ("agent", "join", "--region", REGION)
        operator = ("--token-file", self.world.folder / "operator.token")
        wrong = self.world.write("wrong.toml", "[plugin.applier]\nworkers_max = 1\n")
        for words, code, said in (
                (("agent", "join"), 2, "--region"), (("agent", "join", "--region", ".x"), 2, "is no region"),
                ((*join, wrong), 2, "cluster_kubernetes"), ((*join, "--namespace", "kube-system"), 2, "of its own"),
                ((*join, "--server", f"http://127.0.0.1:{free_port()}", *operator), 6, "cannot be reached"),
                ((*join, "--server", "http://nowhere.invalid:7070", *operator), 6, "cannot be reached"),
                ((*join, "--server", f"https://127.0.0.1:{self.world.port}", *operator), 6, "begins with http://"),
                ((*join, "--server", self.tcp), 4, "--token-file"),
                ((*join, "--server", self.tcp, "--token-file", self.world.folder / "agent.token"), 4,
                 "needs operator")):
            with self.subTest(said):
                done = self.davit(*words)
                self.assertEqual(done[:2], (code, ""), done[2])
                self.assertIn(said, done[2])
                self.assertEqual(len(done[2].strip().splitlines()), 1, done[2])
        self.assertEqual(self.files(), [])
        self.davit(*join)
        code, out, err = self.davit(*join)
        self.assertEqual((code, out), (4, ""))
        self.assertIn("--existing keep", err)

    def certificate(self, name):
        made = [self.world.folder / f"{name}.{end}" for end in ("crt", "key")]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-out", made[0],
                        "-keyout", made[1]], check=True, capture_output=True)
        return made

    def test_a_server_with_an_authority_of_its_own(self):
        certificate, key = self.certificate("server")
        other, _ = self.certificate("other")
        self.server.stop()
        self.server.argv.append(str(self.world.write("tls.toml", "[rpc.server.main]\npublic_url = ''\n"
                                                     f"tls_certificate_file = '{certificate}'\n"
                                                     f"tls_key_file = '{key}'\n")))
        self.server.start()
        self.world.wait_ready(self.server)
        join = ("agent", "join", "--region", REGION, "--server", f"https://127.0.0.1:{self.world.port}", "--token-file",
                self.world.folder / "operator.token")
        for words in (join, (*join, "--ca-file", other)):
            code, out, err = self.davit(*words)
            self.assertEqual((code, out, len(err.strip().splitlines())), (6, "", 1), err)
            self.assertIn("--ca-file", err)
        self.assertEqual(self.files(), [])
        code, out, err = self.davit(*join, "--ca-file", certificate)
        self.assertEqual((code, err), (0, ""))
        self.assertIn(f'url = "https://127.0.0.1:{self.world.port}"', out)
        self.assertIn('ca_file = "/etc/davit/ca.crt"', out)
        self.assertIn(certificate.read_text(encoding="utf-8").splitlines()[1], out)

    def test_a_server_without_the_folder(self):
        self.server.stop()
        self.server.argv.pop()
        self.server.start()
        self.world.wait_ready(self.server)
        for words in (("agent", "join", "--region", REGION), ("token", "new", "--region", REGION)):
            code, out, err = self.davit(*words)
            self.assertEqual((code, out), (4, ""))
            self.assertIn("agent_tokens_dir", err)

    def test_a_region_is_given_up(self):
        _, agent = self.joined()
        self.world.apply([deployment(n, region=REGION) for n in (1, 2)])
        self.world.wait_running(["d_1", "d_2"])
        code, out, err = self.davit("agent", "leave", "--region", REGION)
        self.assertEqual((code, out), (4, ""))
        self.assertIn(f"region {REGION} has 2 records", err)
        code, out, _ = self.davit("agent", "leave", "--region", REGION, "--dry-run")
        self.assertEqual(code, 0)
        self.assertIn("2 records to delete, which takes --force", out)
        self.assertIn("its token is deleted", out)
        self.assertEqual(self.files(), [f"{REGION}.token"])
        code, out, err = self.davit("agent", "leave", "--region", REGION, "--force", "--timeout", "60s")
        self.assertEqual(code, 0, err)
        self.assertIn("kubectl delete namespace davit-system", out)
        self.assertEqual(self.files(), [])
        self.world.wait_gone()
        wait_until(agent.tail, lambda: "UNAUTHENTICATED" in agent.text() or "bearer token" in agent.text() or
                   "taken away" in agent.text())
        self.assertEqual(self.agents(), [])

    def test_an_agent_that_is_away(self):
        _, agent = self.joined()
        self.world.apply([deployment(1, region=REGION)])
        self.world.wait_running(["d_1"])
        agent.kill()
        self.world.davit("delete", "deployment", "d_1", "--region", REGION)
        code, _, err = self.davit("agent", "leave", "--region", REGION, "--timeout", "3s")
        self.assertIn(code, (4, 6), err)
        self.assertEqual(self.files(), [f"{REGION}.token"])

    def test_the_server_makes_and_deletes_tokens(self):
        code, out, err = self.davit("token", "new", "--region", REGION)
        self.assertEqual(code, 0, err)
        self.assertEqual(out, (self.tokens / f"{REGION}.token").read_text(encoding="utf-8"))
        self.assertEqual(self.davit("token", "new", "--region", REGION)[:2], (4, ""))
        self.assertEqual(self.davit("token", "new", "--region", REGION, "--existing", "keep")[1], out)
        self.assertNotEqual(self.davit("token", "new", "--region", REGION, "--existing", "replace")[1], out)
        self.assertEqual(self.davit("token", "delete", REGION)[0], 0)
        self.assertEqual(self.davit("token", "delete", REGION)[0], 5)
        self.assertEqual(self.files(), [])
        self.assertNotIn(out.strip(), self.server.text())


class OnKubernetes(Join):
    """One command and kubectl: the agent is a pod with the account, rights and token that were printed."""

    @classmethod
    def setUpClass(cls):
        cls.kubernetes = Kubernetes(options=["--run-pods", f"davit={STAGE}"])

    @classmethod
    def tearDownClass(cls):
        cls.kubernetes.close()

    def test_an_agent_comes_and_goes(self):
        site = self.world.write("agent-site.toml", AT_ONCE + "[plugin.reporter]\nprogress_interval_ms = 500\n")
        code, out, err = self.davit("agent", "join", "--region", REGION, "--url", self.tcp, "--image", "davit:test",
                                    "--metrics-port", free_port(), REPOSITORY / "etc/agent.toml", site)
        self.assertEqual((code, err), (0, ""))
        kubectl(self.kubernetes, "apply", "-f", "-", given=out)
        logs = self.kubernetes.folder / "logs"
        wait_until(lambda: "\n".join(p.read_text(errors="replace")[-1500:] for p in logs.glob("pod-*")), self.agents, 120)
        self.world.apply([deployment(n, region=REGION) for n in (1, 2)])
        self.world.wait_running(["d_1", "d_2"])
        self.assertEqual(len(self.kubernetes.replica_sets(["shop"])), 2)
        program = f"{self.kubernetes.state['assets']}/kubectl"
        code, out, err = self.davit("agent", "leave", "--region", REGION, "--force", "--kubectl", program, "--kubeconfig",
                                    self.kubernetes.kubeconfig, "--timeout", f"{int(90 * PATIENCE)}s")
        self.assertEqual((code, out), (0, ""), err)
        self.assertEqual((self.files(), self.agents(), self.kubernetes.replica_sets(["shop"])), ([], [], {}))
        wait_until("the namespace goes", lambda: self.kubernetes.request(
            "GET", "/api/v1/namespaces/davit-system")[0] == 404, 60)

    # Without a cluster: tested above.
    test_an_agent_of_this_server = test_what_is_refused_prints_nothing_and_makes_nothing = None
    test_a_server_with_an_authority_of_its_own = test_a_server_without_the_folder = test_a_region_is_given_up = None
    test_an_agent_that_is_away = test_the_server_makes_and_deletes_tokens = None


if __name__ == "__main__":
    unittest.main(verbosity=2)
