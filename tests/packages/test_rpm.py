"""The rpms: installed by rpm into an empty root, their files are those of the debs, and their scriptlets run.

Debian's rpm knows nothing of what Debian's packages offer, so the dependencies are read and not resolved. An installation
on a distribution of rpm is not tested: none is to be had here.
"""

import re
import subprocess
import unittest

from roots import PACKAGES, Root, all_debs, deb, memory, sh

# Each packaging has these in its own place, or alone.
OWN = re.compile(r"^/usr/share/doc/davit[^/]*/(changelog|copyright|NEWS)|^/usr/share/doc/davit[^/]*$|^/usr/share/(doc|licenses)/davit[^/]*/"
                 r"(LICENSE|CHANGELOG.md)$|^/usr/share/licenses|^/usr/share/lintian|^/usr/lib/rpm/|^/usr/share/perl5/|/dh_davit|"
                 r"^/usr/lib/[.]build-id")


def rpms():
    return sorted(PACKAGES.glob("*.rpm"))


def normal(path):
    path = re.sub(r"^/usr/lib/[a-z0-9_]+-linux-gnu/", "/usr/lib64/", path)
    path = re.sub(r"^/(usr/)?lib/systemd/", "/usr/lib/systemd/", path)
    path = path.replace("/zsh/vendor-completions/", "/zsh/site-functions/")
    return re.sub(r"^(/usr/share/man/.*)\.gz$", r"\1", path)


def of_deb(package):
    folder = memory() / f"files-{package.name}"
    sh("dpkg-deb", "-x", package, folder)
    return {normal(f"/{p.relative_to(folder)}") for p in folder.rglob("*") if p.is_symlink() or not p.is_dir()
            or not any(p.iterdir())}


def of_rpm(package):
    text = subprocess.run(["rpm", "-qp", "--qf", "[%{FILEMODES:perms} %{FILENAMES}\n]", package], check=True, text=True,
                          capture_output=True).stdout
    return {normal(line.split(" ", 1)[1]) for line in text.splitlines() if not line.startswith("d") or line.endswith(".conf.d")}


def rpm(root, *argv, check=True):
    done = subprocess.run(["rpm", "--root", root.path, "--define", "_dbpath /var/lib/rpm", *map(str, argv)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if check and done.returncode != 0:
        raise AssertionError(done.stdout)
    return done.stdout


class Rpm(unittest.TestCase):
    def test_the_files_are_those_of_the_debs(self):
        names = [subprocess.run(["rpm", "-qp", "--qf", "%{NAME}", p], check=True, text=True, capture_output=True).stdout
                 for p in rpms()]
        self.assertEqual(sorted(names), sorted(p.name.split("_")[0] for p in all_debs()))
        for name, package in zip(names, rpms()):
            with self.subTest(name):
                theirs = {f for f in of_rpm(package) if not OWN.search(f)}
                ours = {f for f in of_deb(deb(name)) if not OWN.search(f)}
                self.assertGreater(len(ours), 0)
                self.assertEqual(theirs ^ ours, set())

    def test_configuration_is_kept(self):
        listed = subprocess.run(["rpm", "-qpc", *rpms()], check=True, text=True, capture_output=True).stdout.split()
        self.assertEqual(sorted(listed), [f"/etc/davit/{n}.toml" for n in ("agent", "clusters", "federation", "postgres", "server")])

    def test_it_installs_into_an_empty_root_and_its_scriptlets_run(self):
        root = Root()
        self.addCleanup(root.close)
        root.file("/var/lib/rpm").mkdir(parents=True)
        rpm(root, "--initdb")
        said = rpm(root, "-i", "--nodeps", *rpms())
        self.assertNotIn("failed", said)
        self.assertIn("davit:", root.file("/etc/passwd").read_text(encoding="utf-8"))
        self.assertEqual(root.file("/etc/davit/credentials").stat().st_mode & 0o777, 0o700)
        verified = [line for line in rpm(root, "-Va", "--nodeps", check=False).splitlines() if "/etc/davit" not in line]
        self.assertEqual(verified, [])
        # The program and its plugins find each other below lib64, too.
        self.assertRegex(root.run("davit", "plugin", "list").stdout, r"(?m)^storage_sqlite ")
        edited = root.file("/etc/davit/server.toml")
        edited.write_text(edited.read_text(encoding="utf-8") + "# ours\n", encoding="utf-8")
        root.file("/var/lib/davit/main").mkdir(parents=True)
        names = rpm(root, "-qa").split()
        said = rpm(root, "-e", "--nodeps", *names)
        self.assertIn("/var/lib/davit stays", said)
        self.assertTrue(root.file("/etc/davit/server.toml.rpmsave").exists())
        self.assertFalse(root.file("/usr/bin/davit").exists())


if __name__ == "__main__":
    unittest.main()
