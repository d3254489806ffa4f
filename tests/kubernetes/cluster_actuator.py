#!/usr/bin/env python3
"""A program for the plugin actuator_exec whose clusters are rigs: a Cluster becomes a Kubernetes on this machine.

$CLUSTERS is the folder of the clusters. `spec.providerSpec.value` is {"apiVersion": "rig.davit.dev/v1", "kind":
"RigCluster", "bare": false}; bare: etcd and the API server alone. `status.providerStatus.kubeconfig` names the file
that reaches the cluster. $DAVIT_RUN_PODS, when set, is IMAGE=STAGE: pods of this image are run as processes (README.md),
but in a bare cluster.

What has to be known of a cluster's processes is in their files and in one lock: the rig's supervisor holds `rig.lock`
as long as it lives, so a call that was killed at any line never leads to two of them. A cluster whose supervisor has
died is made anew, without its data.
"""

import fcntl
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "sdk/examples/actuator_python"))

from actuator import AT, Folder, Refused, invalid, read, serve  # noqa: E402  (the folder is on the path only now)
from processes import tail  # noqa: E402

API_VERSION = "rig.davit.dev/v1"
FIELDS = {"apiVersion", "kind", "bare"}
LOOK_AGAIN_SECONDS = 0.5


def is_bare(cluster):
    value = ((cluster.get("spec") or {}).get("providerSpec") or {}).get("value")
    if not isinstance(value, dict):
        raise invalid("", "must be an object")
    if value.get("apiVersion") != API_VERSION:
        raise Refused("UNIMPLEMENTED", f"is not {API_VERSION}", where=f"{AT}.apiVersion")
    for field in sorted(set(value) - FIELDS):
        raise invalid(field[:60], "is no field of a RigCluster")
    bare = value.get("bare", False)
    if not isinstance(bare, bool):
        raise invalid("bare", "must be true or false")
    return bare


def run_pods():
    """It is this machine's affair, and not the Cluster's, which images it can run."""
    wanted = os.environ.get("DAVIT_RUN_PODS")
    return ["--run-pods", wanted] if wanted else []


class Rig:
    """The processes of one cluster."""

    def __init__(self, folder):
        self.dir = folder.path / "rig"
        self.lock = os.open(folder.path / "rig.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def is_free(self):
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False

    def command(self, *words):
        return [sys.executable, HERE / "rig.py", words[0], "--dir", self.dir, *words[1:]]

    def begin(self, bare):
        """Returns at once, with what a former supervisor has said that ended. The new one inherits the lock."""
        log = self.dir / "logs/rig.log"
        said = tail(log) if log.exists() else ""
        # What a former supervisor that was killed has left goes first.
        subprocess.run(self.command("down"), check=True, stdout=sys.stderr)
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "wb") as output:
            subprocess.Popen(self.command("up", "--detached", *(["--bare"] if bare else run_pods())),
                             stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
                             pass_fds=[self.lock])
        return said

    def state(self):
        return read(self.dir / "rig.json")


def reconcile(request):
    folder = Folder(request)
    bare = is_bare(request["cluster"])
    folder.sweep()
    events = []
    if folder.claim({"zone": ""}):
        events.append({"type": "Normal", "reason": "ClusterBegun", "message": "The processes of the cluster are begun."})
    rig = Rig(folder)
    if rig.is_free() and (said := rig.begin(bare)):
        raise Refused("UNAVAILABLE", f"the processes of the cluster have ended, and are begun anew: {said}")
    state = rig.state()
    if not state.get("ready"):
        return {"requeueAfterSeconds": LOOK_AGAIN_SECONDS, "progress": "the API server starts", "events": events}
    address = urlsplit(state["url"])
    return {"events": events, "statusPatch": {
        "apiEndpoints": [{"host": address.hostname, "port": address.port}],
        "providerStatus": {"apiVersion": API_VERSION, "kind": "RigClusterStatus", "kubeconfig": state["kubeconfig"]}}}


def delete(request):
    folder = Folder(request)
    folder.sweep()
    if folder.owner() == folder.uid:
        rig = Rig(folder)
        subprocess.run(rig.command("down"), check=True, stdout=sys.stderr)
        if not rig.is_free():
            raise Refused("UNAVAILABLE", "the supervisor of the cluster has not ended yet", retryAfterSeconds=1)
        folder.remove()
    return {}


if __name__ == "__main__":
    serve({"reconcile": reconcile, "delete": delete})
