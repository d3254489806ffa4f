"""A third party's package: the example storage of the SDK and projects of `davit plugin new`, built with debhelper against
davit-sdk-dev in a clean root, and installed on a machine that has never seen their sources."""

import shutil
import unittest

from roots import LONG, SERVER, Root, deb, memory
from units import Machine, deployment

EXAMPLE = "/usr/share/doc/davit-sdk-dev/examples/storage_log"
STORE = '[plugin.main]\nmodule = "storage_log"\npath = "/var/lib/davit/store.log"\n'


def build(root, edit=lambda source: None, tested=LONG):
    """The package."""
    root.run("rm", "-rf", "/work")
    root.run("cp", "-r", EXAMPLE, "/work")
    edit(root.file("/work"))
    build_package(root, "/work", tested)
    return deb("davit-storage-log", root.file("/"))


def build_package(root, folder, tested=LONG):
    """In the long form with davit-conformance, as a third party builds it."""
    options = "" if tested else "DEB_BUILD_OPTIONS=nocheck"
    root.run("sh", "-c", f"cd {folder} && {options} dpkg-buildpackage -b -us -uc")


def of_a_later_abi(source):
    """As a plugin whose SDK is newer than this host."""
    path = source / "CMakeLists.txt"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("ROLES storage/1", "ABI_MIN 1.99\n  ROLES storage/1") +
                    "target_compile_definitions(storage_log PRIVATE DAVIT_NOTE_OF_ANOTHER_SDK)\n", encoding="utf-8")


class ThirdParty(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        root = Root("build")
        try:
            root.install([deb("davit-sdk-dev")])
            cls.package = shutil.copy(build(root), memory())
            root.run("sh", "-c", "rm -f /*.deb")
            cls.later = shutil.copy(build(root, of_a_later_abi, tested=False), memory() / "later.deb")
        finally:
            root.close()

    def machine(self, *debs):
        machine = Machine()
        self.addCleanup(machine.close)
        machine.install(debs)
        return machine

    def test_it_is_a_store_by_one_file(self):
        machine = self.machine(*[deb(n) for n in SERVER], self.package)
        machine.configure("server")
        machine.write("/etc/davit/server.conf.d/20-store.toml", STORE)
        machine.start("server")
        machine.wait_serving()
        machine.apply(deployment(1))
        machine.systemctl("restart", "davit-server.service")
        machine.wait_serving()
        self.assertIn("d_1", machine.davit("get", "deployment").stdout)
        self.assertTrue(machine.file("/var/lib/davit/store.log").exists())
        self.assertFalse(machine.file("/var/lib/davit/main/davit.db").exists())

    def test_it_depends_on_the_abi_of_its_note(self):
        root = self.machine(*[deb(n) for n in SERVER], self.package)
        self.assertIn("davit-abi-1 (>= 1.0)", root.run("dpkg-query", "-W", "-f", "${Depends}", "davit-storage-log").stdout)
        gone = root.run("apt-get", "remove", "-y", "-q", "davit").stdout
        self.assertIn("davit-storage-log", gone)  # which is of no use without the host

    def test_one_of_a_later_abi_is_refused(self):
        machine = self.machine(*[deb(n) for n in SERVER])
        shutil.copy(self.later, machine.file("/packages/later.deb"))
        refused = machine.run("dpkg", "-i", "/packages/later.deb", check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("davit-storage-log depends on davit-abi-1 (>= 1.99)", refused.stdout)
        refused = machine.run("apt-get", "install", "-y", "-q", "/packages/later.deb", check=False)
        self.assertNotEqual(refused.returncode, 0)


class NewProjects(unittest.TestCase):
    def root(self, kind):
        root = Root(kind, size="4g")
        self.addCleanup(root.close)
        root.install([deb(n) for n in (*SERVER, "davit-plugin-kubernetes", "davit-sdk-dev")])
        return root

    def packaged(self, root, role, language):
        """The name of a new project, and its package."""
        name = f"{role}_of_{language.replace('++', 'pp')}"
        root.run("davit", "plugin", "new", name, "--role", role, "--lang", language, "--dir", f"/{name}")
        build_package(root, f"/{name}")
        root.run("rm", "-rf", f"/{name}")
        return name, deb(name.replace("_", "-"), root.file("/"))

    def test_each_makes_a_package_whose_plugin_is_loaded(self):
        """Of two that need nothing else of Debian, on a machine that has never seen their sources."""
        root, machine = self.root("build"), Machine()
        self.addCleanup(machine.close)
        machine.install([deb(n) for n in SERVER])
        for role, language in (("storage", "c++"), ("cluster", "c")):
            name, package = self.packaged(root, role, language)
            machine.install([package])
            self.assertRegex(machine.davit("plugin", "list").stdout, rf"(?m)^{name} ")

    @unittest.skipUnless(LONG, "in the long form")
    def test_those_of_every_role_and_language_do(self):
        root = self.root("projects")
        for role in ("actuator", "cluster", "kind", "storage"):
            for language in ("c", "c++", "rust"):
                name, package = self.packaged(root, role, language)
                root.install([package])
                self.assertRegex(root.run("davit", "plugin", "list").stdout, rf"(?m)^{name} ")


if __name__ == "__main__":
    unittest.main()
