"""What the measurements of federation stand on: two API servers, product and mirror between them, links that count."""

import concurrent.futures
import functools
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from unittest import mock

from clients import Api
from tcp_proxy import Passing, TcpProxy

GROUP, NAMESPACE = "example.com", "default"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = "application/merge-patch+json"
MIRROR = Path(__file__).resolve().parent / "federation_mirror/build.sh"


def path_of(plural):
    return f"/apis/{GROUP}/v1/namespaces/{NAMESPACE}/{plural}"


def definition(plural, takes_part):
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    annotations = {"cr-syncer.cloudrobotics.com/spec-source": "cloud"} if takes_part else {}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{GROUP}", "annotations": annotations},
            "spec": {"group": GROUP, "scope": "Namespaced",
                     "names": {"plural": plural, "kind": plural.capitalize()},
                     "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                                   "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                                       "spec": free, "status": free}}}}]}}


def spec_of(number):
    """A mission of some 1 KB."""
    return {"number": number, "robot": "robot-17", "priority": 3, "steps": [
        {"action": "move", "to": {"map": "warehouse-north", "x": 12.5 + n, "y": 3.25, "theta": 1.5},
         "timeoutSeconds": 120, "retries": 2, "tool": "gripper-a"} for n in range(8)]}


def status_of(number):
    return {"number": number, "phase": "Running", "message": "on the way to the next step", "conditions": [
        {"type": word, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "AsPlanned"}
        for word in ("Accepted", "Localized")]}


class Clusters:
    """The cloud and the robot. Controllers, scheduler and kubelets are halted: nobody but us has anything to do."""

    def __init__(self, parts):
        # The rigs die with the threads that start them, so these live as long as this.
        self.threads = concurrent.futures.ThreadPoolExecutor(2)
        with mock.patch.dict(os.environ):
            os.environ.pop("DAVIT_TEST_KUBERNETES", None)
            started = [self.threads.submit(parts.Kubernetes) for _ in range(2)]
            self.cloud, self.robot = (one.result() for one in started)
        for cluster in self.both():
            for name in ("kube-controller-manager", "kube-scheduler", "kwok"):
                os.kill(cluster.state["processes"][name]["pid"], signal.SIGSTOP)

    def both(self):
        return self.cloud, self.robot

    def define(self, parts, plural, takes_part):
        for cluster in self.both():
            status, answer = cluster.request("POST", DEFINITIONS, definition(plural, takes_part))
            if status != 201:
                raise RuntimeError(f"{plural}: {answer}")
        for cluster in self.both():
            parts.wait_until(f"{plural} are served", lambda c=cluster: c.request("GET", path_of(plural))[0] == 200)

    def make(self, bench, cluster, plural, numbers, status=False):
        """Objects, or their statuses."""
        lines = []
        for n in numbers:
            body = {"apiVersion": f"{GROUP}/v1", "kind": plural.capitalize(),
                    "metadata": {"name": f"o-{n}", "namespace": NAMESPACE}}
            body.update({"status": status_of(0)} if status else {"spec": spec_of(0)})
            lines.append(f"{path_of(plural)}/o-{n}{'/status' if status else ''}?fieldManager=bench\t{json.dumps(body)}")
        bench.client("apply-bench", cluster.url, cluster.ca, cluster.token_file, 16, stdin="\n".join(lines) + "\n")

    def requests(self, *resources):
        """By both API servers' count, without watches and what the measurement itself sends: patches, applies."""
        found = {}
        for cluster in self.both():
            api = Api(cluster)
            text = api.send("GET", "/metrics").read().decode()
            api.close()
            for labels, value in re.findall(r"^apiserver_request_total\{(.*)\} (\S+)$", text, re.M):
                said = dict(re.findall(r'(\w+)="([^"]*)"', labels))
                if said["resource"] in resources and said["verb"] not in ("WATCH", "PATCH", "APPLY"):
                    what = f"{said['verb']} {said['resource']}"
                    found[what] = found.get(what, 0) + int(float(value))
        return found

    def close(self):
        for cluster in self.both():
            cluster.close()
        self.threads.shutdown()


class Meter(TcpProxy):
    """A link to a cluster that counts the bytes of both directions, with what TLS and HTTP add."""

    def __init__(self, cluster, folder):
        host, _, port = cluster.url.rpartition("/")[2].rpartition(":")
        self.bytes = 0
        super().__init__(host, port)
        self.kubeconfig = self.kubeconfig_through(cluster.kubeconfig, folder)

    def passing(self, _client, _onward):
        return Metered(self)


class Metered(Passing):
    def __init__(self, meter):
        self.meter = meter

    def forward_up(self, data, sink):
        with self.meter.lock:
            self.meter.bytes += len(data)
        return super().forward_up(data, sink)

    forward_down = forward_up


class Ours:
    name, plural = "ours", "missions"

    def __init__(self, parts, world, clusters, links=None, plural=None):
        cloud, robot = (one.kubeconfig for one in links or clusters.both())
        self.port, self.parts = parts.free_port(), parts
        of = plural or self.plural
        overlay = world.write("federation.toml", f"""
[host]
state_dir = "{world.folder}/state-federation"
log_level = "warn"
metrics_listen = "127.0.0.1:{self.port}"
[rpc.server.operator]
listen = "unix:{world.folder}/federation.sock"
[plugin.cloud]
kubeconfig = "{cloud}"
[plugin.robot]
kubeconfig = "{robot}"
""")
        self.process = world.part(parts.Process("federation", [
            parts.DAVIT, "run", parts.REPOSITORY / "etc/federation.toml", overlay], world.folder)).start()
        self.pid = self.process.process.pid
        up = re.compile(rf'^davit_federation_watch_up\{{[^}}]*{of}[^}}]*\}} 1$', re.M)
        parts.wait_until(lambda: f"both lists; {self.process.tail()}", lambda: self.alive() and len(
            up.findall(parts.get(self.port, "/metrics")[1])) == 2, 120)

    def alive(self):
        if not self.process.alive():
            raise RuntimeError(self.process.tail())
        try:
            return self.parts.get(self.port, "/healthz")[0] > 0
        except OSError:
            return False

    def writes(self):
        return self.parts.metrics(self.port).get("davit_federation_requests_total", 0)

    def stop(self):
        self.process.stop()


class Mirror:
    name, plural = "mirror", "chores"

    def __init__(self, parts, world, clusters, links=None, plural=None):
        cloud, robot = (one.kubeconfig for one in links or clusters.both())
        log = open(world.folder / "mirror.log", "ab")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [mirror_program(), f"-cloud={cloud}", f"-robot={robot}", f"-plural={plural or self.plural}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        log.close()
        self.pid = self.process.pid
        if self.process.stdout.readline().strip() != "synced":
            raise RuntimeError((world.folder / "mirror.log").read_text(encoding="utf-8"))

    def stop(self):
        self.process.stdin.close()
        self.process.wait(30)


@functools.cache
def mirror_program():
    done = subprocess.run([str(MIRROR)], check=True, text=True, stdout=subprocess.PIPE)
    return done.stdout.strip().splitlines()[-1] + "/federation-mirror"


def wait_still(figure, still=1.5, seconds=300):
    """Until the figure has not changed for so long; the mirror's status waits half a second of it."""
    last, since, end = figure(), time.monotonic(), time.monotonic() + seconds
    while time.monotonic() - since < still:
        if time.monotonic() > end:
            raise RuntimeError("it does not come to rest")
        time.sleep(0.1)
        now = figure()
        if now != last:
            last, since = now, time.monotonic()
