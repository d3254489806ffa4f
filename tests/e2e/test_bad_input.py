"""Bad input, each row with its exact message: what, where, what to do. Start-up ends with 2, a running process stays.

Configuration faults that need no other part are in tests/host, storage faults in tests/plugins/storage_sqlite.
"""

import json
import socket
import subprocess
import unittest

from parts import DAVIT, KUBECONFIG, PROTOCOLS, REGION, REPOSITORY, Case, deployment, wait_until
from stores import on_a_file


REFUSED, NOT_FOUND, NO_ANSWER = 4, 5, 6  # exit codes, host/commands/README.md

CONTROL = """[rpc.client.control]
url = "http://127.0.0.1:1"
token_file = "$DIR/agent.token"
region = "r"
[plugin.cluster]
"""
MEMORY = CONTROL + 'module = "cluster_memory"\n'


class AtStartUp(Case):
    # An agent's own file, merged over etc/agent.toml, and all that `davit run` and `davit check` then say.
    ROWS = {
        "unknown key": (MEMORY + "[plugin.applier]\nconcurrency_mx = 3\n",
                        '$DIR/bad.toml:8: plugin.applier.concurrency_mx: unknown key; did you mean "concurrency_max"?'),
        "unknown key of a table": (MEMORY + "[plugin.aplier]\nconcurrency_max = 3\n",
                                   '$DIR/bad.toml:7: plugin.aplier: key "module": is missing (a string)'),
        "wrong type": (MEMORY + '[plugin.applier]\nconcurrency_max = "many"\n',
                       "$DIR/bad.toml:8: plugin.applier.concurrency_max: must be an integer"),
        "missing module": (CONTROL + 'module = "cluster_kubernets"\n',
                           '$DIR/bad.toml:6: plugin.cluster.module: module "cluster_kubernets": no '
                           'cluster_kubernets.so in $PLUGINS; did you mean "cluster_kubernetes"?'),
        "missing context": (CONTROL + 'module = "cluster_kubernetes"\nkubeconfig = "$DIR/kubeconfig"\n'
                            'context = "there"\n',
                            '$DIR/bad.toml:7: plugin.cluster.kubeconfig: kubeconfig "$DIR/kubeconfig": context "there" '
                            "does not exist (there are: here)"),
    }

    ABSENT = MEMORY.replace("$DIR/agent.token", "/does/not/exist")

    def said(self, command, toml):
        path = self.world.write("bad.toml", toml.replace("$DIR", str(self.world.folder)))
        done = subprocess.run([str(DAVIT), command, str(REPOSITORY / "etc/agent.toml"), str(path)], text=True,
                              capture_output=True, timeout=60, check=False)
        said = (done.stdout + done.stderr).replace(str(self.world.folder), "$DIR")
        return said.replace(str(DAVIT.parents[1] / "lib/davit/plugins"), "$PLUGINS"), done.returncode

    def test_rows(self):
        for command in ("run", "check"):
            for name, (toml, line) in self.ROWS.items():
                with self.subTest(f"{command}: {name}"):
                    self.world.write("kubeconfig", KUBECONFIG)
                    self.assertEqual(self.said(command, toml), (line + "\n", 2))

    def test_absent_token(self):
        """Nobody has configured it yet: the service manager does not try again."""
        self.assertEqual(self.said("check", self.ABSENT), (
            "$DIR/bad.toml:3: rpc.client.control: token_file: /does/not/exist: No such file or directory\n", 2))
        self.assertEqual(self.said("run", self.ABSENT), (
            "$DIR/bad.toml:3: rpc.client.control.token_file: /does/not/exist: there is no such file: write it, or name "
            "another one in $DIR/bad.toml\n", 78))

    def test_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", self.world.port))
            taken.listen()
            server = self.world.server().start()
            wait_until("the server gives up", lambda: not server.alive())
            self.assertEqual(server.process.returncode, 2, server.tail())
            self.assertIn(f"rpc.server.main: cannot listen on 127.0.0.1:{self.world.port}: address already in use",
                          server.text())


DOCUMENT = f"""kind: deployment
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
"""
KINDS = "cilium_network_policy, deployment, sentinel"
NEAREST = '; did you mean "deployment"?'


