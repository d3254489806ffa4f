"""The cluster controller of Cluster API v0.1.10 beside ours, on one API server, with one scripted actuator: the same
stories give the same calls in the same order, and the same objects.

A call that finds nothing new to do may be made once more: the original looks at a Cluster after each write of its
status. What the original is known for and ours has not is left out: it adds `foregroundDeletion`, writes empty fields,
and writes no status.

DAVIT_SEED repeats the stories. DAVIT_STORIES says how many; DAVIT_LONG=1: 100.
"""

import json
import os
import random
import subprocess
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from clusters_parts import FINALIZER, NETWORK, ClustersCase, failing, going_on, is_ready
from federation_parts import MERGE
from parts import REPOSITORY, Process, wait_until, whole_lines

STORIES = int(os.environ.get("DAVIT_STORIES", "100" if os.environ.get("DAVIT_LONG") == "1" else "12"))
AT_ONCE = 12
OURS, THEIRS = "ours", "theirs"


def program():
    built = subprocess.run([REPOSITORY / "tests/cluster_api/build.sh"], stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode == 0:
        return built.stdout.splitlines()[-1] + "/cluster-api-controller"
    why = "the original controller cannot be built here: what is missing stands above"
    if os.environ.get("DAVIT_NO_SKIPS") == "1":
        raise AssertionError(why)
    raise unittest.SkipTest(why)


class Side:
    """One controller, its namespace and the script of its actuator."""

    def __init__(self, management, namespace, script):
        self.management, self.script = management, script
        self.path = f"/apis/cluster.k8s.io/v1alpha1/namespaces/{namespace}/clusters"

    def scripted(self, name, operation, entries):
        whole = self.script / f"{name}.{operation}.new"
        whole.write_text(json.dumps(entries), encoding="utf-8")
        whole.rename(self.script / f"{name}.{operation}")

    def calls(self, name):
        """(operation, mark of the entry), without those that repeat the one before."""
        out = []
        try:
            lines = whole_lines((self.script / "calls").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return out
        for operation, of, _, mark in map(str.split, lines):
            if of == name and (not out or out[-1] != (operation, mark)):
                out.append((operation, mark))
        return out

    def get(self, name):
        return self.management.get(f"{self.path}/{name}")

    def shown(self, name):
        """What both must agree on; None: it is gone."""
        found = self.get(name)
        if found is None:
            return None
        meta, spec, status = found["metadata"], found.get("spec", {}), found.get("status", {})
        if spec.get("providerSpec") == {}:
            del spec["providerSpec"]
        return {"finalizers": [one for one in meta.get("finalizers", []) if one != "foregroundDeletion"],
                "labels": meta.get("labels"), "going": "deletionTimestamp" in meta, "spec": spec,
                "status": {key: status[key] for key in ("apiEndpoints", "providerStatus") if key in status}}


class Story:
    """What people do with one Cluster, and what its actuator answers."""

    def __init__(self, number, seed, sides):
        self.name, self.dice, self.sides = f"story-{number}", random.Random(f"{seed} {number}"), sides
        self.told, self.done = [], 0

    def entries(self):
        """What the next calls do; the last one has succeeded."""
        out = []
        for _ in range(self.dice.choice((0, 0, 1, 1, 2))):
            out.append(self.dice.choice((failing("UNAVAILABLE", "not now"), {"exit": 3}, going_on(0.3),
                                         going_on(0.3, statusPatch={"providerStatus": {"step": self.done}}))))
        self.done += 1
        last = {} if self.dice.random() < 0.5 else {
            "answer": {"statusPatch": {"providerStatus": {"done": self.done},
                                       "apiEndpoints": [{"host": f"10.0.0.{self.done}", "port": 6443}]}}}
        return [{**one, "mark": f"{self.done}.{n}"} for n, one in enumerate([*out, last])]

    def both(self, does):
        for side in self.sides:
            does(side)

    def must(self, side, method, name="", body=None, content_type="application/json"):
        side.management.must(method, side.path + name, body, content_type)

    def tell(self, what):
        self.told.append(what)

    def scripted(self, operation):
        """Returns the mark of the last entry."""
        entries = self.entries()
        self.tell(f"{operation} will {entries}")
        self.both(lambda side: side.scripted(self.name, operation, entries))
        return entries[-1]["mark"]

    def settle(self, operation, mark):
        """Both have made the last call of their scripts."""
        for side in self.sides:
            wait_until(lambda side=side: f"the script is done, {self.told}: {side.calls(self.name)}",
                       lambda side=side: side.calls(self.name)[-1:] == [(operation, mark)], 90)

    def run(self):
        foreign = self.dice.random() < 0.3
        mark = self.scripted("reconcile")
        self.tell("make" + (" with a foreign finalizer" if foreign else ""))
        body = {"apiVersion": "cluster.k8s.io/v1alpha1", "kind": "Cluster",
                "metadata": {"name": self.name, "labels": {"v": "0"}, "finalizers": ["someone/else"] if foreign else []},
                "spec": {"clusterNetwork": NETWORK, "providerSpec": {"value": {"apiVersion": "x.example/v1", "n": 0}}}}
        self.both(lambda side: self.must(side, "POST", body=body))
        self.settle("reconcile", mark)
        for n in range(self.dice.randrange(3)):
            self.change(n + 1)
        # An answer counts once it is in the status; a delete before that would end its program.
        wait_until(f"ours has taken the answer, {self.told}", lambda: is_ready(self.sides[0].get(self.name)), 60)
        self.agree()
        mark = self.scripted("delete")
        self.tell("delete")
        # As kubectl does it: the API server takes the original's `foregroundDeletion` off.
        options = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        self.both(lambda side: self.must(side, "DELETE", f"/{self.name}", options))
        self.settle("delete", mark)
        if foreign:
            wait_until("the finalizer is off", lambda: all(
                FINALIZER not in side.shown(self.name)["finalizers"] for side in self.sides), 60)
            self.agree()
            self.both(lambda side: self.must(side, "PATCH", f"/{self.name}", {"metadata": {"finalizers": None}}, MERGE))
        wait_until(f"{self.name} is gone", lambda: all(side.shown(self.name) is None for side in self.sides), 60)
        self.agree()

    def change(self, n):
        mark = self.scripted("reconcile")
        self.tell("change")
        patch = {"spec": {"providerSpec": {"value": {"n": n}}}, "metadata": {"labels": {"v": str(n)}}}
        self.both(lambda side: self.must(side, "PATCH", f"/{self.name}", patch, MERGE))
        self.settle("reconcile", mark)

    def agree(self):
        def same():
            shown = [side.shown(self.name) for side in self.sides]
            calls = [side.calls(self.name) for side in self.sides]
            return shown[0] == shown[1] and calls[0] == calls[1]
        wait_until(lambda: f"both agree after {self.told}:\n" + "\n".join(
            f"{side.calls(self.name)} {side.shown(self.name)}" for side in self.sides), same, 60)


class OnKubernetes(ClustersCase):
    def test_the_same_stories(self):
        seed = int(os.environ.get("DAVIT_SEED", random.SystemRandom().randrange(1_000_000)))
        print(f"DAVIT_SEED={seed}", flush=True)
        controller = program()
        self.begin(f'namespace = "{OURS}"\nchildren_first = true\nconflict_retries = 5\n')
        their_script = self.world.folder / "their-script"
        their_script.mkdir()
        self.install_machines()
        for namespace in (OURS, THEIRS):
            self.management.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        their = Process("original", [controller, self.management.kubernetes.kubeconfig, their_script, THEIRS],
                        self.world.folder)
        self.world.part(their).start()
        sides = [Side(self.management, OURS, self.script), Side(self.management, THEIRS, their_script)]
        began = time.monotonic()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for done in [pool.submit(Story(n, seed, sides).run) for n in range(STORIES)]:
                done.result()
        print(f"{STORIES} stories in {time.monotonic() - began:.0f} s", flush=True)
        for side in sides:
            calls = (side.script / "calls").read_text(encoding="utf-8").splitlines()
            self.assertGreater(len(calls), 2 * STORIES)


if __name__ == "__main__":
    unittest.main(verbosity=2)
