#!/usr/bin/env python3
"""A small kubelet: runs the pods of some images as processes of this machine; see README.md.

`pod_runner.py --url URL --dir DIR --run IMAGE=STAGE`: DIR is the folder of a rig, and its simulated kubelets leave these
images alone. A pod of IMAGE runs whatever its node is. A thread works for each pod from its start to its end; the
kernel kills the processes of a thread with it, so that none outlives this program.
"""

import argparse
import os
import shutil
import signal
import sys
import threading
import time
import traceback
from datetime import datetime, timezone
from pathlib import Path

from kube_api import STRATEGIC_MERGE, UNREACHABLE, Api, Refused
from pod_probe import Probe
from pod_sandbox import PASSED_ON, Sandbox, command
from pod_spec import (PROBES, NotYet, check_supported, command_line, environment, image_name, security, user)
from pod_volumes import Volumes

ADDRESS = "127.0.0.1"  # of every pod: the network is the machine's
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LOOK_SECONDS = 0.1
REFRESH_SECONDS = 1  # how soon a changed ConfigMap or Secret reaches the files
RETRY_SECONDS = 1
WATCH_SECONDS = 30  # then the pods are listed anew
# The first restart is at once. The kubelet's numbers are ten times these.
BACKOFF_FIRST_SECONDS, BACKOFF_MOST_SECONDS, BACKOFF_FORGOTTEN_SECONDS = 1, 30, 60
KILLED = 128 + signal.SIGKILL
PODS = "/api/v1/pods?fieldSelector=spec.nodeName!%3D"


def now_text():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Container:
    """The container of one pod, through all its restarts. What it is, is what the status says."""

    def __init__(self, api, pod, stage, folder, log):
        self.pod, self.stage, self.log, self.url = pod, stage, log, api.url
        self.spec = pod["spec"]["containers"][0]
        self.volumes = Volumes(api, pod, folder, ADDRESS)
        self.folder = folder
        self.sandbox = self.kill_at = self.last = self.finished = None
        self.probes, self.began, self.started_at = {}, 0, ""
        self.waiting = {"reason": "ContainerCreating"}
        self.retry_at = self.refresh_at = 0
        self.failures = 0  # in a row
        self._resume((pod.get("status", {}).get("containerStatuses") or [{}])[0])

    def _resume(self, said):
        """After what an earlier process of this program has said; it has taken its containers with it."""
        self.restarts, state = said.get("restartCount", 0), said.get("state", {})
        self.last = state.get("terminated") or said.get("lastState", {}).get("terminated")
        if "running" in state:
            self.last = self._terminated(KILLED, state["running"].get("startedAt") or now_text())
        self.has_run = self.last is not None

    def step(self, now):
        """Starts it, looks at it, restarts it."""
        if self.finished:
            return
        if self.sandbox is None:
            if now >= self.retry_at:
                self._start(now)
            return
        code = self.sandbox.poll()
        if code is not None:
            self._ended(code, now)
            return
        if self.kill_at is not None:
            if now >= self.kill_at:
                self.sandbox.signal(signal.SIGKILL)
            return
        if now >= self.refresh_at:
            self.refresh_at = now + REFRESH_SECONDS
            self.volumes.refresh()
        self._probe(now)

    def stop(self, now, seconds):
        """SIGTERM, and SIGKILL after so long; `step` goes on until it has ended. Another call can only hasten that."""
        if self.kill_at is None:
            self.kill_at = now + seconds
            self.sandbox.signal(signal.SIGTERM)
        self.kill_at = min(self.kill_at, now + seconds)

    def is_ready(self):
        return self.sandbox is not None and self.is_started() and self._passed("readinessProbe")

    def is_started(self):
        return self.sandbox is not None and self._passed("startupProbe")

    def status(self):
        if self.sandbox is not None:
            state = {"running": {"startedAt": self.started_at}}
        else:
            state = {"terminated": self.finished} if self.finished else {"waiting": self.waiting}
        return {"name": self.spec["name"], "image": self.spec["image"], "imageID": "", "state": state,
                "ready": self.is_ready(), "started": self.is_started(), "restartCount": self.restarts,
                "lastState": {"terminated": self.last} if self.last else {}}

    def _passed(self, name):
        return name not in self.probes or self.probes[name].passed

    def _start(self, now):
        try:
            check_supported(self.pod)
            self.volumes.prepare()
            variables = environment(self.pod, self.volumes.read, self._usual(), ADDRESS)
        except NotYet as error:
            return self._wait(now + RETRY_SECONDS, error.reason, str(error))
        except (Refused, *UNREACHABLE) as error:
            return self._wait(now + RETRY_SECONDS, "ContainerCreating", str(error))
        words = command(self.stage, user(self.pod), self.volumes.mounts(),
                        command_line(self.pod, self.stage, variables), self.pod["metadata"]["name"][:63],
                        security(self.pod, "readOnlyRootFilesystem"), self.spec.get("workingDir", "/"))
        self.sandbox = Sandbox(words, variables, self.log, self.folder)
        self.restarts += self.has_run
        self.has_run, self.kill_at = True, None
        self.began, self.started_at, self.refresh_at = now, now_text(), now + REFRESH_SECONDS
        self.probes = {name: Probe(self.spec[name], self.spec, ADDRESS, now, name == "readinessProbe")
                       for name in PROBES if name in self.spec}

    def _usual(self):
        """The variables that every container has."""
        host, _, port = self.url.rpartition("//")[2].rpartition(":")
        return {"PATH": f"{self.stage}/bin:{PATH}", "HOME": "/", "HOSTNAME": self.pod["metadata"]["name"],
                "KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port, "KUBERNETES_SERVICE_PORT_HTTPS": port,
                **{name: os.environ[name] for name in PASSED_ON if name in os.environ}}

    def _wait(self, until, reason, message):
        self.waiting, self.retry_at = {"reason": reason, "message": message}, until

    def _terminated(self, code, started_at):
        return {"exitCode": code, "reason": "Error" if code else "Completed", "startedAt": started_at,
                "finishedAt": now_text()}

    def _ended(self, code, now):
        ended, self.sandbox = self._terminated(code, self.started_at), None
        policy = self.pod["spec"].get("restartPolicy", "Always")
        if policy == "Never" or (policy == "OnFailure" and code == 0) or "deletionTimestamp" in self.pod["metadata"]:
            self.finished = ended
            return
        self.last = ended
        self.failures = 1 if now - self.began > BACKOFF_FORGOTTEN_SECONDS else self.failures + 1
        seconds = 0 if self.failures == 1 else min(BACKOFF_FIRST_SECONDS * 2 ** (self.failures - 2), BACKOFF_MOST_SECONDS)
        self._wait(now + seconds, "CrashLoopBackOff", f"back-off {seconds}s restarting failed container")

    def _probe(self, now):
        startup, liveness = self.probes.get("startupProbe"), self.probes.get("livenessProbe")
        if startup is not None and not startup.passed:
            startup.step(now)
            failed = startup.failed
        else:
            for probe in (self.probes.get("readinessProbe"), liveness):
                if probe is not None:
                    probe.step(now)
            failed = liveness is not None and liveness.failed
        if failed:
            self.stop(now, self.pod["spec"].get("terminationGracePeriodSeconds", 30))


