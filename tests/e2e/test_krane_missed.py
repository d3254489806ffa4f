"""What a Krane control plane never says, and our agent finds out by listing everything again and asking."""

import unittest

from krane_case import Peer
from parts import REGION, Case, deployment, wait_until


AUDIT = """
[plugin.watcher]
relist_interval_ms = 2000
missing_confirm_ms = 1000
"""


class Missed(Peer, Case):
    transport = "connect"

    def start(self, *documents):
        self.want(*documents)
        self.running = self.agent("[plugin.applier]\nresync_interval_ms = 1000\n")
        self.running.argv.append(self.world.write("audit.toml", AUDIT))
        self.running.start()
        self.wait_reported()

    def commit_late(self, document, before):
        """A version is taken, another record is written with the next one, and then this one is."""
        version = self.krane.ask(do="allocate", region=REGION)["version"]
        self.want(before)
        self.wait_reported()
        self.wanted[document["kind"], document["id"]] = document
        self.krane.want(document, version=version)

    def test_a_change_that_is_committed_late(self):
        self.start(*(deployment(n) for n in range(5)))
        self.commit_late(deployment(1, replicas=3), deployment(100))
        self.wait_reported(20)
        self.check_clean_end(self.running)

    def test_a_new_record_that_is_committed_late(self):
        """Krane's agent finds it when its cursor goes back to 0."""
        self.start(*(deployment(n) for n in range(5)))
        self.commit_late(deployment(101), deployment(100))
        self.wait_reported(20)
        self.check_clean_end(self.running)

    def test_a_row_that_is_deleted_hard(self):
        """As of a deleted environment, or of a deployment that failed."""
        self.start(*(deployment(n) for n in range(5)))
        self.krane.drop(self.wanted.pop(("deployment", "d_1")))
        wait_until(lambda: f"app-1 is deleted\n{self.tails()}", lambda: "app-1" in self.deletes(), 20)
        self.check_clean_end(self.running)

    def test_versions_that_begin_anew(self):
        self.start(*(deployment(n) for n in range(20)))
        for _ in range(10):
            self.want(deployment(0, replicas=2))  # versions far above the number of rows
        self.wait_reported()
        self.krane.ask(do="forget_counter", region=REGION)
        self.want(deployment(1, replicas=3))
        self.wait_reported(20)
        self.check_clean_end(self.running)


if __name__ == "__main__":
    unittest.main(verbosity=2)
