"""The words of the tables of federation: what somebody does in one of two clusters, and what is there afterwards.

A row is a list of steps in their order. UP is the cluster that owns the spec, DOWN the one that owns the status; so a
row means the same whichever of them is the cloud. Each row has an object of its own.

    UP.makes(spec="a"), DOWN.has(spec="a")          somebody makes it upstream; after a while it is downstream
    DOWN.reports("done"), UP.has(status="done")     its controller writes the status; after a while it is upstream
    SETTLED, DOWN.lacks()                           everything that was done before is worked off, and it is not there
    STOP, UP.deletes(), START                       meanwhile the process of federation is not there

`has` compares each member that it names exactly: spec, status, data, labels, annotations (without the bookkeeping),
finalizers, owners. ABSENT: it has no such member. `same`: it is the object that the row has seen in this cluster
before; `anew`: it is another one. `where`: a condition, with its text.
"""

import itertools
import json
import threading
import time

from federation_parts import (ANNOTATION, DEFINITIONS, GROUP, MERGE, ROBOT, ROBOT_LABEL, install, path_of,
                              without_bookkeeping)
from parts import wait_until

ABSENT = "(absent)"
MINE = {ROBOT_LABEL: ROBOT}
OTHERS = {ROBOT_LABEL: "another"}
JSON_PATCH = "application/json-patch+json"
SECONDS = 40


class Row:
    """`on`: a kind of test_federation_rows.KINDS, or several. `differs`: how ours differs from the reference on purpose."""

    def __init__(self, section, what, on, *steps, differs=None):
        self.section, self.what, self.steps, self.differs = section, what, steps, differs
        self.on = on if isinstance(on, tuple) else (on,)

    def __str__(self):
        return f"{self.section} {self.what}" + (f" [ours: {self.differs}]" if self.differs else "")


class Step:
    def __init__(self, side, verb, members):
        self.side, self.verb, self.members = side, verb, members

    def __str__(self):
        shown = ", ".join(f"{k}={v!r}" for k, v in self.members.items() if not callable(v))
        return f"{self.side}.{self.verb}({shown})"


class Side:
    def __init__(self, name):
        self.name = name

    def __getattr__(self, verb):
        return lambda *plain, **members: Step(self.name, verb, {**({"value": plain[0]} if plain else {}), **members})


UP, DOWN = Side("UP"), Side("DOWN")
SETTLED, STOP, START = Step("", "settled", {}), Step("", "stop", {}), Step("", "start", {})


def phases(steps):
    """The steps before STOP, those until START, and those after it."""
    out = [[], [], []]
    at = 0
    for step in steps:
        if step in (STOP, START):
            at = 1 if step is STOP else 2
        else:
            out[at].append(step)
    return out


class Bookkeeping:
    """What an object has, by the words of `has`."""
    OF = {
        "labels": lambda o: o["metadata"].get("labels", {}),
        "annotations": lambda o: without_bookkeeping(o["metadata"].get("annotations")),
        "finalizers": lambda o: o["metadata"].get("finalizers", []),
        "owners": lambda o: [r["name"] for r in o["metadata"].get("ownerReferences", [])],
        "terminating": lambda o: "deletionTimestamp" in o["metadata"],
        "apiVersion": lambda o: o["apiVersion"], "kind": lambda o: o["kind"],
    }

    @classmethod
    def read(cls, member, found):
        return cls.OF[member](found) if member in cls.OF else found.get(member, ABSENT)


