"""A machine's life with the packages: install, configure, start, apply, upgrade and downgrade while an agent is connected,
remove, purge; and what stands in the way of it."""

import re
import sqlite3
import unittest

from roots import HERE, SERVER, deb, memory, repack
from units import Machine, Writer, deployment, server_and_agent

BEFORE, NOW_MARK = "0.0.9", "a line of the version before"


def version_before(names=SERVER):
    """The same packages as an earlier version: only the number, and a line of a conffile, are others."""
    folder = memory() / "before"
    if not folder.exists():
        for name in names:
            repack(deb(name), folder, age)
    return [deb(name, folder) for name in names]


def age(folder):
    control = folder / "DEBIAN/control"
    text = control.read_text(encoding="utf-8")
    version = re.search(r"^Version: (.*)$", text, re.M)[1]
    control.write_text(text.replace(f"Version: {version}", f"Version: {BEFORE}").replace(
        f"davit (= {version})", f"davit (= {BEFORE})"), encoding="utf-8")
    toml = folder / "etc/davit/server.toml"
    if toml.exists():
        toml.write_text(toml.read_text(encoding="utf-8") + f"# {NOW_MARK}\n", encoding="utf-8")


def later(folder):
    control = folder / "DEBIAN/control"
    control.write_text(re.sub(r"^Version: (.*)$", r"Version: \1+later", control.read_text(encoding="utf-8"), flags=re.M),
                       encoding="utf-8")


