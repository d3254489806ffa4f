#!/usr/bin/env python3
"""Rounds of random changes on both sides of an agent, and after each the cluster equals the desired state exactly.

`converge.py`: a server, an agent and a real API server; 1,000 deployments, 100 sentinels and 200 policies from nothing,
then ten rounds. In each the operator creates, edits, deletes and renames, while somebody edits and deletes our objects
in the cluster, and objects of others stand between them. The seed is printed and repeats the plan, not the timing.
"""

import argparse
import copy
import os
import random
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMESPACES = 10
# What a round does with the records and the objects of each kind.
EDITED, DELETED, ARCHIVED, TAKEN_OVER, CREATED, SPOILED = 0.15, 0.04, 0.03, 0.03, 0.07, 0.15
WITH_AUTOSCALER = 0.1
COUNTED = ("applies", "deletes", "repairs", "trips", "retries", "throttled")


class Wishes:
    """What the operator wants, by (kind, id); each step returns what is to be applied and deleted for it.

    `make`: how a document of each kind is written.
    """

    def __init__(self, make, dice, eagerness):
        self.make, self.dice, self.eagerness = make, dice, eagerness
        self.documents = {}
        self.next = 0

    def namespace(self):
        return f"round-{self.dice.randrange(NAMESPACES)}"

    def number(self):
        self.next += 1
        return self.next

    def new(self, kind):
        number = self.number()
        if kind == "deployment":
            document = self.make[kind](number, self.namespace(), replicas=self.dice.randrange(3))
            if self.dice.random() < WITH_AUTOSCALER:
                del document["spec"]["replicas"]
                document["spec"]["autoscaling"] = {"min_replicas": 1, "max_replicas": 3}
        elif kind == "sentinel":
            document = self.make[kind](number, replicas=self.dice.randrange(3))
        else:
            document = self.make[kind](number, self.namespace())
        return document

    def create(self, kind, count):
        made = [self.new(kind) for _ in range(count)]
        self.documents.update({(d["kind"], d["id"]): d for d in made})
        return made

    def edit(self, document):
        """The same record with something else wanted."""
        spec, dice = document["spec"], self.dice
        if document["kind"] == "cilium_network_policy":
            spec["policy"]["spec"] = {"endpointSelector": {"matchLabels": {"app": f"b{dice.randrange(1000)}"}},
                                      "egress": [{"toPorts": [{"ports": [{"port": str(dice.randrange(1, 9))}]}]}]}
            return
        edits = [lambda: spec.update(image=f"registry.example/app:{dice.randrange(2, 99)}"),
                 lambda: spec.update(project_id=f"proj_{dice.randrange(2, 99)}"),
                 lambda: spec.update(memory_mib=str(64 * dice.randrange(2, 9)))]
        if "replicas" in spec:
            edits += 2 * [lambda: spec.update(replicas=dice.randrange(4))]
        dice.choice(edits)()

    def change(self):
        """A round of the operator's; returns (documents to apply first, deletes, documents to apply then)."""
        first, deletes, then = [], [], []
        for kind in ("deployment", "sentinel", "cilium_network_policy"):
            mine = [key for key in self.documents if key[0] == kind]
            for key in mine:
                fate = self.dice.random() / self.eagerness
                document = copy.deepcopy(self.documents[key])
                if fate < EDITED:
                    self.edit(document)
                    self.documents[key] = document
                    first.append(document)
                elif fate < EDITED + DELETED:
                    deletes.append(key)
                elif fate < EDITED + DELETED + ARCHIVED:
                    first.append({**document, "state": "archived"})
                    del self.documents[key]
                elif fate < EDITED + DELETED + ARCHIVED + TAKEN_OVER:
                    deletes.append(key)
                    then.append(self.successor(document))
            for key in deletes:
                self.documents.pop(key, None)
            first += self.create(kind, round(CREATED * self.eagerness * len(mine)))
        self.documents.update({(d["kind"], d["id"]): d for d in then})
        return first, deletes, then

    def successor(self, document):
        """Another record under the name of one that goes."""
        fresh = self.new(document["kind"])
        for field in ("k8s_name", "k8s_namespace"):
            if field in document["spec"]:
                fresh["spec"][field] = document["spec"][field]
        return fresh


# Cannot stand beside a value: the API server refuses a variable that has both.
NODE_NAME = {"fieldRef": {"fieldPath": "spec.nodeName"}}