class Played:
    """One row with one kind, under way."""
    numbers = itertools.count(1)

    def __init__(self, row, kind, clusters, process):
        self.row, self.kind, self.clusters, self.process = row, kind, clusters, process
        self.name = f"o-{next(self.numbers)}"
        self.phases = phases(row.steps)
        self.uids = {}
        self.problem = None

    def __str__(self):
        return f"{self.row} on {self.kind.plural}"

    def path(self, name=None):
        return path_of(self.kind.plural, self.kind.namespace, name)

    def play(self, phase):
        for step in self.phases[phase]:
            if self.problem:
                return
            try:
                getattr(self, step.verb)(self.clusters.get(step.side), **step.members)
            except (AssertionError, OSError, KeyError, TypeError) as error:
                self.problem = f"{self}\n  at {step}: {type(error).__name__}: {error}"

    # --- what is done --------------------------------------------------------------------------------------------

    def makes(self, cluster, name=None, finalizers=None, owners=None, labels=None, annotations=None, generate=None,
              **members):
        metadata = {"name": name or self.name, **({"generateName": generate} if generate else {})}
        if labels is None and self.kind.filtered:
            labels = MINE
        for key, value in (("finalizers", finalizers), ("labels", labels), ("annotations", annotations)):
            if value:
                metadata[key] = value
        if owners:
            metadata["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": one, "uid": one}
                                           for one in owners]
        made = cluster.must("POST", self.path(), {"apiVersion": "example.com/v1", "kind": self.kind.kind,
                                                  "metadata": metadata, **members})
        if name is None:
            self.uids[cluster.name] = made["metadata"]["uid"]

    def edits(self, cluster, labels=None, annotations=None, finalizers=None, owners=None, **members):
        """A merge patch: None takes a member away."""
        metadata = {key: value for key, value in (
            ("labels", labels), ("annotations", annotations), ("finalizers", finalizers)) if value is not None}
        if owners:
            metadata["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": one, "uid": one}
                                           for one in owners]
        cluster.patch(self.path(self.name), {**({"metadata": metadata} if metadata else {}), **members})

    def reports(self, cluster, value=None, observes=None):
        """Its controller writes its whole status. `observes`: how far behind the generation it is."""
        path = self.path(self.name)
        for _ in range(20):
            found = cluster.get(path)
            status = value
            if observes is not None:
                status = {**(value or {}), "observedGeneration": found["metadata"]["generation"] - observes}
            found.pop("status", None)
            if status is not None:
                found["status"] = status
            code, answer = cluster.request("PUT", path + ("/status" if self.kind.status else ""), found)
            if code == 200:
                return
            assert code == 409, answer
        raise AssertionError("the status always conflicts")

    def deletes(self, cluster):
        cluster.must("DELETE", self.path(self.name))

    def settled(self, _):
        """Others were made afterwards, and have gone both ways."""
        for turn in (1, 2):
            name = f"{self.name}-fence-{turn}-{time.monotonic_ns()}"
            up, down = self.clusters["UP"], self.clusters["DOWN"]
            path = self.path(name)
            labels = MINE if self.kind.filtered else {}
            up.must("POST", self.path(), {"apiVersion": "example.com/v1", "kind": self.kind.kind,
                                          "metadata": {"name": name, "labels": labels}, "spec": turn})
            found = wait_until(f"the fence {name} is downstream", lambda p=path: down.get(p), SECONDS)
            found["status"] = {self.kind.subtree or "fence": turn}
            down.must("PUT", path + ("/status" if self.kind.status else ""), found)
            wait_until(f"the fence {name} is upstream", lambda p=path, s=found["status"]: up.get(p).get("status") == s,
                       SECONDS)

    # --- what is there -------------------------------------------------------------------------------------------

    def has(self, cluster, name=None, same=False, anew=False, where=None, says="", **members):
        def wrong():
            found = cluster.get(self.path(name or self.name))
            seen["is"] = found
            if found is None:
                return True
            uid = found["metadata"]["uid"]
            known = self.uids.get(cluster.name)
            if (same and uid != known) or (anew and uid == known) or (where and not where(found)):
                return True
            return any(Bookkeeping.read(key, found) != value for key, value in members.items())
        seen = {}
        wait_until(lambda: f"{says} it is {json.dumps(seen.get('is'))}; {self.process.tail(5)}", lambda: not wrong(),
                   SECONDS)
        if name is None:
            self.uids[cluster.name] = seen["is"]["metadata"]["uid"]

    def lacks(self, cluster, name=None):
        path = self.path(name or self.name)
        wait_until(lambda: f"it is not there: {json.dumps(cluster.get(path))}", lambda: cluster.get(path) is None, SECONDS)

    def is_stuck(self, _, value):
        """The log says of this object that it does not travel, and why."""
        def said():
            return any(f"/{self.name}" in line and value in line for line in self.process.text().splitlines())
        wait_until(lambda: f"the log says {value}; {self.process.tail(8)}", said, SECONDS)

    # --- the definition itself -----------------------------------------------------------------------------------

    def definition(self):
        return f"{DEFINITIONS}/{self.kind.plural}.{GROUP}"

    def annotates(self, cluster, **annotations):
        cluster.patch(self.definition(), {"metadata": {"annotations": {
            ANNOTATION + key.replace("_", "-"): value for key, value in annotations.items()}}})

    def gets_the_subresource(self, cluster):
        """The definition has /status from now on."""
        code, answer = cluster.request("PATCH", self.definition(), [
            {"op": "add", "path": "/spec/versions/0/subresources", "value": {"status": {}}}], JSON_PATCH)
        assert code == 200, answer
        self.kind.status = True
        wait_until("/status is served", lambda: cluster.request(
            "PATCH", self.path(self.name) + "/status", {}, MERGE)[0] == 200, SECONDS)

    def undefines(self, cluster):
        cluster.must("DELETE", self.definition())
        wait_until("the definition is gone", lambda: cluster.get(self.definition()) is None, SECONDS)

    def defines(self, cluster):
        install([self.kind.definition], cluster)

    def says(self, _, value):
        """The log names the definition with what is wrong with it."""
        def said():
            return any(f"{self.kind.plural}.example.com" in line and value in line
                       for line in self.process.text().splitlines())
        wait_until(lambda: f"the log says {value}; {self.process.tail(8)}", said, SECONDS)


def play(rows, phase, threads=12):
    """All rows at once; each step of a row waits for what it says."""
    waiting = [row for row in rows if row.phases[phase]]
    lock = threading.Lock()

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                row = waiting.pop(0)
            row.play(phase)
    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
