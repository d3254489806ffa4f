"""The parts that the end-to-end tests are made of: a server, an agent, the operator's commands, a Kubernetes.

Every part is a real process on loopback with its files in a folder of its own. Processes die with the test.
"""

import ctypes
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests/kubernetes"))
from https import Https  # noqa: E402
from processes import free_ports  # noqa: E402  (the folder is on the path only now)
from stores import OwnStore  # noqa: E402

STAGE = Path(os.environ.get("DAVIT_STAGE", REPOSITORY / "build/release/stage"))
DAVIT = STAGE / "bin/davit"
# Whose `davit` operates. A test that waits runs it ten times a second: a sanitizer's would take what the test needs.
OPERATOR = Path(os.environ.get("DAVIT_OPERATOR", DAVIT))
OPERATOR = OPERATOR if OPERATOR.exists() else DAVIT
REGION = "eu-test-1"
PROTOCOLS = ("davit.v1", "ctrl.v1")
# Of an API server that is not there.
KUBECONFIG = """apiVersion: v1
kind: Config
current-context: here
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: here, context: {cluster: c, user: u}}]
"""
# Sanitizers make everything several times slower.
PATIENCE = float(os.environ.get("DAVIT_PATIENCE", "1"))
DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
# A run of all tests collects the logs of what failed here.
KEPT_LOGS = os.environ.get("DAVIT_TEST_LOGS")
# ... and how long each test case took.
KEPT_TIMES = os.environ.get("DAVIT_TEST_TIMES")


def free_port():
    """Stays free while the server that has it is away: see free_ports."""
    return free_ports(1)[0]


def die_with_parent():
    ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)


def wait_until(what, holds, seconds=30.0, pause=0.1):
    """Waits for `holds()` to answer something true and returns it; the error says what it saw last."""
    deadline = time.monotonic() + seconds * PATIENCE
    while True:
        found = holds()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds * PATIENCE:.0f} s: {what() if callable(what) else what}")
        time.sleep(pause)


def threads_of(pid):
    """What each thread of a process does: its name, its state and where in the kernel it waits."""
    def read(path):
        try:
            return path.read_text(encoding="utf-8")
        except OSError:
            return ""
    return [f"{task.name} {read(task / 'comm').strip()} {read(task / 'stat').rpartition(')')[2][1:2]} "
            f"{read(task / 'wchan')}" for task in sorted(Path(f"/proc/{pid}/task").glob("*"))]


def kill_all(pids):
    """What a failed test has left, too."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Process:
    """A program with its output in a file; can be started again after it ended."""

    def __init__(self, name, argv, folder, env=None):
        self.name, self.argv, self.env = name, [str(a) for a in argv], env
        self.log = Path(folder) / f"{name}.log"
        self.process = None
        self.began_at = 0  # in the log

    def start(self):
        with open(self.log, "ab") as out:
            self.began_at = out.tell()
            self.process = subprocess.Popen(self.argv, stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                                            env={**os.environ, **(self.env or {})}, preexec_fn=die_with_parent)
        return self

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def threads(self):
        return threads_of(self.process.pid) if self.alive() else "it has ended"

    def kill(self):
        """kill -9."""
        if self.alive():
            self.process.kill()
            self.process.wait()

    def stop(self, seconds=30):
        """SIGTERM; returns the exit code."""
        if self.alive():
            self.process.terminate()
            try:
                self.process.wait(seconds * PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError(f"{self.name} did not stop in {seconds} s; {self.tail()}") from None
        return None if self.process is None else self.process.returncode

    def memory_bytes(self, of="VmRSS"):
        """Resident set size; of="RssAnon": without pages of files, which are the libraries'."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith(of + ":"):
                return int(line.split()[1]) * 1024
        raise AssertionError(f"{self.name} has no {of}")

    def text(self):
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""

    def lines(self):
        """Those that are whole."""
        return whole_lines(self.text())

    def is_ready(self):
        """Whether davit has said so since it was started last."""
        return b"ready plugins=" in self.log.read_bytes()[self.began_at:]

    def tail(self, lines=25):
        return f"{self.log}:\n" + "\n".join(self.text().splitlines()[-lines:])


def whole_lines(text):
    """Of what somebody still writes."""
    return text.rpartition("\n")[0].splitlines()


