"""The frame of a test run (parts.sh): however a run ends, nothing that it has started is left running."""

import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PATIENCE_SECONDS = 30
# Starts a process that leaves the session of the run, and says which. Before its exec it has no mark of the run yet.
STRAY = ("setsid sleep 600 & until grep -qz ^DAVIT_TEST_RUN= /proc/$!/environ; do sleep 0.01; done; "
         "echo $! >stray; ")


def running(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_text(encoding="utf-8").startswith("sleep")
    except OSError:
        return False


class Parts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="davit-parts-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "tests").symlink_to(HERE)

    def start(self, script):
        environment = {k: v for k, v in os.environ.items() if k != "DAVIT_TEST_RUN"}
        process = subprocess.Popen(["bash", "-c", f". tests/parts.sh; begin_run build/results; {script}"], cwd=self.folder,
                                   env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self.addCleanup(process.stdout.close)
        return process

    def wait_for(self, condition, otherwise):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            self.assertLess(time.monotonic(), deadline, otherwise)
            time.sleep(0.02)

    def stray(self):
        path = self.folder / "stray"
        self.wait_for(lambda: path.exists() and path.read_text(encoding="utf-8").strip(), "the script has not begun")
        return int(path.read_text(encoding="utf-8"))

    def ends(self, script):
        process = self.start(script)
        output, _ = process.communicate(timeout=PATIENCE_SECONDS)
        return process.returncode, output

    def test_nothing_is_left_running_after_an_interrupt(self):
        """Ctrl-C reaches every process of the terminal's foreground group."""
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)):
            (self.folder / "stray").unlink(missing_ok=True)
            process = self.start(STRAY + "while :; do sleep 0.1; done")
            stray = self.stray()
            self.wait_for(lambda stray=stray: running(stray), "the stray process has not become `sleep`")
            os.killpg(process.pid, number)
            process.communicate(timeout=PATIENCE_SECONDS)
            self.assertEqual(process.returncode, code)
            self.assertFalse(running(stray))

    def test_what_a_test_leaves_running_is_a_failure_and_ends(self):
        code, output = self.ends(STRAY + "end_run")
        self.assertEqual(code, 1)
        self.assertIn("a test has left something running, which ends now:", output)
        self.assertIn("sleep 600", output)
        self.assertFalse(running(self.stray()))

    def test_a_second_run_in_the_same_folder_is_refused(self):
        first = self.start(STRAY + "while :; do sleep 0.1; done")
        self.stray()
        code, output = self.ends("end_run")
        self.assertEqual(code, 1)
        self.assertIn("another run of tests is under way in this folder", output)
        os.killpg(first.pid, signal.SIGTERM)
        first.communicate(timeout=PATIENCE_SECONDS)

    def test_a_disk_without_room_is_said_before_anything_begins(self):
        code, output = self.ends("need_space build 1000000000")
        self.assertEqual(code, 1)
        self.assertRegex(output, r"build: \d+ GiB are free there, 1000000000 are needed")

    def test_a_part_is_timed(self):
        self.ends("begin fuzzing; sleep 0.2; end_part")
        name, seconds = (self.folder / "build/results/parts.tsv").read_text(encoding="utf-8").split("\t")
        self.assertEqual(name, "fuzzing")
        self.assertGreaterEqual(float(seconds), 0.2)


if __name__ == "__main__":
    unittest.main()
