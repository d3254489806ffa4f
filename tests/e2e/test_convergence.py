"""Random changes on both sides of the agent, on a real API server: afterwards the cluster equals the desired state.

The long form is `make converge`. DAVIT_SEED repeats a plan.
"""

import os
import random
import unittest

import expected
import parts
from converge import Rounds, Vandal

SIZES = {"deployment": 60, "sentinel": 6, "cilium_network_policy": 12}


class OnKubernetes(parts.KubernetesCase):
    def test_after_each_round_the_cluster_equals_the_desired_state(self):
        seed = int(os.environ.get("DAVIT_SEED", random.SystemRandom().randrange(1_000_000)))
        print(f"seed {seed}", flush=True)
        rounds = Rounds(parts, expected, self.world, self.kubernetes, seed, SIZES)
        rounds.from_nothing()
        rounds.round(1)
        rounds.round(2, without_namespace=True)
        rounds.round(3, kill=True)
        self.assertEqual(rounds.stayed_equal(), [], f"seed {seed}")
        rounds.end()
        self.check_clean_end(rounds.agent, rounds.server)

    def test_edits_that_our_fields_cannot_stand_beside(self):
        """The sum of somebody's edit and our apply is refused as invalid; the edit is undone all the same."""
        rounds = Rounds(parts, expected, self.world, self.kubernetes, 1, dict.fromkeys(SIZES, 0))
        probed = parts.deployment(1, healthcheck={"method": "GET", "path": "/"})
        rounds.wishes.documents.update({("deployment", "d_1"): probed, ("sentinel", "s_1"): parts.sentinel(1),
                                        ("sentinel", "s_2"): parts.sentinel(2, replicas=3)})
        rounds.from_nothing()
        before = {key: live["spec"] for key, live in rounds.ours().items() if "spec" in live}
        for key, live in rounds.ours().items():
            edits = rounds.vandal.edits(key[0], live) if key[0] in ("replicasets", "poddisruptionbudgets") else []
            containers = live.get("spec", {}).get("template", {}).get("spec", {}).get("containers", [])
            for probe in ("livenessProbe", "readinessProbe"):
                if probe in (containers or [{}])[0]:
                    spec = {"containers": [{**containers[0], probe: {"exec": {"command": ["true"]}}}]}
                    edits.append({"spec": {"template": {"spec": spec}}})
            for edit in edits:
                with self.subTest(key=key, edit=edit):
                    status, answer = self.kubernetes.request("PATCH", expected.path_of(*key), edit, Vandal.MERGE)
                    self.assertEqual(status, 200, answer)
                    parts.wait_until(lambda k=key: f"{k} is as it was: {rounds.ours()[k]}",
                                     lambda k=key: rounds.ours()[k]["spec"] == before[k])
        rounds.end()
        self.check_clean_end(rounds.agent, rounds.server)

    def test_the_reader_sees_what_is_wrong(self):
        """The judge itself: nothing is applied here, and everything is missing or too many."""
        reader = expected.Reader(self.kubernetes)
        documents = [parts.deployment(1, "judged"), parts.sentinel(1), parts.policy(1, "judged")]
        absent = [fault.split("'")[1] for fault in reader.faults(documents) if "is missing" in fault]
        self.assertEqual(sorted(k for k in absent if k != "namespaces"), [
            "ciliumnetworkpolicies", "ciliumnetworkpolicies", "deployments", "poddisruptionbudgets", "replicasets",
            "services", "services"])
        foreign = expected.Foreign(self.kubernetes)
        self.kubernetes.request("POST", "/api/v1/namespaces", {"metadata": {"name": "judged"}})
        foreign.make("judged", 1)
        self.assertEqual(len([f for f in reader.faults([]) if "one too many" in f]), 4)
        reader.foreign = foreign
        self.assertEqual(reader.faults([]), [])
        path = expected.path_of("services", "judged", "foreign-10")
        self.kubernetes.request("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, "application/merge-patch+json")
        self.assertEqual([f[:7] for f in reader.faults([])], ["foreign"])
        self.kubernetes.request("DELETE", "/api/v1/namespaces/judged")
        parts.wait_until("all is gone", lambda: not [k for k in reader.live() if "judged" in k], 60)


if __name__ == "__main__":
    unittest.main(verbosity=2)
