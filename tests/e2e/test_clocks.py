"""Clocks that jump, and processes that stand still for a while: nothing is lost, and statuses go on.

A library that is preloaded shifts the wall clock of one process; a stopped process is what a suspended machine is.
"""

import os
import signal
import time
import unittest

import expected
import parts
from parts import deployment, wait_until

SHIFT = os.environ.get("DAVIT_CLOCK_SHIFT_LIBRARY", "")
DAY = 24 * 3600
EXTRA = "[plugin.deployment]\nmin_ready_s = 0\n"
COUNT = 5
KEEP_ALIVE_SECONDS = 1  # without a frame, and then without an answer
KEEP_ALIVE = f"""
[{{}}]
keepalive_interval_ms = {KEEP_ALIVE_SECONDS * 1000}
keepalive_timeout_ms = {KEEP_ALIVE_SECONDS * 1000}
"""


@unittest.skipUnless(SHIFT, "DAVIT_CLOCK_SHIFT_LIBRARY is not set")
class OnKubernetes(parts.KubernetesCase):
    def setUp(self):
        super().setUp()
        self.reader = expected.Reader(self.kubernetes)
        self.server = self.with_clock(self.world.server(), "rpc.server.main")
        self.agent = self.with_clock(self.world.agent(kubeconfig=self.kubernetes.kubeconfig, extra=EXTRA),
                                     "rpc.client.control")
        self.documents = {}
        self.turn = 0
        self.server.start()
        self.world.wait_ready(self.server)
        self.agent.start()

    def with_clock(self, process, table):
        process.argv.append(str(self.world.write(f"{process.name}-alive.toml", KEEP_ALIVE.format(table))))
        process.env = {"LD_PRELOAD": SHIFT, "DAVIT_CLOCK_SHIFT": str(self.world.folder / f"{process.name}.shift"),
                       "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
        self.shift(process, 0)
        return process

    def shift(self, process, seconds):
        (self.world.folder / f"{process.name}.shift").write_text(str(seconds), encoding="utf-8")

    def works(self, what):
        """A change, a delete and a creation arrive, and what became of them is known upstairs."""
        self.turn += 1
        base = 10 * self.turn
        self.world.apply([deployment(base + n, "clocks") for n in range(COUNT)])
        self.documents.update({f"d_{base + n}": deployment(base + n, "clocks") for n in range(COUNT)})
        kept = sorted(self.documents)[0]
        self.documents[kept]["spec"]["replicas"] = 1 + self.turn % 3
        self.world.apply([self.documents[kept]])
        gone = sorted(self.documents)[1]
        del self.documents[gone]
        self.world.delete("deployment", gone)
        faults = []

        def equal():
            faults[:] = self.reader.faults(list(self.documents.values()))
            return not faults
        wait_until(lambda: f"{what}: {faults[:5]}\n{self.agent.tail()}", equal, 60)
        self.world.wait_running(list(self.documents))

    def end(self):
        self.world.apply([{**d, "state": "archived"} for d in self.documents.values()])
        wait_until("nothing is left", lambda: not self.reader.faults([]), 60)
        self.check_clean_end(self.agent, self.server)

    def test_the_wall_clock_jumps_while_they_run(self):
        self.works("no jump")
        for process in (self.agent, self.server):
            for days in (1, -30, 0):
                self.shift(process, days * DAY)
                self.works(f"{process.name} by {days} days")
        self.end()

    def test_an_agent_that_starts_before_its_predecessor_is_still_believed(self):
        """Its clock has been set back, or another machine's is behind."""
        self.shift(self.agent, DAY)
        self.agent.kill()
        self.agent.start()
        self.works("a day ahead")
        self.agent.kill()
        self.shift(self.agent, 0)
        self.agent.start()
        self.works("back again")
        self.end()

    def test_tombstones_purged_because_of_a_jump_are_not_missed(self):
        self.works("no jump")
        self.agent.kill()
        gone = sorted(self.documents)[0]
        del self.documents[gone]
        self.world.delete("deployment", gone)
        # A month later nobody holds the tombstone any more.
        self.shift(self.server, 30 * DAY)
        self.world.davit("storage", "maintain")
        self.agent.start()
        self.works("after the purge")
        self.shift(self.server, 0)
        self.works("back again")
        self.end()

    def test_both_stand_still_for_longer_than_they_wait_for_each_other(self):
        self.works("no stop")
        for process in (self.agent, self.server):
            os.kill(process.process.pid, signal.SIGSTOP)
            stopped = time.monotonic()
            if process is self.agent:
                # What happens in the world meanwhile is found when it wakes.
                for name in sorted(self.documents)[:2]:
                    self.kubernetes.request("DELETE", expected.path_of(
                        "replicasets", "clocks", self.documents[name]["spec"]["k8s_name"]))
            wait_until("it has stood still long enough",
                       lambda since=stopped: time.monotonic() - since > 3 * KEEP_ALIVE_SECONDS, 60)
            os.kill(process.process.pid, signal.SIGCONT)
            self.works(f"{process.name} goes on")
        self.end()


if __name__ == "__main__":
    unittest.main(verbosity=2)