class Life(unittest.TestCase):
    def machine(self, **options):
        machine = Machine(**options)
        self.addCleanup(machine.close)
        return machine

    def both(self, debs=None, **options):
        machine = server_and_agent(debs, **options)
        self.addCleanup(machine.close)
        return machine

    def test_nothing_starts_by_being_installed(self):
        machine = self.machine()
        before = set(machine.files("/etc", "/var/lib"))
        machine.install([deb(n) for n in SERVER])
        self.assertEqual(machine.active(), [])
        for unit in ("davit-server.service", "davit-agent.service", "davit-server.socket"):
            self.assertEqual(machine.systemctl("is-enabled", unit, check=False).stdout.strip(), "disabled")
        self.assertIn("davit:", machine.file("/etc/passwd").read_text(encoding="utf-8"))
        self.assertFalse([f for f in machine.files("/etc/systemd") if "davit" in f and ".wants/" in f])
        new = set(machine.files("/etc", "/var/lib")) - before
        known = r"^etc/davit|^var/lib/(dpkg|apt|systemd|davit$)|davit.*systemd|^etc/(passwd|group|g?shadow|subuid|subgid)"
        self.assertEqual([f for f in new if not re.search(known, f)], [])

    def test_two_commands_of_the_readme_make_a_running_server(self):
        machine = self.machine()
        text = (HERE.parents[1] / "packaging/README.md").read_text(encoding="utf-8")
        apt, rest = re.search(r"```\n(apt install .*)\n(.*)\n```", text).groups()
        self.assertEqual(re.findall(r"\./(\S+?)_", apt), list(SERVER))
        machine.install([deb(n) for n in SERVER])
        machine.run("sh", "-ec", rest)
        machine.wait_serving()
        self.assertEqual(machine.systemctl("is-enabled", "davit-server").stdout.strip(), "enabled")

    def test_server_and_agent_work_as_installed(self):
        machine = self.both()
        machine.apply(deployment(1))
        machine.wait_running("d_1")
        self.assertIn("davit 0.", machine.davit("status").stdout)
        # Their user is davit, and what they wrote is theirs alone.
        self.assertEqual(machine.run("stat", "-c", "%U %a", "/var/lib/davit").stdout, "davit 700\n")
        self.assertEqual(machine.run("stat", "-c", "%U %a", "/etc/davit/credentials").stdout, "root 700\n")
        completed = machine.run("bash", "-c", ". /usr/share/bash-completion/completions/davit; COMP_WORDS=(davit sta); "
                                "COMP_CWORD=1; _davit; echo ${COMPREPLY[@]}")
        self.assertEqual(completed.stdout, "status\n")

    def test_an_upgrade_restarts_once_and_loses_no_change(self):
        machine = self.both(version_before())
        machine.apply(deployment("first"))
        machine.wait_running("d_first")
        writer = Writer(machine)
        self.addCleanup(writer.end)
        self.assertEqual([machine.starts(unit) for unit in ("server", "agent")], [1, 1])
        machine.install([deb(n) for n in SERVER])
        writer.end()
        self.assertEqual(writer.failed, [])
        self.assertGreater(len(writer.written), 0)
        # Host and plugins are of one run of dpkg.
        self.assertEqual([machine.starts(unit) for unit in ("server", "agent")], [2, 2])
        machine.wait_serving()
        machine.apply(deployment("last"))
        machine.wait_running("d_first", *writer.written, "d_last")
        # Back again: the same state.
        machine.install(version_before(), "--allow-downgrades")
        machine.wait_serving()
        machine.apply(deployment("older"))
        machine.wait_running("d_first", *writer.written, "d_last", "d_older")

    def test_a_new_plugin_alone_restarts_what_runs(self):
        machine = self.both([*[deb(n) for n in SERVER], deb("davit-plugin-kubernetes")])
        machine.wait_running()
        folder = memory() / "plugin-of-later"
        repack(deb("davit-plugin-kubernetes"), folder, later)
        machine.install([deb("davit-plugin-kubernetes", folder)])
        self.assertEqual([machine.starts(unit) for unit in ("server", "agent")], [2, 2])
        machine.wait_serving()

    def test_what_does_not_run_is_not_started_by_an_upgrade(self):
        machine = self.machine()
        machine.install(version_before())
        machine.install([deb(n) for n in SERVER])
        self.assertEqual(machine.active(), [])

    def test_a_conffile_of_the_operator_survives(self):
        machine = self.machine()
        machine.install(version_before())
        path = machine.file("/etc/davit/server.toml")
        edited = path.read_text(encoding="utf-8").replace('#log_level = "info"', 'log_level = "debug"')
        path.write_text(edited, encoding="utf-8")
        site = machine.file("/etc/davit/server.conf.d/10-site.toml")
        site.write_text("[host]\n", encoding="utf-8")
        untouched = machine.file("/etc/davit/agent.toml").read_text(encoding="utf-8")
        machine.install([deb(n) for n in SERVER], "-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold")
        self.assertEqual(path.read_text(encoding="utf-8"), edited)
        self.assertNotIn(NOW_MARK, machine.file("/etc/davit/server.toml.dpkg-dist").read_text(encoding="utf-8"))
        self.assertEqual(site.read_text(encoding="utf-8"), "[host]\n")
        self.assertEqual(machine.file("/etc/davit/agent.toml").read_text(encoding="utf-8"), untouched)

    def test_remove_keeps_data_and_purge_names_what_stays(self):
        machine = self.both()
        machine.apply(deployment(1))
        machine.wait_running("d_1")
        machine.run("apt-get", "remove", "-y", "-q", *SERVER)
        self.assertEqual(machine.active(), [])
        self.assertTrue(machine.file("/var/lib/davit/main/davit.db").exists())
        self.assertTrue(machine.file("/etc/davit/server.toml").exists())
        self.assertFalse(machine.file("/usr/bin/davit").exists())
        # Installed again, it goes on where it was.
        machine.install([deb(n) for n in SERVER])
        machine.start("server")
        machine.wait_serving()
        self.assertIn("d_1", machine.davit("get", "deployment").stdout)
        purged = machine.run("apt-get", "purge", "-y", "-q", *SERVER, input="").stdout
        self.assertIn("/var/lib/davit stays", purged)
        self.assertIn("/etc/davit stays", purged)
        self.assertTrue(machine.file("/var/lib/davit/main/davit.db").exists())
        left = [f for f in machine.files("/etc", "/usr", "/lib/systemd", "/var/lib/systemd", "/var/lib/dpkg/info") if "davit" in f]
        self.assertEqual(left, ["etc/davit", "etc/davit/agent.conf.d", "etc/davit/agent.conf.d/10-site.toml",
                                "etc/davit/credentials", "etc/davit/credentials/agent.token",
                                "etc/davit/server.conf.d", "etc/davit/server.conf.d/10-site.toml"])

    def test_purge_of_what_was_never_used_leaves_nothing(self):
        machine = self.machine()
        machine.install([deb(n) for n in SERVER])
        purged = machine.run("apt-get", "purge", "-y", "-q", *SERVER, input="").stdout
        self.assertNotIn("stays", purged)
        self.assertEqual([f for f in machine.files("/etc", "/usr", "/lib/systemd", "/var/lib/systemd", "/var/lib/dpkg/info")
                          if "davit" in f], [])

    def test_every_package_installs_and_its_plugins_are_loaded(self):
        machine = self.machine()
        machine.install([deb(n) for n in (*SERVER, "davit-plugin-kubernetes", "davit-plugin-postgres",
                                          "davit-plugin-federation", "davit-plugin-clusters")])
        listed = machine.davit("plugin", "list").stdout
        plugins = [p.stem for p in machine.file("/usr/lib").glob("*/davit/plugins/*.so")]
        self.assertGreater(len(plugins), 20)
        for plugin in plugins:
            self.assertRegex(listed, rf"(?m)^{plugin} ")