class WhileRunning(Case):
    """What callers get wrong; the server stays up."""

    # A document, and all that `davit apply -f -` then says.
    DOCUMENTS = {
        "unknown field": (DOCUMENT + "  cpu_milicores: 100\n",
                          '<stdin>:16: spec.cpu_milicores: unknown field, did you mean "cpu_millicores"?'),
        "missing field": (DOCUMENT.replace("  image: i\n", ""), "<stdin>:4: spec.image: is missing"),
        "negative size": (DOCUMENT.replace("mib: 64", "mib: -64"),
                          "<stdin>:14: spec.memory_mib: must be at least 1, not -64"),
        "wrong type": (DOCUMENT.replace("mib: 64", "mib: lots"),
                       '<stdin>:14: spec.memory_mib: must be an integer, not "lots"'),
        "broken YAML": ("kind: [deployment\n", "<stdin>:2: end of sequence flow not found"),
        "no mapping": ("- a\n", "<stdin>:1: a document must be an object with kind, region and spec"),
        "no kind": ("region: r\nid: x\nspec: {}\n", "<stdin>:1: kind: is required"),
        "unknown kind": ("kind: deploymnt\nregion: r\nid: x\nspec: {}\n",
                         f'<stdin>:1: kind: "deploymnt" is not known to this server, which knows {KINDS}{NEAREST}'),
        "unknown region": (DOCUMENT.replace(REGION, "nowhere"),
                           '<stdin>:2: region: "nowhere" is not known: no token of an agent names it'),
        "nothing": ("", "davit apply: there is no document in what was given"),
    }

    # Arguments, and all that davit then says. $SERVER is the port of the agents.
    COMMANDS = {
        "an agent's token": (["status", "--server", "$SERVER", "--token-file", "$DIR/agent.token"],
                             'davit status: token "agents" has role agent; davit.v1.OperatorService needs operator'),
        "no token": (["status", "--server", "$SERVER"],
                     "davit status: missing Authorization header (--token-file names the file of a token)"),
        "wrong token": (["status", "--server", "$SERVER", "--token-file", "$DIR/wrong.token"],
                        "davit status: invalid bearer token"),
        "nobody at the socket": (["status", "--server", "unix:/does/not/exist.sock"],
                                 "davit status: server unix:/does/not/exist.sock cannot be reached: "
                                 "No such file or directory"),
        "no such file": (["apply", "-f", "/no/such.yaml"], "/no/such.yaml: cannot be read: No such file or directory"),
        "unknown kind to get": (["get", "deploymnt"],
                                f'davit get: kind: "deploymnt" is not known to this server, which knows {KINDS}{NEAREST}'),
        "unknown kind to delete": (["delete", "deploymnt", "d_1", "--region", REGION],
                                   f'davit delete: deploymnt/d_1 ({REGION}): kind: "deploymnt" is not known to this '
                                   f"server, which knows {KINDS}{NEAREST}"),
        "unknown kind to see": (["status", "deploymnt"],
                                f'davit status: kind: "deploymnt" is not known to this server, which knows {KINDS}{NEAREST}'),
        "no such record": (["get", "deployment", "d_77"], 'davit get: no deployment "d_77" in any region'),
    }

    CODES = {"nobody at the socket": NO_ANSWER, "no such record": NOT_FOUND}  # of all others REFUSED

    # Settings of an agent that cannot come in, and why, as its log says.
    AGENTS = {
        "unknown-region": ({"region": "nowhere"}, 'region \\"nowhere\\" is not one that token \\"agents\\" names'),
        "wrong-token": ({"token": "wrong"}, "invalid bearer token"),
    }

    def setUp(self):
        super().setUp()
        self.server = self.world.server().start()
        self.world.wait_ready(self.server)
        self.world.token("wrong", "not-it")

    def tearDown(self):
        self.assertTrue(self.server.alive())
        super().tearDown()

    def test_documents(self):
        for name, (document, line) in self.DOCUMENTS.items():
            with self.subTest(name):
                said = self.world.davit("apply", "-f", "-", stdin=document, check=False)
                self.assertEqual(said, (REFUSED, "", line + "\n"))
        self.assertEqual(self.world.objects(), {})

    def test_commands(self):
        places = {"$SERVER": f"http://127.0.0.1:{self.world.port}", "$DIR": str(self.world.folder)}
        for name, (arguments, line) in self.COMMANDS.items():
            with self.subTest(name):
                for place, is_now in places.items():
                    arguments = [a.replace(place, is_now) for a in arguments]
                code = self.CODES.get(name, REFUSED)
                self.assertEqual(self.world.davit(*arguments, check=False), (code, "", line + "\n"))

    def test_agents(self):
        for name, (options, reason) in self.AGENTS.items():
            for protocol in PROTOCOLS:
                with self.subTest(f"{name}, {protocol}"):
                    agent = self.world.agent(f"{name}-{protocol}", protocol=protocol, **options).start()
                    line = f'warn  watcher   stream lost kind=deployment reason="control: {reason}"'
                    wait_until(lambda: f"{line}; {agent.tail()}", lambda: line in agent.text())
                    self.assertTrue(agent.alive())
                    self.check_clean_end(agent)

    def test_neighbours_of_a_bad_document_are_kept(self):
        bad = deployment(1)
        bad["spec"]["memory_mib"] = "-1"
        code, out, err = self.world.davit("apply", "-f", "-", check=False, stdin="\n---\n".join(
            json.dumps(d) for d in (deployment(0), bad, deployment(2))))
        self.assertEqual(code, 4, out + err)
        self.assertEqual(set(self.world.objects()), {"d_0", "d_2"})


@on_a_file
class Files(Case):
    """Databases that cannot be used; the exact texts are tested with the plugin, here that the host stays clear."""

    def ends_with(self, *texts):
        server = self.world.server().start()
        wait_until("the server gives up", lambda: not server.alive())
        self.assertEqual(server.process.returncode, 2, server.tail())
        for text in texts:
            self.assertIn(text, server.text())

    def test_corrupt_database(self):
        self.world.store.path.write_bytes(b"this is not a database" * 1000)
        before = self.world.store.path.read_bytes()
        self.ends_with(f'plugin "main": database "{self.world.store.path}": is not an SQLite database, or corrupt: '
                       "restore a backup, or move it away to begin anew")
        self.assertEqual(self.world.store.path.read_bytes(), before)

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
        self.world.store.path = self.world.folder / "no/such/folder/davit.db"
        self.ends_with("no/such/folder")


if __name__ == "__main__":
    unittest.main(verbosity=2)