def get(port, path, seconds=30):
    """(status, body) of an HTTP request."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=seconds * PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def metrics(port):
    """What a process counts, by name, summed over what it is counted by."""
    out = {}
    for line in get(port, "/metrics")[1].splitlines():
        if line and not line.startswith("#"):
            name = line.split("{")[0].split(" ")[0]
            out[name] = out.get(name, 0) + float(line.rpartition(" ")[2])
    return out


class World:
    """One server and its agents in one temporary folder."""

    def __init__(self, keep=False, log_level="debug"):
        self.log_level = log_level
        self.folder = Path(tempfile.mkdtemp(prefix="davit-e2e-"))
        self.keep = keep
        self.parts = []
        self.port = free_port()
        self.socket = self.folder / "operator.sock"
        self.store = OwnStore(self.folder)  # of servers that are given no other one
        self.token("agent", "agent-secret-of-the-tests")

    def token(self, name, text):
        path = self.folder / f"{name}.token"
        path.write_text(text + "\n", encoding="utf-8")
        path.chmod(0o600)
        return path

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def server(self, name="server", regions=(REGION,), extra="", shipped=True, store=None):
        """`store`: the settings of the storage; a store of this world's own when absent."""
        store = store or self.store.settings()
        overlay = self.write(f"{name}.toml", f"""
[host]
state_dir = "{self.folder}/state-{name}"
log_level = "{self.log_level}"
[rpc.server.main]
listen = "127.0.0.1:{self.port}"
[[rpc.server.main.token]]
name = "agents"
file = "{self.folder}/agent.token"
role = "agent"
regions = {json.dumps(list(regions))}
[rpc.server.operator]
listen = "unix:{self.socket}"
[plugin.main]
{store}
{extra}""")
        files = ([REPOSITORY / "etc/server.toml"] if shipped else []) + [overlay]
        return self.part(Process(name, [DAVIT, "run", *files], self.folder))

    def agent(self, name="agent", protocol="davit.v1", kubeconfig=None, region=REGION, extra="", port=None,
              token="agent", transport="grpc"):
        cluster = ('module = "cluster_memory"\n' if kubeconfig is None else
                   f'module = "cluster_kubernetes"\nkubeconfig = "{kubeconfig}"\n')
        overlay = self.write(f"{name}.toml", f"""
[host]
state_dir = "{self.folder}/state-{name}"
log_level = "{self.log_level}"
[rpc.client.control]
url = "http://127.0.0.1:{port or self.port}"
token_file = "{self.folder}/{token}.token"
region = "{region}"
agent = "{name}"
protocol = "{protocol}"
transport = "{transport}"
[plugin.cluster]
{cluster}
{extra}""")
        return self.part(Process(name, [DAVIT, "run", REPOSITORY / "etc/agent.toml", overlay], self.folder))

    def with_metrics(self, process, more=""):
        """Its metrics and its health over HTTP, from its next start on; returns the port. `more`: further keys of its
        [host], and tables. They come in a file of their own, for the overlay has a table [host] already."""
        port = free_port()
        process.argv.append(str(self.write(f"{process.name}-host.toml",
                                           f'[host]\nmetrics_listen = "127.0.0.1:{port}"\n{more}')))
        return port

    def part(self, process):
        self.parts.append(process)
        return process

    # --- the operator ------------------------------------------------------------------------------------------

    def davit(self, *arguments, stdin=None, check=True, seconds=120):
        """Runs an operator's command; returns (exit code, stdout, stderr)."""
        done = subprocess.run([str(OPERATOR), *map(str, arguments)], input=stdin, text=True, capture_output=True,
                              timeout=seconds * PATIENCE, check=False,
                              env={**os.environ, "DAVIT_SERVER": f"unix:{self.socket}"})
        if check and done.returncode != 0:
            raise AssertionError(f"davit {' '.join(map(str, arguments))}: exit code {done.returncode}\n"
                                 f"{done.stdout}{done.stderr}")
        return done.returncode, done.stdout, done.stderr

    def watch(self, *arguments, name="watch"):
        """`davit get --watch`, which goes on until the test ends."""
        return self.part(Process(name, [DAVIT, "get", *arguments, "--watch"], self.folder,
                                 {"DAVIT_SERVER": f"unix:{self.socket}"})).start()

    def apply(self, documents, *options):
        text = "\n---\n".join(json.dumps(d) for d in documents)
        return self.davit("apply", "-f", "-", *options, stdin=text)[1]

    def delete(self, kind, name, region=REGION):
        return self.davit("delete", kind, name, "--region", region)[1]

    def status(self):
        return json.loads(self.davit("status", "-o", "json")[1])

    def objects(self, kind="deployment"):
        """Live objects of a kind by id, as `davit status` shows them."""
        return {o["id"]: o for o in self.status().get("objects", []) if o["kind"] == kind and o.get("live", False)}

    def wait_gone(self, seconds=60.0):
        """Until the agent has said gone of every record that is dead."""
        def left():
            return [o for o in self.status().get("objects", []) if not o.get("live", False)
                    and "observed" in o and not o["observed"].get("gone", False)]
        wait_until(lambda: f"nothing is left of what is dead: {json.dumps(left()[:3])}", lambda: not left(), seconds)

    def wait_ready(self, process=None):
        """Until the operator's socket answers."""
        def answers():
            if process is not None and not process.alive():
                raise AssertionError(f"{process.name} ended: {process.tail()}")
            return self.socket.exists() and self.davit("status", "-o", "json", check=False)[0] == 0
        wait_until(lambda: "the operator's socket answers; " + "\n".join(p.tail() for p in self.parts), answers)

    def wait_running(self, ids, kind="deployment", seconds=60.0):
        """Until every id is at its own version with all pods ready; returns the objects."""
        def all_run():
            seen.clear()
            seen.update(self.objects(kind))
            return all(i in seen and is_running(seen[i]) for i in ids)
        seen = {}
        wait_until(lambda: f"running: {[i for i in ids if i not in seen or not is_running(seen[i])][:5]} of "
                           f"{json.dumps([seen.get(i) for i in ids if i not in seen or not is_running(seen[i])][:2])}\n"
                           + "\n".join(p.tail() for p in self.parts), all_run, seconds)
        return seen

    def close(self, failed=False):
        for part in reversed(self.parts):
            part.kill()
        self.store.close()
        if failed and KEPT_LOGS:
            kept = Path(KEPT_LOGS) / self.folder.name
            shutil.copytree(self.folder, kept, ignore=lambda folder, names: [
                n for n in names if Path(n).suffix not in (".log", ".toml") and not (Path(folder) / n).is_dir()])
            print(f"logs are kept in {kept}", file=sys.stderr)
        if self.keep or (failed and not KEPT_LOGS):
            print(f"logs are kept in {self.folder}", file=sys.stderr)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)


