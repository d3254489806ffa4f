"""What an operator does with a store after the first day: copies under load, restores, stops while it is stuck."""

import json
import sqlite3
import threading
import unittest
from pathlib import Path

from parts import Case, deployment, wait_until
from stores import on_a_file


class Served(Case):
    def start(self, host=""):
        server = self.world.server()
        server.argv.append(str(self.world.write("more.toml", f"[host]\n{host}\n")))
        server.start()
        self.world.wait_ready(server)
        return server

    def stored(self):
        return set(self.world.objects())


class DayTwo(Served):
    @on_a_file
    def test_a_backup_ends_under_steady_writes_and_brings_everything_back(self):
        server = self.start()
        self.world.apply([deployment(n) for n in range(20)])
        over = threading.Event()

        def write():
            n = 100
            while not over.is_set():
                self.world.apply([deployment(n)])
                n += 1

        writer = threading.Thread(target=write)
        writer.start()
        copy = self.world.folder / "copy"
        said = self.world.davit("storage", "backup", copy)[1]
        over.set()
        writer.join()
        self.assertRegex(said, rf"^{copy}: [0-9.]+ MiB, verified; version \d+ is the newest\n$")
        self.assertEqual(copy.stat().st_mode & 0o777, 0o600)
        self.world.delete("deployment", "d_1")
        lost = self.stored()
        self.assertNotIn("d_1", lost)
        code, _, why = self.world.davit("storage", "restore", copy, *server.argv[2:], check=False)
        self.assertEqual(code, 1)
        self.assertIn("is in use by another process", why)
        self.assertEqual(server.stop(), 0)
        said = self.world.davit("storage", "restore", copy, *server.argv[2:])[1]
        self.assertIn(f"the store that was there is now {self.world.store.path}.before-", said)
        server.start()
        self.world.wait_ready(server)
        self.assertTrue({f"d_{n}" for n in range(20)} <= self.stored())
        self.assertIn("is whole", self.world.davit("storage", "verify")[1])

    @on_a_file
    def test_an_agent_follows_a_restored_store(self):
        server = self.start()
        agent = self.world.agent()
        agent.start()
        self.world.apply([deployment(1)], "--wait")
        copy = self.world.folder / "copy"
        self.world.davit("storage", "backup", copy)
        self.world.apply([deployment(2)], "--wait")
        server.stop()
        self.world.davit("storage", "restore", copy, *server.argv[2:])
        server.start()
        self.world.wait_ready(server)
        # What the store has lost is left alone, and said.
        wait_until("d_2 is shown as orphaned",
                   lambda: any(i["condition"] == "orphaned" for a in self.world.status()["agents"]
                               for i in a.get("issues", [])))
        self.world.apply([deployment(3)], "--wait")


@on_a_file
class Waiting(Served):
    def test_a_call_that_waits_for_the_database_ends_with_the_stop(self):
        server = self.start("stop_timeout_ms = 20000\ncore_dumps = true")  # so that `sleeps` may look
        other = sqlite3.connect(self.world.store.path, isolation_level=None)
        self.addCleanup(other.close)
        other.execute("BEGIN IMMEDIATE")  # SQLite waits five seconds for it
        told = []
        apply = threading.Thread(target=lambda: told.append(
            self.world.davit("apply", "-f", "-", stdin=json.dumps(deployment(1)), check=False)))
        apply.start()
        wait_until("a thread of the storage sleeps for the lock", lambda: self.sleeps(server.process.pid, "main"))
        self.assertEqual(server.stop(), 0, server.tail())
        self.assertNotIn("ending without it", server.text())
        apply.join()
        self.assertEqual(told[0][0], 6, told)  # no answer: it may be tried again
        self.assertIn("the server is shutting down", told[0][2])
        other.execute("ROLLBACK")
        server.start()
        self.world.wait_ready(server)
        self.assertEqual(self.stored(), set())

    @staticmethod
    def sleeps(pid, name):
        """Whether a thread of this name is in nanosleep or clock_nanosleep."""
        for task in Path(f"/proc/{pid}/task").iterdir():
            try:
                if ((task / "comm").read_text(encoding="utf-8").strip() == name
                        and (task / "syscall").read_text(encoding="utf-8").split()[0] in ("35", "230")):
                    return True
            except OSError:  # it has ended
                continue
        return False


if __name__ == "__main__":
    unittest.main(verbosity=2)