class Vandal:
    """Somebody with kubectl: edits and deletes objects of ours, and makes some that are none of ours."""

    MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"

    def __init__(self, kubernetes, dice, expected, eagerness):
        self.kubernetes, self.dice, self.expected, self.eagerness = kubernetes, dice, expected, eagerness
        self.done = 0

    def edits(self, resource, live):
        """Merge patches that fit an object."""
        labels, spec = live["metadata"].get("labels", {}), live["spec"]
        out = [{"metadata": {"annotations": {f"davit.dev/{n}": None for n in ("id", "record", "version", "hash")}}}]
        if "unkey.com/project.id" in labels:
            out.append({"metadata": {"labels": {"unkey.com/project.id": "edited"}}})
        if resource in ("replicasets", "deployments"):
            container = spec["template"]["spec"]["containers"][0]
            out += [{"spec": {"replicas": spec.get("replicas", 0) + 2}},
                    {"spec": {"template": {"spec": {"containers": [{**container, "image": "edited:1"}]}}}}]
            if container.get("env"):
                out.append({"spec": {"template": {"spec": {"containers": [{**container, "env": [
                    {"name": v["name"], "valueFrom": NODE_NAME} for v in container["env"]]}]}}}})
        if resource == "services" and "ports" in spec:
            out.append({"spec": {"ports": [{**spec["ports"][0], "targetPort": 9999}]}})
        if resource == "ciliumnetworkpolicies":
            out.append({"spec": {"endpointSelector": {"matchLabels": {"edited": "yes"}}}})
        if resource == "horizontalpodautoscalers":
            out.append({"spec": {"maxReplicas": 9}})
        if resource == "poddisruptionbudgets":
            bounds = ("minAvailable", "maxUnavailable")
            out += [{"spec": {k: 5 for k in bounds if k in spec}},
                    {"spec": {k: None if k in spec else 5 for k in bounds}}]
        return out

    def spoil(self, key, live, kept):
        """One object: deleted, or edited in one of several ways; it can still be found by its labels.

        Of one whose record goes while no agent looks nobody could tell what it was without its annotations, and it
        would stay: so only those that are `kept` lose them.
        """
        path = self.expected.path_of(*key)
        if self.dice.random() < 0.35:
            status, _ = self.kubernetes.request("DELETE", path)
        elif key[0] in ("replicasets", "deployments") and self.dice.random() < 0.2:
            kind = "ReplicaSet" if key[0] == "replicasets" else "Deployment"
            status, _ = self.kubernetes.request("PATCH", path + "?fieldManager=vandal&force=true", {
                "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": key[2]}, "spec": {"replicas": 7}}, self.APPLY)
        else:
            edits = [e for e in self.edits(key[0], live) if kept or "annotations" not in e.get("metadata", {})]
            if not edits:
                return
            edit = self.dice.choice(edits)
            status, _ = self.kubernetes.request("PATCH", path, edit, self.MERGE)
        self.done += status < 300

    def disown(self, key):
        """Takes a label away that everybody finds it by."""
        name = self.dice.choice(("app.kubernetes.io/managed-by", "app.kubernetes.io/component", "davit.dev/region"))
        edit = {"metadata": {"labels": {name: None}}}
        self.done += self.kubernetes.request("PATCH", self.expected.path_of(*key), edit, self.MERGE)[0] < 300

    def take_count(self):
        """How many objects it has changed since it was asked last."""
        count, self.done = self.done, 0
        return count

    def rampage(self, ours, kept):
        """`ours`: key -> live object. `kept`: keys whose records stay what they are in this round."""
        for key, live in ours.items():
            if key[0] == "namespaces" or self.dice.random() > SPOILED * self.eagerness:
                continue
            try:
                if key in kept and self.dice.random() < 0.1:
                    self.disown(key)
                else:
                    self.spoil(key, live, key in kept)
            except OSError:
                pass  # not answered: done or not, it is somebody else's deed