def is_running(o):
    """Observed at the desired version, with every pod updated and ready."""
    seen = o.get("observed", {})
    count = int(seen.get("desired", 0))
    return (int(seen.get("observed_version", 0)) >= int(o["version"]) and int(seen.get("updated", 0)) == count
            and int(seen.get("ready", 0)) == count and int(seen.get("stale", 0)) == 0
            and seen.get("health") in ("healthy", "paused"))


# Settings of an agent: available as soon as ready, and no Secrets that the test cluster does not have.
AT_ONCE = """
[plugin.deployment]
min_ready_s = 0
[plugin.sentinel]
min_ready_s = 0
secrets = []
"""


def seal(*arguments, plaintext=""):
    """What `davit-seal` prints."""
    done = subprocess.run([DAVIT.parent / "davit-seal", *map(str, arguments)], input=plaintext, text=True,
                          capture_output=True, timeout=60, check=False)
    if done.returncode != 0:
        raise AssertionError(f"davit-seal {arguments[0]}: {done.stderr}")
    return done.stdout


def deployment(number, namespace="shop", replicas=1, region=REGION, **more):
    """A document as an operator writes it."""
    return {"kind": "deployment", "region": region, "id": f"d_{number}",
            "spec": {"k8s_namespace": namespace, "k8s_name": f"app-{number}", "workspace_id": "ws_1",
                     "project_id": "proj_1", "environment_id": "env_1", "app_id": "app_1",
                     "deployment_id": f"d_{number}", "image": "registry.example/app:1", "replicas": replicas,
                     "cpu_millicores": "100", "memory_mib": "64", "port": 8080, **more}}


def policy(number, namespace="shop", region=REGION):
    spec = {"endpointSelector": {"matchLabels": {"app": f"a{number}"}}}
    return {"kind": "cilium_network_policy", "region": region, "id": f"net_{number}",
            "spec": {"k8s_namespace": namespace, "k8s_name": f"policy-{number}",
                     "cilium_network_policy_id": f"net_{number}",
                     "policy": {"apiVersion": "cilium.io/v2", "kind": "CiliumNetworkPolicy", "spec": spec}}}


def sentinel(number, replicas=1, region=REGION, **more):
    return {"kind": "sentinel", "region": region, "id": f"s_{number}",
            "spec": {"k8s_name": f"edge-{number}", "workspace_id": "ws_1", "project_id": "proj_1",
                     "environment_id": "env_1", "sentinel_id": f"s_{number}", "image": "registry.example/sentinel:1",
                     "replicas": replicas, "cpu_millicores": "250", "memory_mib": "256", **more}}


