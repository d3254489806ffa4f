"""Random changes on both sides of the agent, on a real API server: afterwards the cluster equals the desired state.

The long form is `make converge`. DAVIT_SEED repeats a plan.
"""

import os
import random
import time
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
        def wanted(live):
            """Its spec without the hash of its template, which an edit changes: pods made of one must go."""
            live["spec"].get("template", {}).get("metadata", {}).pop("annotations", None)
            return live["spec"]
        before = {key: wanted(live) for key, live in rounds.ours().items() if "spec" in live}
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
                                     lambda k=key: wanted(rounds.ours()[k]) == before[k])
        rounds.end()
        self.check_clean_end(rounds.agent, rounds.server)

    def test_pods_of_an_edited_template_go(self):
        """A ReplicaSet keeps what it has made, and the edit has left our hash in it."""
        rounds = Rounds(parts, expected, self.world, self.kubernetes, 1, dict.fromkeys(SIZES, 0))
        document = parts.deployment(1, "edited", replicas=2)
        rounds.wishes.documents["deployment", "d_1"] = document
        rounds.from_nothing()
        path = expected.path_of("replicasets", "edited", document["spec"]["k8s_name"])
        pods = "/api/v1/namespaces/edited/pods"

        def images():
            return sorted(p["spec"]["containers"][0]["image"] for p in self.kubernetes.items(pods)
                          if "deletionTimestamp" not in p["metadata"])
        ours = [document["spec"]["image"]] * 2
        self.assertEqual(images(), ours)
        rounds.agent.kill()
        container = self.kubernetes.request("GET", path)[1]["spec"]["template"]["spec"]["containers"][0]
        edit = {"spec": {"template": {"spec": {"containers": [{**container, "image": "edited:1"}]}}}}
        status, edited = self.kubernetes.request("PATCH", path, edit, Vandal.MERGE)
        self.assertEqual(status, 200, edited)
        parts.wait_until("its controller has seen the edit", lambda: self.kubernetes.request("GET", path)[1]["status"].get(
            "observedGeneration", 0) >= edited["metadata"]["generation"])
        victim = self.kubernetes.items(pods)[0]["metadata"]["name"]
        self.kubernetes.request("DELETE", f"{pods}/{victim}")
        parts.wait_until("there is a pod of the edit", lambda: images() == sorted([*ours[:1], "edited:1"]))
        rounds.restart()
        parts.wait_until(lambda: f"only pods of ours: {images()}", lambda: images() == ours)
        rounds.wait_equal("edited", time.monotonic())
        rounds.end()
        self.check_clean_end(rounds.agent, rounds.server)

    def test_gone_is_said_by_the_next_process(self):
        """The agent dies between its deletes and its report: nothing is left that would remind another one."""
        rounds = Rounds(parts, expected, self.world, self.kubernetes, 1, dict.fromkeys(SIZES, 0))
        rounds.wishes.documents.update({("deployment", f"d_{n}"): parts.deployment(n, "killed") for n in range(3)})
        rounds.from_nothing()
        rounds.agent.kill()
        self.world.apply([{**d, "state": "archived"} for d in rounds.documents()])
        for number in range(3):
            self.kubernetes.request("DELETE", expected.path_of("replicasets", "killed", f"app-{number}"))
        rounds.wishes.documents.clear()
        self.assertEqual([o.get("live", False) for o in self.world.status()["objects"]], [False] * 3)
        rounds.restart()
        self.world.wait_gone()
        rounds.foreign.remove()
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