class Trouble(unittest.TestCase):
    def machine(self, **options):
        machine = Machine(**options)
        self.addCleanup(machine.close)
        return machine

    def test_a_full_disk_while_configuring_is_said_and_mended(self):
        machine = self.machine(size="48m")
        names = machine.take([deb(n) for n in SERVER])
        machine.run("dpkg", "--unpack", *names)
        # The disk is full when the user is to be made.
        ballast = machine.file("/ballast")
        with open(ballast, "wb", buffering=0) as file, self.assertRaises(OSError):
            while True:
                file.write(bytes(4096))
        failed = machine.run("dpkg", "--configure", "davit", check=False)
        self.assertNotEqual(failed.returncode, 0)
        self.assertRegex(failed.stdout, r"No space left on device")
        ballast.unlink()
        machine.run("dpkg", "--configure", "-a")
        self.assertIn("davit:", machine.file("/etc/passwd").read_text(encoding="utf-8"))
        self.assertEqual(machine.run("dpkg-query", "-W", "-f", "${db:Status-Abbrev}", "davit").stdout, "ii ")
        self.assertEqual(machine.file("/etc/davit/credentials").stat().st_mode & 0o777, 0o700)

    def test_a_user_that_cannot_be_made_is_one_line_that_says_how_to_go_on(self):
        machine = self.machine()
        names = machine.take([deb(n) for n in SERVER])
        machine.run("dpkg", "--unpack", *names)
        machine.file("/etc/passwd").rename(machine.file("/etc/passwd.away"))
        machine.file("/etc/passwd").mkdir()
        failed = machine.run("dpkg", "--configure", "davit", check=False)
        self.assertNotEqual(failed.returncode, 0)
        self.assertRegex(failed.stdout, r"(?m)^davit: the system user davit could not be made .*dpkg --configure -a$")
        machine.file("/etc/passwd").rmdir()
        machine.file("/etc/passwd.away").rename(machine.file("/etc/passwd"))
        machine.run("dpkg", "--configure", "-a")
        self.assertIn("davit:", machine.file("/etc/passwd").read_text(encoding="utf-8"))

    def test_a_server_refuses_a_database_of_a_later_version(self):
        machine = self.machine()
        machine.install([deb(n) for n in SERVER])
        machine.configure("server")
        machine.start("server")
        machine.wait_serving()
        machine.davit("apply", "-f", "-", input=deployment(1))
        machine.systemctl("stop", "davit-server.service")
        path = machine.file("/var/lib/davit/main/davit.db")
        with sqlite3.connect(path) as database:
            version = database.execute("PRAGMA user_version").fetchone()[0]
            database.execute(f"PRAGMA user_version = {version + 1}")
        database.close()
        content = path.read_bytes()
        self.assertNotEqual(machine.systemctl("start", "davit-server.service", check=False).returncode, 0)
        self.assertRegex(machine.log("server"), rf"has schema {version + 1}, newer than")
        self.assertEqual(path.read_bytes(), content)

    def test_a_package_of_another_abi_is_refused_by_dpkg(self):
        machine = self.machine()
        machine.install([deb("davit")])
        for need in ("davit-abi-1 (>= 1.99)", "davit-abi-2 (>= 2.0)"):
            folder = memory() / f"abi-{need[10]}-{need[-3:-1]}"
            repack(deb("davit-plugin-kubernetes"), folder, lambda tree, need=need: demand(tree, need))
            refused = machine.run("dpkg", "-i", *machine.take([deb("davit-plugin-kubernetes", folder)]), check=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(f"davit-plugin-kubernetes depends on {need}", refused.stdout)
            machine.run("dpkg", "--purge", "davit-plugin-kubernetes")

    def test_an_older_host_is_refused_while_a_plugin_needs_the_newer(self):
        machine = self.machine()
        machine.install([deb(n) for n in (*SERVER, "davit-plugin-kubernetes")])
        folder = memory() / "older-host"
        repack(deb("davit"), folder, lambda tree: older_host(tree))
        refused = machine.run("apt-get", "install", "-y", "-q", "--allow-downgrades", "--no-remove",
                              *machine.take([deb("davit", folder)]), check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertTrue(machine.davit("plugin", "list").stdout)


def demand(tree, need):
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"davit-abi-\d+ \([^)]*\)", need, control.read_text(encoding="utf-8")), encoding="utf-8")


def older_host(tree):
    control = tree / "DEBIAN/control"
    text = re.sub(r"^Version: .*$", f"Version: {BEFORE}", control.read_text(encoding="utf-8"), flags=re.M)
    control.write_text(re.sub(r"^Provides: .*$", "Provides: davit-abi-1 (= 0.9)", text, flags=re.M), encoding="utf-8")


if __name__ == "__main__":
    unittest.main()