class PodThread(threading.Thread):
    """Works for one pod until it is deleted, or `gone` is set: then its container ends at once."""

    def __init__(self, api, pod, stage, folder, log):
        super().__init__(name=pod["metadata"]["name"], daemon=True)
        self.api, self.pod, self.stage, self.folder, self.log = api, pod, stage, folder, log
        self.path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
        self.gone = threading.Event()
        self.said, self.ask_at = None, 0
        self.transitions = {}  # condition: (status, since when)
        for condition in pod.get("status", {}).get("conditions", []):
            self.transitions[condition["type"]] = condition["status"], condition.get("lastTransitionTime")

    def run(self):
        container = Container(self.api, self.pod, self.stage, self.folder / "volumes", self.log)
        container.folder.mkdir(parents=True, exist_ok=True)
        while not self.gone.wait(LOOK_SECONDS):
            now, container.pod = time.monotonic(), self.pod
            if "deletionTimestamp" not in self.pod["metadata"]:
                container.step(now)
            elif container.sandbox is not None:
                container.stop(now, self.pod["metadata"].get("deletionGracePeriodSeconds", 0))
                container.step(now)
            elif now >= self.ask_at:
                if self.delete():
                    break
                self.ask_at = now + RETRY_SECONDS
            self.report(container, now)
        if container.sandbox is not None:
            container.sandbox.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def delete(self):
        """Whether the API server has let go of the pod."""
        try:
            self.api.request("DELETE", self.path, {
                "gracePeriodSeconds": 0, "preconditions": {"uid": self.pod["metadata"]["uid"]}})
            return True
        except Refused as error:
            return error.status in (404, 409)  # 409: another pod has this name
        except UNREACHABLE:
            return False

    def report(self, container, now):
        """Says what has changed. What was not taken is said again."""
        status = self.status(container)
        if status == self.said or now < self.ask_at:
            return
        try:
            self.api.request("PATCH", self.path + "/status", {
                "metadata": {"uid": self.pod["metadata"]["uid"]}, "status": status}, STRATEGIC_MERGE)
            self.said = status
        except (Refused, *UNREACHABLE):
            self.ask_at = now + RETRY_SECONDS

    def status(self, container):
        phase = "Running" if container.has_run else "Pending"
        if container.finished and "deletionTimestamp" not in self.pod["metadata"]:
            phase = "Failed" if container.finished["exitCode"] else "Succeeded"
        ready = container.is_ready() and "deletionTimestamp" not in self.pod["metadata"]
        started = self.condition("Initialized", True)["lastTransitionTime"]
        return {"phase": phase, "startTime": started, "hostIP": ADDRESS, "podIP": ADDRESS, "podIPs": [{"ip": ADDRESS}],
                "conditions": [self.condition("Initialized", True), self.condition("ContainersReady", ready),
                               self.condition("Ready", ready)],
                "containerStatuses": [container.status()]}

    def condition(self, name, holds):
        status = "True" if holds else "False"
        if self.transitions.get(name, ("", None))[0] != status:
            self.transitions[name] = status, now_text()
        more = {} if holds else {"reason": "ContainersNotReady"}
        return {"type": name, "status": status, "lastTransitionTime": self.transitions[name][1], **more}


