"""The ports of tests that run beside each other: no two of them are given the same one."""

import subprocess
import sys
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "kubernetes"
sys.path.insert(0, str(FOLDER))
import processes  # noqa: E402  (the folder is on the path only now)

# Of some 22,000: two processes that did not know of each other would hardly ever choose so many different ones.
MANY = 450
ANOTHER = f"import processes; print(*processes.free_ports({MANY}))"


def of_another_process():
    done = subprocess.run([sys.executable, "-c", ANOTHER], cwd=FOLDER, capture_output=True, text=True, check=True)
    return [int(port) for port in done.stdout.split()]


class Ports(unittest.TestCase):
    def tearDown(self):
        for name in processes.RESERVED.values():
            name.close()
        processes.RESERVED.clear()

    def test_no_two_processes_are_given_the_same(self):
        mine = processes.free_ports(MANY)
        others = of_another_process()
        self.assertEqual(len(set(mine)), MANY)
        self.assertEqual(len(set(others)), MANY)
        self.assertFalse(set(mine) & set(others))

    def test_what_an_ended_process_had_is_given_again(self):
        given = sum(map(processes.reserve, of_another_process()))
        self.assertGreater(given, MANY * 0.9)  # another test of the run may have drawn some meanwhile


if __name__ == "__main__":
    unittest.main()
