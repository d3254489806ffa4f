"""What the packages are made of: linters, hardening, sizes, dependencies, and that each file has its place."""

import os
import re
import subprocess
import unittest
from pathlib import Path

from roots import HERE, PACKAGES, all_debs, deb, memory, sh

REPOSITORY = HERE.parents[1]
NAMES = ["davit", "davit-plugin-clusters", "davit-plugin-federation", "davit-plugin-kubernetes", "davit-plugin-postgres",
         "davit-plugins-core", "davit-sdk-dev"]
INSTALLED_MIB_MAX = 12  # host and core plugins, without debug symbols
HARDENED = {"Position Independent Executable", "Read-only relocations", "Immediate binding"}


def output(*argv):
    return subprocess.run([str(a) for a in argv], check=True, text=True, capture_output=True).stdout


def field(package, name):
    return output("dpkg-deb", "-f", package, name).strip()


def contents(package):
    """(mode and owner, size, path) of each entry."""
    for line in output("dpkg-deb", "-c", package).splitlines():
        mode, owner, size, _, _, path = line.split(None, 5)
        yield f"{mode} {owner}", int(size), path.removeprefix(".").split(" -> ")[0]


class Contents(unittest.TestCase):
    def test_these_are_the_packages(self):
        self.assertEqual(sorted(field(p, "Package") for p in all_debs()), NAMES)

    def test_lintian_has_nothing_to_say(self):
        changes = next(PACKAGES.glob("*.changes"))
        found = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", "-EvIL", "+pedantic", changes],
                               text=True, capture_output=True, check=False)
        tags = [line for line in found.stdout.splitlines() if line[:2] in ("E:", "W:")]
        self.assertEqual(tags, [], found.stderr)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)

    def test_rpmlint_has_nothing_to_say(self):
        config = REPOSITORY / "packaging/rpm/rpmlint.toml"
        found = subprocess.run(["rpmlint", "--config", config, *sorted(PACKAGES.glob("*.rpm"))], text=True, capture_output=True,
                               check=False)
        self.assertRegex(found.stdout, r"\b0 errors, 0 warnings\b", found.stderr)

    def test_the_flags_of_every_compilation_harden(self):
        found = subprocess.run(["blhc", "--debian", "--all", "--arch=amd64", PACKAGES / "deb.log"], text=True, capture_output=True, check=False)
        self.assertEqual(found.stdout, "")
        self.assertEqual(found.returncode, 0, found.stderr)

    def test_every_program_and_plugin_is_hardened(self):
        seen = 0
        for package in all_debs():
            folder = memory() / f"hardened-{package.name}"
            sh("dpkg-deb", "-x", package, folder)
            for path in folder.rglob("*"):
                if path.is_symlink() or not path.is_file() or path.read_bytes()[:4] != b"\x7fELF":
                    continue
                seen += 1
                headers = output("readelf", "-W", "-h", "-l", "-d", path)
                with self.subTest(path.relative_to(folder)):
                    self.assertIn("GNU_RELRO", headers)
                    self.assertRegex(headers, r"BIND_NOW|FLAGS_1.*NOW")
                    self.assertRegex(headers, r"Type: +DYN")
                    self.assertRegex(headers, r"GNU_STACK.* RW +0x")
                    self.assertNotIn("TEXTREL", headers)
        self.assertGreater(seen, 25)

    def test_host_and_core_plugins_are_small(self):
        sizes = {name: sum(size for mode, size, _ in contents(deb(name)) if mode.startswith("-"))
                 for name in ("davit", "davit-plugins-core")}
        print(f"installed, in MiB: {', '.join(f'{n} {s / 2**20:.2f}' for n, s in sizes.items())}", flush=True)
        self.assertLess(sum(sizes.values()), INSTALLED_MIB_MAX * 2**20)

    def test_files_in_etc_are_conffiles_and_all_is_of_root(self):
        for package in all_debs():
            listed = set(output("dpkg-deb", "-I", package, "conffiles").split()) if "conffiles" in output(
                "dpkg-deb", "-I", package) else set()
            etc = set()
            for mode, _, path in contents(package):
                self.assertTrue(mode.endswith(" root/root"), path)
                self.assertNotRegex(mode, r"^[^l].......w|^...s|^......s", path)
                if path.startswith("/etc/") and mode.startswith("-"):
                    etc.add(path)
            self.assertEqual(etc, listed, package.name)

    def test_plugins_depend_on_the_abi_and_the_host_offers_it(self):
        header = (REPOSITORY / "sdk/include/davit/abi/core.h").read_text(encoding="utf-8")
        major, minor = (re.search(rf"#define DAVIT_ABI_{w} (\d+)", header)[1] for w in ("MAJOR", "MINOR"))
        self.assertEqual(field(deb("davit"), "Provides"), f"davit-abi-{major} (= {major}.{minor})")
        self.assertIn("davit-abi-1 (>= 1.0)", field(deb("davit-plugin-kubernetes"), "Depends"))
        self.assertIn("davit-abi-1 (>= 1.1)", field(deb("davit-plugin-clusters"), "Depends"))
        rpms = {name: next(PACKAGES.glob(f"{name}-[0-9]*.rpm")) for name in ("davit", "davit-plugin-clusters",
                                                                            "davit-plugin-kubernetes")}
        self.assertIn(f"davit-abi({major}) = {major}.{minor}", output("rpm", "-qp", "--provides", rpms["davit"]))
        self.assertIn("davit-abi(1) >= 1.1", output("rpm", "-qp", "--requires", rpms["davit-plugin-clusters"]))
        self.assertIn("davit-abi(1) >= 1.0", output("rpm", "-qp", "--requires", rpms["davit-plugin-kubernetes"]))

    def test_a_file_without_a_place_ends_the_build(self):
        tree = memory() / "split"
        (tree / "usr/lib/x/davit/plugins").mkdir(parents=True)
        (tree / "usr/share/davit").mkdir(parents=True)
        (tree / "usr/share/davit/new").touch()
        (tree / "usr/games").touch()
        found = subprocess.run([REPOSITORY / "packaging/split.py", "deb", tree, tree], text=True, capture_output=True, check=False)
        self.assertNotEqual(found.returncode, 0)
        self.assertIn("usr/games", found.stderr)
        self.assertNotIn("share/davit/new", found.stderr)

    def test_debug_symbols_are_packages_of_their_own(self):
        found = sorted(p.name.split("_")[0] for p in PACKAGES.glob("*-dbgsym_*.deb"))
        self.assertEqual(found, sorted(f"{n}-dbgsym" for n in NAMES))


if __name__ == "__main__":
    unittest.main()