class Runner:
    """Has a thread for each pod of the images. `stages`: {image: stage}"""

    def __init__(self, api, folder, stages):
        self.api, self.folder, self.stages = api, folder, stages
        self.threads = {}  # uid: thread

    def run(self):
        """Lists the pods and watches them, again and again."""
        pods = self.folder / "pods"
        shutil.rmtree(pods, ignore_errors=True)
        pods.mkdir(mode=0o700)  # tokens and secrets are in it
        while True:
            try:
                listed = self.api.request("GET", PODS)
                found = {pod["metadata"]["uid"] for pod in listed["items"]}
                for uid in self.threads.keys() - found:
                    self.threads[uid].gone.set()
                for pod in listed["items"]:
                    self.see(pod)
                version = listed["metadata"]["resourceVersion"]
                for kind, pod in self.api.watch(f"{PODS}&resourceVersion={version}", WATCH_SECONDS):
                    if kind == "ERROR":
                        break
                    self.see(pod, kind == "DELETED")
            except (Refused, *UNREACHABLE):
                time.sleep(RETRY_SECONDS)

    def see(self, pod, gone=False):
        uid = pod["metadata"]["uid"]
        self.threads = {known: thread for known, thread in self.threads.items() if thread.is_alive()}
        thread = self.threads.get(uid)
        if thread is not None:
            thread.pod = pod
            if gone:
                thread.gone.set()
        elif not gone and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed"):
            stage = self.stages.get(image_name(pod["spec"]["containers"][0]["image"]))
            if stage is not None:
                name = f"pod-{pod['metadata']['namespace']}-{pod['metadata']['name']}"[:200]
                self.threads[uid] = PodThread(self.api, pod, stage, self.folder / "pods" / uid,
                                              self.folder / "logs" / f"{name}.log")
                self.threads[uid].start()

    def end(self):
        """Ends all processes at once."""
        for thread in self.threads.values():
            thread.gone.set()
        for thread in self.threads.values():
            if thread.is_alive():
                thread.join()


class Ended(BaseException):
    """This program was told to end."""


def end_by_a_bug(what):
    """No pod may be without its thread: the rig says that this program has ended, and why."""
    traceback.print_exception(what.exc_type, what.exc_value, what.exc_traceback)
    sys.stderr.flush()
    os._exit(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--url", required=True, help="of the API server")
    parser.add_argument("--dir", required=True, type=lambda path: Path(path).resolve(), help="folder of the rig")
    parser.add_argument("--run", required=True, action="append", metavar="IMAGE=STAGE")
    arguments = parser.parse_args()
    stages = {image: Path(stage) for image, _, stage in (word.partition("=") for word in arguments.run)}

    def ended(*_):
        raise Ended

    os.umask(0o022)  # as containers have it
    threading.excepthook = end_by_a_bug
    signal.signal(signal.SIGTERM, ended)
    runner = Runner(Api(arguments.url, arguments.dir), arguments.dir, stages)
    try:
        runner.run()
    except Ended:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        runner.end()


if __name__ == "__main__":
    main()
