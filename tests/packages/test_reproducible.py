"""Two builds of one commit are bit-identical: another folder, time zone, language, umask, and one processor less. Without the
compile cache, so that the compiler itself is tested: it takes as long as two whole builds, so only in the long form."""

import hashlib
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from roots import HERE, LONG

REPOSITORY = HERE.parents[1]
FIRST = {"TZ": "UTC", "LANG": "C.UTF-8", "umask": "022"}
SECOND = {"TZ": "Pacific/Kiritimati", "LANG": "de_DE.UTF-8", "umask": "077", "DEB_BUILD_OPTIONS": "parallel=1"}


def build(folder, kinds, umask, **environment):
    """{name: sha256} of the packages that come out."""
    script = f'umask {umask}; exec "{REPOSITORY}/packaging/build.sh" {" ".join(kinds)}'
    subprocess.run(["bash", "-c", script], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "CCACHE_DISABLE": "1", "DAVIT_PACKAGES_DIR": str(folder), **environment})
    packages = [p for p in folder.iterdir() if p.suffix in (".deb", ".rpm")]
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in packages}


@unittest.skipUnless(LONG, "two whole builds: make packages-test")
class Reproducible(unittest.TestCase):
    def test_two_builds_are_bit_identical(self):
        kinds = os.environ.get("DAVIT_REPRODUCE", "deb rpm").split()
        with tempfile.TemporaryDirectory(dir=REPOSITORY / "build") as work:
            first = build(Path(work) / "a", kinds, **FIRST)
            second = build(Path(work) / "another-folder", kinds, **SECOND)
        self.assertGreater(len(first), 6 * len(kinds))
        self.assertEqual(first, second)


if __name__ == "__main__":
    unittest.main()
