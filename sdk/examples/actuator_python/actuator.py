#!/usr/bin/env python3
"""An actuator for `actuator_exec`: a "cluster" is a folder with files, in the folder that $CLUSTERS names.

It stands for a program that calls a cloud, and needs nothing but Python's standard library. It reads one document from
stdin, does what is to be done, and writes one document to stdout. sdk/schemas has the schemas of both.

Between any two lines it may be killed, so all that it knows is in the files, and each step finds what the one before
has made. A folder is made beside its place, with the cluster's uid in it, and then moved there: so there is never a
folder of which nobody knows whose it is.
"""

import json
import os
import re
import shutil
import sys
import time
from pathlib import Path

API_VERSION = "folders.example/v1"
AT = "spec.providerSpec.value"
FIELDS = {"apiVersion", "kind", "nodes", "size", "zone", "bootSeconds", "waitSeconds", "adminPassword"}
# What a Cluster's names may be. Neither has a "_", so that no two clusters have one folder.
NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


class Refused(Exception):
    """An answer that is an error."""

    def __init__(self, code, message, **more):
        super().__init__(message)
        self.error = {"code": code, "message": message, **more}


def invalid(field, message, reason="InvalidConfiguration"):
    return Refused("INVALID_ARGUMENT", message, where=f"{AT}.{field}" if field else AT, reason=reason)


def number(value, field, usual, most):
    found = value.get(field, usual)
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= most:
        raise invalid(field, f"must be a whole number from 0 to {most}")
    return found


def text(value, field, usual):
    found = value.get(field, usual)
    if not isinstance(found, str):
        raise invalid(field, "must be a text")
    return found


def read_spec(cluster):
    """What is wanted. No message has a value in it: one of them is a password (T11)."""
    provider = (cluster.get("spec") or {}).get("providerSpec")
    value = provider.get("value") if isinstance(provider, dict) else None
    if not isinstance(value, dict):
        raise invalid("", "must be an object")
    if value.get("apiVersion") != API_VERSION:
        raise Refused("UNIMPLEMENTED", f"is not {API_VERSION}", where=f"{AT}.apiVersion")
    for field in sorted(set(value) - FIELDS):
        raise invalid(field[:60], "is no field of a FolderCluster")
    size = text(value, "size", "small")
    if size not in ("small", "large"):
        raise invalid("size", "must be small or large")
    return {"nodes": number(value, "nodes", 1, 100), "size": size, "zone": text(value, "zone", "a"),
            "bootSeconds": number(value, "bootSeconds", 0, 600), "waitSeconds": number(value, "waitSeconds", 0, 3600),
            "adminPassword": text(value, "adminPassword", "")}


def write(path, content):
    """A file is there as a whole or not at all, also after a loss of power. Returns whether it has changed."""
    data = json.dumps(content, sort_keys=True) + "\n"
    if path.exists() and path.read_text(encoding="utf-8") == data:
        return False
    new = path.with_name(".new")
    with open(new, "w", encoding="utf-8", opener=lambda p, flags: os.open(p, flags, 0o600)) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
    sync(path.parent)
    return True


