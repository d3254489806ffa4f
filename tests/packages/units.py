"""A machine with Davit's packages, on which systemd is process 1: installs, writes configuration as an operator does,
starts the units, and asks `davit`."""

import json
import os
import signal
import subprocess
import threading
from pathlib import Path

from roots import SERVER, Root, deb, wait_until

TOKEN = "b6e5f0a1c2d3948576aabbccddeeff0011223344"
REGION = "eu-1"
AGENT = f"""[host]
state_dir = "/var/lib/davit/agent"
[rpc.client.control]
url = "http://127.0.0.1:7070"
token_file = "credential:agent.token"
region = "{REGION}"
[plugin.cluster]
module = "cluster_memory"
"""

TOKENS = f"""[[rpc.server.main.token]]
name = "{REGION}"
file = "credential:agent.token"
role = "agent"
regions = ["{REGION}"]
"""


def deployment(number, replicas=1):
    return json.dumps({"kind": "deployment", "region": REGION, "id": f"d_{number}",
                       "spec": {"k8s_namespace": "shop", "k8s_name": f"app-{number}", "workspace_id": "ws_1",
                                "project_id": "proj_1", "environment_id": "env_1", "app_id": "app_1",
                                "deployment_id": f"d_{number}", "image": "registry.example/app:1", "replicas": replicas,
                                "cpu_millicores": "100", "memory_mib": "64", "port": 8080}})


class Machine(Root):
    """A root whose process 1 is systemd, in a container of its own."""

    def __init__(self, **options):
        self.leader = None
        super().__init__(**options)
        self.console = self.own / "console.log"
        self.container = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--directory", self.path, "--boot", "--register=no", "--keep-unit",
             "--private-network", "--console=pipe", f"--machine=davit-{Root.count}"],
            stdin=subprocess.DEVNULL, stdout=self.console.open("wb"), stderr=subprocess.STDOUT)
        wait_until(lambda: f"systemd starts: {self.console.read_text(encoding='utf-8', errors='replace')}", self.is_up)

    def mount_kernel(self):
        """The container has its own."""

    def is_up(self):
        if self.container.poll() is not None:
            raise AssertionError(f"the container has ended: {self.console.read_text(encoding='utf-8', errors='replace')}")
        task = Path(f"/proc/{self.container.pid}/task/{self.container.pid}/children").read_text(encoding="utf-8").split()
        if not task:
            return False
        self.leader = task[0]
        state = self.run("systemctl", "is-system-running", check=False).stdout.strip()
        return state in ("running", "degraded")

    def into(self):
        return super().into() if self.leader is None else [
            "nsenter", "--target", self.leader, "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--"]

    def close(self):
        """At once, as a machine that loses its power."""
        os.kill(int(self.leader or self.container.pid), signal.SIGKILL)
        self.container.wait()
        super().close()

    def configure(self, *units):
        self.write("/etc/davit/credentials/agent.token", TOKEN, 0o600)
        if "server" in units:
            self.write("/etc/davit/server.conf.d/10-site.toml", TOKENS)
        if "agent" in units:
            self.write("/etc/davit/agent.conf.d/10-site.toml", AGENT)

    def start(self, unit):
        self.run("systemctl", "start", f"davit-{unit}.service")

    def systemctl(self, *words, check=True):
        return self.run("systemctl", "--no-pager", *words, check=check)

    def show(self, unit, name):
        return self.systemctl("show", "--value", f"--property={name}", unit).stdout.strip()

    def active(self):
        """The units of Davit that run."""
        listed = self.systemctl("list-units", "--plain", "--no-legend", "--state=active,activating", "davit*").stdout
        return sorted(line.split()[0] for line in listed.splitlines())

    def journal(self, unit, *words):
        self.run("journalctl", "--sync", check=False)  # also what journald has not read yet
        return self.run("journalctl", "--no-pager", f"--unit={unit}", *words).stdout

    def log(self, unit):
        return self.journal(f"davit-{unit}.service", "--lines=40")

    def starts(self, unit):
        """How often systemd has started it."""
        return self.journal(f"davit-{unit}.service", "--output=cat").count("\nStarted ") + \
            self.journal(f"davit-{unit}.service", "--output=cat").startswith("Started ")

    def davit(self, *words, check=True, **options):
        return self.run("davit", *words, check=check, **options)

    def wait_serving(self):
        wait_until(lambda: f"the server serves: {self.log('server')}",
                   lambda: self.davit("status", check=False).returncode == 0)

    def apply(self, text):
        return self.davit("apply", "-f", "-", input=text)

    def running(self):
        """The ids of the deployments that run at their record's version, all of their pods ready."""
        rows = [line.split() for line in self.davit("status", "deployment", check=False).stdout.splitlines()]
        return {row[1] for row in rows if row[:1] == ["deployment"] and row[3] == "running" and row[4] == row[5]
                and row[-1] == "healthy"}

    def wait_running(self, *ids):
        wait_until(lambda: f"{ids} run: {self.davit('status', check=False).stdout}\n{self.log('agent')}",
                   lambda: set(ids) <= self.running())


def server_and_agent(debs=None, **options):
    """Both run, and the agent is connected."""
    machine = Machine(**options)
    machine.install(debs or [deb(n) for n in SERVER])
    machine.configure("server", "agent")
    machine.start("server")
    machine.wait_serving()
    machine.start("agent")
    return machine


class Writer:
    """Applies one record after the other, as long as it lives; a call that the server did not answer is made again."""

    def __init__(self, machine):
        self.machine, self.written, self.failed = machine, [], []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    def _write(self):
        number = 0
        while not self._end.is_set():
            done = self.machine.davit("apply", "-f", "-", check=False, input=deployment(f"w{number}"))
            if done.returncode == 0:
                self.written.append(f"d_w{number}")
                number += 1
            elif done.returncode != 6 and "No such file" not in done.stdout and "not found" not in done.stdout:
                self.failed.append(done.stdout)

    def end(self):
        self._end.set()
        self._thread.join()
