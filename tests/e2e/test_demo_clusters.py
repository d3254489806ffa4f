"""`make run CLUSTERS=1`: records become clusters, clusters become regions, and both go without a trace.

The script is the one that people run; its last words are awaited, and then its server is used as they would.
"""

import json
import os
import signal
import subprocess
import unittest
from pathlib import Path

from parts import DAVIT, REPOSITORY, STAGE, Case, Process, free_port, kill_all, wait_until

SCRIPT = REPOSITORY / "etc/demo/clusters/run.sh"
SECONDS = 300


class Whole(Case):
    def setUp(self):
        super().setUp()
        self.folder = self.world.folder / "demo"
        self.env = {"DAVIT_DEMO_DIR": str(self.folder), "DAVIT_DEMO_PORT": str(free_port())}
        self.addCleanup(lambda: kill_all(self.processes()))
        self.demo = self.world.part(Process("demo", [SCRIPT, STAGE], self.world.folder, self.env))

    def processes(self):
        """All whose command line or environment names the demo's folder."""
        out = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                words = (path / "cmdline").read_bytes() + b" " + (path / "environ").read_bytes()
            except OSError:
                continue
            if str(self.folder).encode() in words and int(path.name) != os.getpid():
                out[int(path.name)] = words.replace(b"\0", b" ").decode(errors="replace")[:200]
        return out

    def davit(self, *words):
        done = subprocess.run([DAVIT, *words], env={**os.environ, "DAVIT_SERVER": f"unix:{self.folder}/operator.sock"},
                              text=True, capture_output=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def status(self):
        return json.loads(self.davit("status", "-o", "json"))

    def regions(self):
        return sorted(agent["region"] for agent in self.status()["agents"])

    def of(self, name):
        """What there is of a region besides its records."""
        here = [str(path) for where in ("built", "agents") for path in (self.folder / where).iterdir()
                if name in path.name]
        return here + [words for words in self.processes().values() if f"fleet_{name}" in words]

    def test_clusters_become_regions_and_go(self):
        self.demo.start()
        wait_until(lambda: f"its last words: {self.demo.text()}",
                   lambda: "Ctrl-C ends them" in self.demo.text() or not self.demo.alive(), SECONDS)
        said = self.demo.text()
        self.assertTrue(self.demo.alive(), said)
        for name in ("berlin", "madrid", "paris"):
            self.assertRegex(said, rf"cluster/fleet\.{name} \(management\): running at version \d+, 1 of 1 ready")
            self.assertRegex(said, rf"deployment/d_web_{name} \({name}\): running at version \d+, \d of \d ready")
        self.assertRegex(said, r"davit-system +davit-agent-\S+ +1/1 +Running")
        self.assertRegex(said, r"shop +web-\S+ +1/1 +Running")
        # One has gone, as the last table shows.
        self.assertNotIn("paris", said.rpartition("$ davit status")[2].partition("$ ls")[0])
        # A program that was called for it may still be ending.
        wait_until(lambda: f"nothing is left of it: {self.regions()} {self.of('paris')}",
                   lambda: (self.regions(), self.of("paris")) == (["berlin", "madrid", "management"], []))
        # The next one goes as well; the last one does not notice.
        madrid = self.of("madrid")
        self.assertTrue(madrid)
        self.davit("delete", "cluster", "fleet.berlin", "--region", "management")
        wait_until(lambda: f"nothing is left of it: {self.of('berlin')} {self.davit('status')}\n"
                           f"{(self.folder / 'clusters.log').read_text(encoding='utf-8')[-2000:]}",
                   lambda: not self.of("berlin") and self.regions() == ["madrid", "management"], SECONDS)
        self.assertEqual([o["id"] for o in json.loads(self.davit("get", "deployment", "-o", "json"))],
                         ["d_web_madrid"])
        self.assertEqual({o["region"] for o in self.status()["objects"]}, {"madrid", "management"})
        self.assertEqual(self.of("madrid"), madrid)
        # Ctrl-C.
        self.demo.process.send_signal(signal.SIGINT)
        self.assertEqual(self.demo.process.wait(SECONDS), 0, self.demo.tail())
        wait_until(lambda: f"no process is left: {self.processes()}", lambda: not self.processes())


if __name__ == "__main__":
    unittest.main(verbosity=2)
