"""`davit diff` says what `davit apply` does: random pairs of what is stored and what is applied, of real kinds.

$DAVIT_DIFF_PAIRS: how many (CI has fewer than make test-long: see CMakeLists.txt); $DAVIT_DIFF_SEED repeats a run.
"""

import collections
import copy
import json
import os
import random
import re
import unittest

from parts import REGION, Case, deployment, policy, sentinel

PAIRS = int(os.environ.get("DAVIT_DIFF_PAIRS", "1500"))
SEED = int(os.environ.get("DAVIT_DIFF_SEED", "24"))
A_ROUND = 1500  # of one `davit diff`, in which a name that is given up may be taken


def shuffled(chance, value):
    """The same in another order of keys, and numbers partly as texts, which mean the same."""
    if isinstance(value, dict):
        keys = list(value)
        chance.shuffle(keys)
        return {k: shuffled(chance, value[k]) for k in keys}
    if isinstance(value, list):
        return [shuffled(chance, v) for v in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and chance.random() < 0.3 else value


def stored(chance, n):
    make = chance.choice([deployment, deployment, policy, sentinel])
    document = make(f"{n}")
    if make is deployment:
        document["spec"].update(chance.choice([
            {}, {"command": ["run", "--fast"]}, {"healthcheck": {"method": "GET", "path": "/up"}},
            {"git_branch": "main"}, {"pod": {"labels": {"a": "b"}}}]))
    if chance.random() < 0.3:
        document["annotations"] = {"team.example/owner": chance.choice("ab")}
    return document


# What is done to a document; each changes it in place.

def nothing(_chance, _document):
    pass


def another_image(chance, d):
    d["spec"]["image"] = f"registry.example/app:{chance.randint(1, 3)}"


def more_replicas(chance, d):
    d["spec"]["replicas"] = chance.randint(0, 3)


def a_command(chance, d):
    d["spec"]["command"] = ["run"] + ["--fast", "--slow"][:chance.randint(0, 2)]


def a_pod(chance, d):
    d["spec"]["pod"] = {"labels": {"a": chance.choice("bc"), "x": "y"}}


def healthcheck(chance, d):
    d["spec"]["healthcheck"] = chance.choice([{"path": "/up", "method": "GET"}, {"method": "POST", "path": "/up"}])


def policy_labels(chance, d):
    if "policy" in d["spec"]:
        d["spec"]["policy"]["spec"]["endpointSelector"]["matchLabels"]["app"] = chance.choice(["x", "y"])


def annotation(chance, d):
    d["annotations"] = chance.choice([{}, {"team.example/owner": "b"}, {"davit.dev/pause": "true"}])


def state(chance, d):
    d["state"] = chance.choice(["running", "running", "archived", "sleeping", "deleted"])


def another_namespace(_chance, d):
    if "k8s_namespace" in d["spec"]:
        d["spec"]["k8s_namespace"] = "mall"


def unknown_field(_chance, d):
    d["spec"]["replcias"] = 2


def another_region(chance, d):
    d["region"] = chance.choice(["nowhere", ""])


def no_name(_chance, d):
    d["spec"]["k8s_name"] = ""


def another_kind(_chance, d):
    d["kind"] = "deploymnet"


def no_spec(_chance, d):
    d.pop("spec", None)


def expected_version(chance, d):
    d["version"] = chance.randint(0, 60)


CHANGES = [(nothing, 8), (another_image, 4), (more_replicas, 4), (a_command, 2), (a_pod, 2), (healthcheck, 2),
           (policy_labels, 2), (annotation, 4), (state, 3), (another_namespace, 1), (unknown_field, 1),
           (another_region, 1), (no_name, 1), (another_kind, 1), (no_spec, 1), (expected_version, 2)]


def timeless(text):
    """The time of a dead record changes when another one takes its name."""
    return re.sub(r" at \d{4}-\S+Z", "", text)


class Pairs(Case):
    def write(self, name, documents):
        return self.world.write(name, "\n---\n".join(json.dumps(d) for d in documents))

    def outcomes(self, command, file):
        """What became of each document that was sent, and everything that was said beside."""
        code, out, err = self.world.davit(command, "-f", file, "-o", "json", check=False, seconds=600)
        said = json.loads(out)
        return code, said["outcomes"] if command == "apply" else said, err

    def round(self, first, count, chance):
        before = [stored(chance, n) for n in range(first, first + count)]
        wanted = []
        for d in before:
            d = copy.deepcopy(d)
            for change in chance.choices([c for c, _ in CHANGES], [w for _, w in CHANGES], k=chance.randint(1, 2)):
                if change in (no_spec, another_region) or "spec" in d:
                    change(chance, d)
            wanted.append(shuffled(chance, d))
        for n in chance.sample(range(1, count), count // 20):  # the name of the neighbour, who may give it up
            if "spec" in wanted[n] and before[n]["kind"] == before[n - 1]["kind"]:
                wanted[n]["id"] = wanted[n]["id"] + "x"
                for key in ("deployment_id", "sentinel_id", "cilium_network_policy_id"):
                    if key in wanted[n]["spec"]:
                        wanted[n]["spec"][key] = wanted[n]["id"]
                wanted[n]["spec"]["k8s_name"] = before[n - 1]["spec"]["k8s_name"]
                wanted[n - 1]["state"] = chance.choice(["archived", "running"])
        wanted += [copy.deepcopy(d) for d in chance.sample(wanted, 2)]  # named twice
        there = [d for d in before if chance.random() < 0.8]
        self.world.davit("apply", "-f", self.write("before.json", there), seconds=600)
        self.world.davit("delete", "-f", self.write("dead.json", chance.sample(there, len(there) // 10)), seconds=600)

        file = self.write("wanted.json", wanted)
        diff_code, expected, diff_said = self.outcomes("diff", file)
        apply_code, happened, apply_said = self.outcomes("apply", file)
        self.assertEqual(len(expected), len(happened))
        for one, other in zip(expected, happened):
            where = f"{one}\n{other}\nseed {SEED}"
            for key in ("kind", "region", "id", "outcome"):
                self.assertEqual(one[key], other[key], where)
            self.assertEqual(timeless(one.get("message", "")), timeless(other["message"]), where)
            if one["outcome"] == "changed" and "version" in one:  # of what was deleted there is nothing to compare
                self.assertTrue(one["fields"], where)
        self.assertEqual(timeless(diff_said), timeless(apply_said))
        self.assertEqual((diff_code, apply_code), (4, 4))

        # What was applied is what was asked for: nothing of it differs any more.
        taken = [d for d, o in zip(happened, expected) if o["outcome"] != "refused"]
        self.assertFalse({o["outcome"] for o in self.outcomes("diff", file)[1]
                          if (o["kind"], o["id"]) in {(t["kind"], t["id"]) for t in taken}} - {"unchanged", "refused"})
        return collections.Counter(o["outcome"] for o in expected)

    def test_diff_and_apply_never_disagree(self):
        self.world.wait_ready(self.world.server().start())
        chance = random.Random(SEED)
        seen = collections.Counter()
        for first in range(0, PAIRS, A_ROUND):
            seen += self.round(first, min(A_ROUND, PAIRS - first), chance)
        for outcome in ("created", "changed", "unchanged", "refused"):
            self.assertGreater(seen[outcome], PAIRS // 50, seen)


if __name__ == "__main__":
    unittest.main(verbosity=2)