def sync(folder):
    fd = os.open(folder, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


class Folder:
    """What there is of one cluster."""

    def __init__(self, request):
        self.uid = request["uid"]
        if not all(NAME.fullmatch(request[key]) for key in ("namespace", "name")) or not NAME.fullmatch(self.uid):
            raise Refused("INVALID_ARGUMENT", "namespace, name and uid must be names of Kubernetes", where="metadata")
        self.clusters = Path(os.environ.get("CLUSTERS", "clusters"))
        # A folder that is not there may be one that is not mounted: nobody knows what is in it (T10).
        if not self.clusters.is_dir():
            raise Refused("UNAVAILABLE", "the folder of the clusters is not there", retryAfterSeconds=1)
        self.path = self.clusters / f"{request['namespace']}_{request['name']}"
        self.new = self.clusters / f".new_{self.uid}"
        self.gone = self.clusters / f".gone_{self.uid}"

    def owner(self):
        return read(self.path / "owner.json").get("uid")

    def sweep(self):
        """Ends what an earlier call was killed in."""
        for left in (self.new, self.gone):
            if left.exists():
                shutil.rmtree(left)

    def claim(self, spec):
        """Makes the folder, unless it is there. True: it was not."""
        if not self.path.exists():
            self.new.mkdir(mode=0o700)
            write(self.new / "owner.json", {"uid": self.uid, "zone": spec["zone"]})
            try:
                os.rename(self.new, self.path)
                sync(self.clusters)
                return True
            except OSError:  # another cluster has got the name at this moment
                self.sweep()
        if self.owner() != self.uid:
            raise Refused("ALREADY_EXISTS", "another cluster with another uid has this name", reason="CreateError")
        return False

    def remove(self):
        """The name is free at once, and what is left says whose it was."""
        os.rename(self.path, self.gone)
        sync(self.clusters)
        shutil.rmtree(self.gone)


def reconcile(request):
    folder = Folder(request)
    spec = read_spec(request["cluster"])
    folder.sweep()
    events = []
    if folder.claim(spec):
        events.append({"type": "Normal", "reason": "FolderCreated", "message": "The folder has been made."})
    if read(folder.path / "owner.json").get("zone") != spec["zone"]:
        raise invalid("zone", "cannot be changed", "UnsupportedChange")
    time.sleep(spec["waitSeconds"])
    write(folder.path / "network.json", {"zone": spec["zone"]})
    # The control plane takes its time. It is begun, and a later call looks whether it runs (T8).
    control_plane = folder.path / "control-plane.json"
    ready_at = read(control_plane).get("readyAt")
    if ready_at is None:
        ready_at = time.time() + spec["bootSeconds"]
    write(control_plane, {"size": spec["size"], "readyAt": ready_at})
    left = min(ready_at - time.time(), spec["bootSeconds"])
    if left > 0:
        return {"requeueAfterSeconds": max(round(left, 3), 0.001), "progress": "the control plane starts",
                "events": events}
    write(folder.path / "admin.json", {"password": spec["adminPassword"]})
    wanted = {"owner.json", "network.json", "control-plane.json", "admin.json"}
    changed = False
    for node in range(spec["nodes"]):
        wanted.add(f"node-{node}.json")
        changed |= write(folder.path / f"node-{node}.json", {"size": spec["size"]})
    for path in folder.path.iterdir():
        if path.name not in wanted:
            changed = True
            path.unlink()
    if changed:
        events.append({"type": "Normal", "reason": "NodesChanged", "message": f"There are {spec['nodes']} nodes."})
    return {"events": events,
            "statusPatch": {"apiEndpoints": [{"host": "127.0.0.1", "port": 6443}],
                            "providerStatus": {"apiVersion": API_VERSION, "kind": "FolderClusterStatus",
                                               "nodes": spec["nodes"]}}}


def delete(request):
    """Needs no providerSpec (T4). A folder of another uid is not ours, and stays (T6)."""
    folder = Folder(request)
    folder.sweep()
    if folder.owner() == folder.uid:
        folder.remove()
    return {}


def serve(operations):
    """Answers the one request that stdin has. `operations`: by name, what makes an answer of a request."""
    request = json.load(sys.stdin)
    if request["apiVersion"] != "davit.dev/actuator/v1":
        raise SystemExit("this program speaks davit.dev/actuator/v1")
    try:
        answer = operations[request["operation"]](request)
    except Refused as refused:
        answer = {"error": refused.error}
    except OSError as error:
        answer = {"error": {"code": "UNAVAILABLE", "message": error.strerror or "the disk does not answer"}}
    json.dump(answer, sys.stdout)


def main():
    serve({"reconcile": reconcile, "delete": delete})


if __name__ == "__main__":
    main()