class Rounds:
    """A world with an agent on a real API server, and both sides of it."""

    def __init__(self, parts, expected, world, kubernetes, seed, sizes, kubeconfig=None, extra="", eagerness=1.0,
                 log=print):
        """`eagerness`: how much more happens in a round than in one of many records."""
        self.parts, self.expected, self.world, self.kubernetes = parts, expected, world, kubernetes
        self.dice = random.Random(seed)
        make = {"deployment": parts.deployment, "sentinel": parts.sentinel, "cilium_network_policy": parts.policy}
        self.wishes = Wishes(make, random.Random(seed + 1), eagerness)
        self.vandal = Vandal(kubernetes, random.Random(seed + 2), expected, eagerness)
        self.foreign = expected.Foreign(kubernetes)
        self.reader = expected.Reader(kubernetes, self.foreign)
        self.sizes, self.log = sizes, log
        self.server = world.server().start()
        self.agent = world.agent(kubeconfig=kubeconfig or kubernetes.kubeconfig, extra=parts.AT_ONCE + extra)
        self.metrics = world.with_metrics(self.agent)
        self.counted = {}

    def documents(self):
        return list(self.wishes.documents.values())

    def from_nothing(self):
        self.world.wait_ready(self.server)
        for kind, count in self.sizes.items():
            self.wishes.create(kind, count)
        self.world.apply(self.documents())
        self.agent.start()
        began = time.monotonic()
        self.wait_equal("from nothing", began)
        namespaces = sorted({key[1] for key in self.ours() if key[0] != "namespaces"})
        for number, namespace in enumerate(namespaces[-4:]):  # that of the sentinels comes last
            self.foreign.make(namespace, number)

    def ours(self):
        """Our objects as they stand."""
        wanted = self.expected.expected(self.documents())
        return {k: v for k, v in self.reader.live().items() if k in wanted}

    def operate(self, between=lambda: None):
        """A round of the operator's; returns what it was."""
        first, deletes, then = self.wishes.change()
        self.world.apply(first)
        for kind, name in deletes:
            self.world.delete(kind, name)
        between()
        if then:
            self.world.apply(then)
        return f"{len(first) + len(then)} applied, {len(deletes)} deleted"

    def round(self, name, kill=False, without_namespace=False):
        """Both sides at once; then the cluster must become equal again, and stay so until the next one."""
        ours, before = self.ours(), self.expected.expected(self.documents())
        draft = copy.deepcopy(self.wishes)
        draft.change()
        after = self.expected.expected(draft.documents.values())
        kept = {k for k in ours if before.get(k) == after.get(k)}
        vandal = threading.Thread(target=self.vandal.rampage, args=(ours, kept))
        vandal.start()
        did = self.operate(self.agent.kill if kill else lambda: None)
        if without_namespace:
            victim = self.wishes.namespace()
            self.foreign.lose(victim)
            self.kubernetes.request("DELETE", f"/api/v1/namespaces/{victim}")
            did += f", namespace {victim} deleted"
        vandal.join()
        if kill:
            self.restart()
            did += ", agent killed"
        self.wait_equal(f"round {name}: {did}, {self.vandal.take_count()} spoiled", time.monotonic())

    def restart(self):
        self.agent.start()
        self.counted = {}

    def wait_equal(self, what, began):
        faults = ["nothing was looked at"]

        def equal():
            if not self.agent.alive():
                raise AssertionError(f"the agent ended: {self.agent.tail()}")
            try:
                faults[:] = self.reader.faults(self.documents())
            except OSError as error:  # an API server that is busy with all of this
                faults[:] = [f"the cluster could not be read: {error}"]
            return not faults
        self.parts.wait_until(lambda: f"{what}: {len(faults)} faults, {faults[:8]}\n{self.agent.tail()}",
                              equal, 150 + sum(self.sizes.values()) / 2, pause=0.5 + sum(self.sizes.values()) / 500)
        took = time.monotonic() - began
        running = [d["id"] for d in self.documents() if d["kind"] == "deployment"]
        self.world.wait_running(running, seconds=120)
        self.world.wait_gone()
        self.log(f"{what}: equal after {took:.1f} s, reported after {time.monotonic() - began:.1f} s; "
                 f"{self.work_done()}", flush=True)

    def stayed_equal(self):
        """Nothing has come undone since the last round."""
        return self.reader.faults(self.documents())

    def work_done(self):
        """What the agent did since the last time, by its own metrics."""
        now = self.parts.metrics(self.metrics)
        total = {name: int(now.get(f"davit_applier_{name}_total", 0)) for name in COUNTED}
        since = {name: total[name] - self.counted.get(name, 0) for name in COUNTED}
        self.counted = total
        return ", ".join(f"{count} {name}" for name, count in since.items())

    def end(self):
        """The operator deletes everything, and nothing of ours is left; then the others take theirs away."""
        for kind, name in list(self.wishes.documents):
            self.wishes.documents[kind, name]["state"] = "archived"
        began = time.monotonic()
        self.world.apply(self.documents())
        self.wishes.documents.clear()
        self.wait_equal("all archived", began)
        self.foreign.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--deployments", type=int, default=1000)
    parser.add_argument("--sentinels", type=int, default=100)
    parser.add_argument("--policies", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    os.environ["DAVIT_STAGE"] = str(arguments.build.resolve() / "stage")
    import expected  # after the stage is known
    import parts

    sizes = {"deployment": arguments.deployments, "sentinel": arguments.sentinels,
             "cilium_network_policy": arguments.policies}
    print(f"seed {arguments.seed}: {sizes}", flush=True)
    kubernetes = parts.Kubernetes()
    world = parts.World(log_level="info")
    failed = True
    try:
        rounds = Rounds(parts, expected, world, kubernetes, arguments.seed, sizes)
        rounds.from_nothing()
        for number in range(1, arguments.rounds + 1):
            rounds.round(number, kill=number % 3 == 0, without_namespace=number % 4 == 2)
        if faults := rounds.stayed_equal():
            raise AssertionError(f"came undone: {faults[:8]}")
        rounds.end()
        failed = False
    finally:
        world.close(failed)
        kubernetes.close()
    return failed


if __name__ == "__main__":
    sys.exit(main())