class Kubernetes:
    """A real API server: the one of $DAVIT_TEST_KUBERNETES (a rig's folder) or one of its own.

    `bare`: always one of its own, without controllers. `options`: of `rig.py up`, and always one of its own. `wait`:
    until it is up; without, see ready().
    """

    def __init__(self, bare=False, wait=True, options=()):
        shared = None if bare or options else os.environ.get("DAVIT_TEST_KUBERNETES")
        self.own = shared is None
        self.folder = Path(shared) if shared else Path(tempfile.mkdtemp(prefix="davit-rig-"))
        self.rig = REPOSITORY / "tests/kubernetes/rig.py"
        self.process = self.state = self.url = self.kubeconfig = self.context = self.https = None
        self.ca, self.token_file = self.folder / "ca.crt", self.folder / "token"
        if self.own:
            command = [sys.executable, str(self.rig), "up", "--foreground", "--dir", str(self.folder), *options]
            self.process = subprocess.Popen(command + (["--bare"] if bare else []), stdin=subprocess.PIPE,
                                            stdout=subprocess.DEVNULL, preexec_fn=die_with_parent)
        if wait:
            self.ready()

    def ready(self):
        if self.own:
            wait_until("the rig is up", self.is_up, 900)
        self.state = json.loads((self.folder / "rig.json").read_text(encoding="utf-8"))
        self.url = self.state["url"]
        self.kubeconfig = self.folder / "kubeconfig"
        self.context = ssl.create_default_context(cafile=str(self.ca))
        self.https = Https(self.url, self.context)

    def is_up(self):
        if self.process.poll() is not None:
            raise unittest.SkipTest("the Kubernetes of the tests did not start: see its output above")
        try:
            return json.loads((self.folder / "rig.json").read_text(encoding="utf-8"))["ready"]
        except FileNotFoundError:
            return False

    def rig_command(self, command):
        subprocess.run([sys.executable, str(self.rig), command, "--dir", str(self.folder)], check=True)

    def authorization(self):
        return {"Authorization": "Bearer " + self.token_file.read_text(encoding="utf-8").strip()}

    def request(self, method, path, body=None, content_type="application/json"):
        """Returns (status, object). An API server that is away raises OSError."""
        status, text = self.https.request(method, path, None if body is None else json.dumps(body),
                                          {**self.authorization(), "Content-Type": content_type})
        return status, json.loads(text) if text.startswith(b"{") else {"message": text.decode()}

    def items(self, path, selector=""):
        query = f"?labelSelector={urllib.request.quote(selector)}" if selector else ""
        status, answer = self.request("GET", path + query)
        while status == 429:  # a resource whose definition is new, for some seconds
            time.sleep(float(answer.get("details", {}).get("retryAfterSeconds", 1)))
            status, answer = self.request("GET", path + query)
        if status != 200:
            raise AssertionError(f"{path}: {status} {answer}")
        return answer["items"]

    def replica_sets(self, namespaces=None):
        """Our ReplicaSets by (namespace, name)."""
        found = self.items("/apis/apps/v1/replicasets", "app.kubernetes.io/managed-by=krane")
        return {(r["metadata"]["namespace"], r["metadata"]["name"]): r for r in found
                if (namespaces is None or r["metadata"]["namespace"] in namespaces)
                and "deletionTimestamp" not in r["metadata"]}

    def close(self):
        if self.own:
            self.process.stdin.close()
            self.process.wait(60)
            shutil.rmtree(self.folder, ignore_errors=True)


class Case(unittest.TestCase):
    """A test with a world of its own; its logs are shown and kept when it fails."""

    def run(self, result=None):
        began = time.monotonic()
        result = super().run(result)
        if KEPT_TIMES:
            with open(KEPT_TIMES, "a", encoding="utf-8") as times:
                times.write(f"{STAGE.parent.name}\te2e {self.id()}\t{time.monotonic() - began:.3f}\n")
        return result

    def setUp(self):
        self.faults_before = self.faults()
        self.world = World()

    def tearDown(self):
        self.world.close(self.faults() > self.faults_before)

    def faults(self):
        """How many tests have failed so far; the result outlives this one."""
        result = self._outcome.result
        return len(result.failures) + len(result.errors)

    def check_clean_end(self, *processes):
        """SIGTERM ends each with 0."""
        for process in processes:
            self.assertEqual(process.stop(), 0, process.tail())


class KubernetesCase(Case):
    """A test on a real API server, shared by the tests of one class; namespaces are the test's own."""

    kubernetes = None

    @classmethod
    def setUpClass(cls):
        cls.kubernetes = Kubernetes()

    @classmethod
    def tearDownClass(cls):
        if cls.kubernetes is not None:
            cls.kubernetes.close()
