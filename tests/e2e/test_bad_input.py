"""Bad input, each row with its exact message: what, where, what to do. Start-up ends with 2, a running process stays.

Configuration faults that need no other part are in tests/host, storage faults in tests/plugins/storage_sqlite.
"""

import json
import socket
import subprocess
import unittest

from parts import DAVIT, REGION, REPOSITORY, Case, deployment, wait_until


class AtStartUp(Case):
    def run_agent(self, extra, shipped=True):
        """Returns (exit code, lines of output) of a start that must fail; paths are shown as $DIR."""
        path = self.world.write("bad.toml", extra)
        files = ([REPOSITORY / "etc/agent.toml"] if shipped else []) + [path]
        done = subprocess.run([str(DAVIT), "run", *map(str, files)], text=True, capture_output=True, timeout=60,
                              check=False, stdin=subprocess.DEVNULL)
        text = (done.stdout + done.stderr).replace(str(self.world.folder), "$DIR")
        return done.returncode, text.strip().splitlines()

    BASE = """
[rpc.client.control]
url = "http://127.0.0.1:1"
token_file = "{folder}/agent.token"
region = "r"
"""

    def check(self, extra, *messages):
        code, lines = self.run_agent(self.BASE.format(folder=self.world.folder) + extra)
        for message in messages:
            self.assertIn(message, lines)
        self.assertEqual(code, 2, lines)

    def test_unknown_key(self):
        self.check('[plugin.cluster]\nmodule = "cluster_memory"\n[plugin.applier]\nconcurency = 3\n',
                   '$DIR/bad.toml:9: plugin.applier.concurency: unknown key; did you mean "concurrency"?')

    def test_wrong_type(self):
        self.check('[plugin.cluster]\nmodule = "cluster_memory"\n[plugin.applier]\nconcurrency = "many"\n',
                   "$DIR/bad.toml:9: plugin.applier.concurrency: must be an integer")

    def test_unreadable_token_file(self):
        code, lines = self.run_agent('[rpc.client.control]\nurl = "http://127.0.0.1:1"\nregion = "r"\n'
                                     'token_file = "/does/not/exist"\n[plugin.cluster]\nmodule = "cluster_memory"\n')
        self.assertEqual(code, 2, lines)
        self.assertEqual(lines, ["$DIR/bad.toml:4: rpc.client.control: token_file: /does/not/exist: "
                                 "No such file or directory"])

    def test_kubeconfig_that_names_a_missing_context(self):
        kubeconfig = self.world.write("kubeconfig", """
apiVersion: v1
kind: Config
current-context: here
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: here, context: {cluster: c, user: u}}]
""")
        code, lines = self.run_agent(self.BASE.format(folder=self.world.folder) + f"""
[plugin.cluster]
module = "cluster_kubernetes"
kubeconfig = "{kubeconfig}"
context = "there"
""")
        self.assertEqual(code, 2, lines)
        self.assertTrue(any('context "there" does not exist' in line and "here" in line for line in lines), lines)

    def test_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", self.world.port))
            taken.listen()
            server = self.world.server().start()
            wait_until("the server gives up", lambda: not server.alive())
            self.assertEqual(server.process.returncode, 2, server.tail())
            self.assertIn(f"rpc.server.main: cannot listen on 127.0.0.1:{self.world.port}: address already in use",
                          server.text())

    def test_check_finds_what_run_would(self):
        path = self.world.write("bad.toml", self.BASE.format(folder=self.world.folder)
                                + '[plugin.cluster]\nmodule = "cluster_memory"\nnonsense = 1\n')
        done = subprocess.run([str(DAVIT), "check", str(REPOSITORY / "etc/agent.toml"), str(path)], text=True,
                              capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("plugin.cluster.nonsense: unknown key", done.stdout + done.stderr)


class WhileRunning(Case):
    """What callers get wrong; the server stays up."""

    def setUp(self):
        super().setUp()
        self.server = self.world.server().start()
        self.world.wait_ready(self.server)

    def refused(self, document, *texts):
        code, out, err = self.world.davit("apply", "-f", "-", stdin=document, check=False)
        self.assertEqual(code, 1, out + err)
        for text in texts:
            self.assertIn(text, out + err)
        self.assertTrue(self.server.alive())

    def test_yaml_with_an_unknown_field(self):
        text = self.yaml("cpu_milicores: 100")
        self.refused(text, "<stdin>:16: spec.cpu_milicores: unknown field, did you mean \"cpu_millicores\"?")

    def test_yaml_with_a_missing_field(self):
        self.refused(self.yaml("").replace("  image: i\n", ""), "<stdin>:4: spec.image: is missing")

    def test_yaml_with_a_negative_size(self):
        self.refused(self.yaml("").replace("memory_mib: 64", "memory_mib: -64"), "spec.memory_mib", "-64")

    def test_broken_yaml(self):
        self.refused("kind: [deployment\n", "<stdin>:")

    def test_neighbours_of_a_bad_document_are_kept(self):
        bad = deployment(1)
        bad["spec"]["memory_mib"] = "-1"
        code, out, err = self.world.davit("apply", "-f", "-", check=False, stdin="\n---\n".join(
            json.dumps(d) for d in (deployment(0), bad, deployment(2))))
        self.assertEqual(code, 1, out + err)
        self.assertEqual(set(self.world.objects()), {"d_0", "d_2"})

    def yaml(self, line):
        return f"""kind: deployment
region: {REGION}
id: d_1
spec:
  k8s_namespace: shop
  k8s_name: a
  workspace_id: w
  project_id: p
  environment_id: e
  deployment_id: d_1
  image: i
  replicas: 1
  cpu_millicores: 100
  memory_mib: 64
  port: 80
  {line}
"""

    def agent_trouble(self, expected, **options):
        """An agent that cannot come in: both stay up and the agent's log says why."""
        agent = self.world.agent(**options).start()
        wait_until(lambda: f"{expected}; {agent.tail()}", lambda: expected in agent.text())
        self.assertTrue(agent.alive())
        self.assertTrue(self.server.alive())
        self.check_clean_end(agent)

    def test_unknown_region(self):
        for protocol in ("davit.v1", "ctrl.v1"):
            with self.subTest(protocol):
                self.agent_trouble('region \\"nowhere\\" is not one that token \\"agents\\" names', region="nowhere",
                                   protocol=protocol, name=f"agent-{protocol}")

    def test_wrong_token(self):
        self.world.token("wrong", "not-it")
        self.agent_trouble("invalid bearer token", token="wrong")

    def test_agents_token_on_the_operator_api(self):
        code, out, err = self.world.davit(
            "status", "--server", f"http://127.0.0.1:{self.world.port}", "--token-file",
            self.world.folder / "agent.token", check=False)
        self.assertEqual(code, 1, out + err)
        self.assertIn('token "agents" has role agent; davit.v1.OperatorService needs operator', out + err)

    def test_no_token_on_the_operator_api(self):
        code, out, err = self.world.davit("status", "--server", f"http://127.0.0.1:{self.world.port}", check=False)
        self.assertEqual(code, 1, out + err)
        self.assertIn("missing Authorization header", out + err)

    def test_nobody_at_the_socket(self):
        code, out, err = self.world.davit("status", "--server", "unix:/does/not/exist.sock", check=False)
        self.assertEqual(code, 1, out + err)
        self.assertIn("/does/not/exist.sock", out + err)


class Files(Case):
    """Databases that cannot be used; the exact texts are tested with the plugin, here that the host stays clear."""

    def ends_with(self, *texts):
        server = self.world.server().start()
        wait_until("the server gives up", lambda: not server.alive())
        self.assertEqual(server.process.returncode, 2, server.tail())
        for text in texts:
            self.assertIn(text, server.text())

    def test_corrupt_database(self):
        self.world.database.write_bytes(b"this is not a database" * 1000)
        before = self.world.database.read_bytes()
        self.ends_with(f'plugin "main": database "{self.world.database}": is not an SQLite database, or corrupt: '
                       "restore a backup, or move it away to begin anew")
        self.assertEqual(self.world.database.read_bytes(), before)

    def test_database_in_use(self):
        server = self.world.server().start()
        self.world.wait_ready(server)
        first = self.world.port
        self.world.port = first + 1 if first < 65000 else first - 1
        second = self.world.server("second", extra="").start()
        wait_until("the second gives up", lambda: not second.alive())
        self.assertIn("is in use by another process", second.text())
        self.assertTrue(server.alive())

    def test_missing_folder(self):
        self.world.database = self.world.folder / "no/such/folder/davit.db"
        self.ends_with("no/such/folder")


if __name__ == "__main__":
    unittest.main(verbosity=2)
