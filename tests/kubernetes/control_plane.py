"""The programs of one cluster: their order, their arguments, and when they are usable."""

import http.client
import os
import signal
import ssl
import subprocess
import sys
import time

from credentials import write_credentials
from pod_sandbox import PASSED_ON
from pod_spec import stages_without
from processes import HERE, RigError, free_ports, identity, is_free, spawn, tail, wait_until


# Kubernetes' own clients send 20 requests a second unless told otherwise; the tests would measure
# that and nothing else.
EAGER = ("--kube-api-qps=2000", "--kube-api-burst=4000")

# With Go's usual 100 the collector takes a quarter of what these programs compute. Memory is there.
GARBAGE_PERCENT = "400"

# Open watches keep a stopping API server up for a minute; killing it loses nothing.
DRAIN_SECONDS = 2

CLIENTS = ("kube-controller-manager", "kube-scheduler", "kwok")
POD_RUNNER = "pod-runner"  # goes on while the API server is away, and so do its pods
PODS_END_SECONDS = 10
PORT_SECONDS = 10  # for the port of a stopped API server to be free again


class ControlPlane:
    """Lives in `folder`; `on_change` is called whenever a process has started or ended.

    `bare`: etcd and the API server alone, with nothing in them. `run_pods`: {image: stage} of pods that are run as
    processes, by pod_runner.py.
    """

    def __init__(self, folder, assets, seconds, on_change, bare=False, run_pods=None):
        self.folder, self.assets, self.on_change, self.bare = folder, assets, on_change, bare
        self.deadline = time.monotonic() + seconds
        self.seconds, self.run_pods = seconds, run_pods or {}
        self.ports = dict(zip(("etcd", "etcd-peer", "kube-apiserver"), free_ports(3)))
        self.url = f"https://127.0.0.1:{self.ports['kube-apiserver']}"
        self.processes = {}
        # The user's own KUBECONFIG, ETCD_..., ~/.kube and ~/.kwok must not reach the programs.
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GOGC": GARBAGE_PERCENT}

    def start(self):
        write_credentials(self.folder, self.url)
        self._start_etcd()
        self.start_api_server()
        if not self.bare:
            self._fill()
        if self.run_pods:
            self._start_pod_runner()

    def start_api_server(self):
        """Starts the API server, and then its own clients: controllers, scheduler, kubelets."""
        if "kube-apiserver" in self.processes:
            raise RigError("the API server is running already")
        self.deadline = time.monotonic() + self.seconds
        port = self.ports["kube-apiserver"]
        self._run_api_server(port)
        client = ssl.create_default_context(cafile=self.folder / "ca.crt")
        client.load_cert_chain(self.folder / "client.crt", self.folder / "client.key")

        def answers():
            self.check()
            connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=2, context=client)
            try:
                connection.request("GET", "/readyz")
                return connection.getresponse().status == 200
            except (OSError, http.client.HTTPException):
                return False
            finally:
                connection.close()

        if not wait_until(answers, self._left()):
            raise self._failure("kube-apiserver", f"was not ready after {self.seconds} s")
        if not self.bare:
            self._start_clients()

    def kill_api_server(self):
        """In the middle of whatever it does."""
        self.stop_api_server(signal.SIGKILL)

    def stop_api_server(self, number=signal.SIGTERM):
        """Stops its own clients too: after 20 s without it they would wait for another minute."""
        if "kube-apiserver" not in self.processes:
            raise RigError("the API server is stopped already")
        for name in self.processes.keys() & set(CLIENTS):
            process = self.processes.pop(name)
            process.kill()
            process.wait()
        process = self.processes.pop("kube-apiserver")
        process.send_signal(number)
        try:
            process.wait(DRAIN_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self.on_change()

    def stop(self):
        """At once: nothing of this cluster is needed afterwards."""
        if POD_RUNNER in self.processes:
            # By itself: then the processes of its pods have ended, and do not only end soon.
            self.processes[POD_RUNNER].terminate()
            try:
                self.processes[POD_RUNNER].wait(PODS_END_SECONDS)
            except subprocess.TimeoutExpired:
                pass
        for process in self.processes.values():
            process.send_signal(signal.SIGKILL)
        for process in self.processes.values():
            process.wait()
        self.processes.clear()

    def check(self):
        """Raises if a process has ended by itself. Who kills the pod runner wants to see it come back."""
        if POD_RUNNER in self.processes and self.processes[POD_RUNNER].poll() == -signal.SIGKILL:
            self._start_pod_runner()
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise self._failure(name, f"ended with code {process.returncode}")

    def identities(self):
        return {name: identity(process.pid) for name, process in self.processes.items()}

    def _left(self):
        return max(0, self.deadline - time.monotonic())

    def _log(self, name):
        return self.folder / "logs" / f"{name}.log"

    def _failure(self, name, what):
        return RigError(
            f"{name} {what}; the end of {self._log(name)}:\n{tail(self._log(name))}"
            f"  run it again; if it fails again, remove {self.assets} and run build.sh"
        )

    def _run(self, name, *arguments):
        command = [self.assets / name, *arguments]
        self.processes[name] = spawn(command, self._log(name), self.env, self.folder)
        self.on_change()

    def _start_etcd(self):
        client, peer = (f"http://127.0.0.1:{self.ports[name]}" for name in ("etcd", "etcd-peer"))
        self._run(
            "etcd",
            "--name=rig",
            "--data-dir=etcd",
            "--unsafe-no-fsync",
            "--log-level=warn",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=rig={peer}",
        )

    def _run_api_server(self, port):
        if not wait_until(lambda: is_free(port), PORT_SECONDS):
            raise RigError(f"port {port} on 127.0.0.1 is in use by another process; end that first")
        self._run(
            "kube-apiserver",
            f"--etcd-servers=http://127.0.0.1:{self.ports['etcd']}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={port}",
            "--tls-cert-file=server.crt",
            "--tls-private-key-file=server.key",
            "--client-ca-file=ca.crt",
            "--token-auth-file=tokens.csv",
            "--authentication-config=authentication.yaml",
            "--service-account-key-file=service-accounts.key",
            "--service-account-signing-key-file=service-accounts.key",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--authorization-mode=RBAC",
            "--endpoint-reconciler-type=none",
            "--allow-privileged",
            "--profiling=false",
            f"--audit-policy-file={HERE / 'audit.yaml'}",
            "--audit-log-path=logs/audit.log",
        )

    def _start_clients(self):
        # The kubelets of before hold the nodes for 40 s; the new ones would wait for that.
        self._kubectl("delete", "lease", "--namespace=kube-node-lease", "--all")
        self._run(
            "kube-controller-manager",
            "--kubeconfig=kubeconfig",
            "--leader-elect=false",
            "--secure-port=0",
            "--service-account-private-key-file=service-accounts.key",
            "--root-ca-file=ca.crt",
            "--concurrent-replicaset-syncs=20",
            "--concurrent-gc-syncs=20",
            *EAGER,
        )
        self._run(
            "kube-scheduler",
            "--kubeconfig=kubeconfig",
            "--leader-elect=false",
            "--secure-port=0",
            *EAGER,
        )
        # Without the leases the controllers give the nodes up after 40 s.
        self._run(
            "kwok",
            "--kubeconfig=kubeconfig",
            f"--config={self._stages()}",
            "--manage-all-nodes=true",
            "--node-lease-duration-seconds=40",
            "--cidr=10.1.0.0/16",
            "--node-ip=10.0.0.2",
            "--enable-crds=",
        )

    def _stages(self):
        """The simulated kubelets' rules; they leave the pods alone that are run."""
        shipped = HERE / "stages.yaml"
        if not self.run_pods:
            return shipped
        own = self.folder / "stages.yaml"
        own.write_text(
            stages_without(shipped.read_text(encoding="utf-8"), self.run_pods), encoding="utf-8"
        )
        return own

    def _start_pod_runner(self):
        command = [sys.executable, HERE / "pod_runner.py", "--url", self.url, "--dir", self.folder]
        for image, stage in self.run_pods.items():
            command += ["--run", f"{image}={stage}"]
        passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        self.processes[POD_RUNNER] = spawn(
            command, self._log(POD_RUNNER), {**self.env, **passed_on}, self.folder
        )
        self.on_change()

    def _fill(self):
        self._kubectl("apply", "--server-side", "-f", HERE / "cluster")
        self._kubectl("wait", "--for=condition=Established", "customresourcedefinition", "--all")
        self._kubectl("wait", "--for=condition=Ready", "node", "--all")
        # A bare pod is refused before this exists.
        self._kubectl("wait", "--for=create", "serviceaccount/default")

    def _kubectl(self, verb, *arguments):
        timeout = [f"--timeout={self._left():.0f}s"] if verb == "wait" else []
        command = [self.assets / "kubectl", "--kubeconfig=kubeconfig", verb, *timeout, *arguments]
        done = subprocess.run(
            command,
            env=self.env,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        self.check()
        if done.returncode != 0:
            raise RigError(
                f"kubectl {verb} failed: {done.stdout.strip()}\n  logs: {self.folder / 'logs'}"
            )
