"""What systemd does for Davit, without systemd as process 1: units, sockets that are passed, the journal, the sandbox.

DAVIT_UNITS: the folder of the units as they are installed.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import unittest
from pathlib import Path

import unit_sandbox
from parts import (AT_ONCE, DAVIT, REPOSITORY, STAGE, Case, Process, deployment, die_with_parent, free_port, get,
                   wait_until)

UNITS = Path(os.environ.get("DAVIT_UNITS", STAGE.parent / "packaging/systemd"))
SHIPPED = REPOSITORY / "packaging/systemd"
SERVICES = ("davit-server.service", "davit-agent.service", "davit@.service")
EXPOSURE_MAX = "15"            # tenths; of the shipped units
EXPOSURE_WITH_PROGRAMS = "20"  # with the drop-in for plugins that run programs


def run(*command, **options):
    return subprocess.run([str(c) for c in command], text=True, capture_output=True, timeout=120, check=False, **options)


@unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
class Units(Case):
    def installed(self):
        """A root with the units and the program where they look for it."""
        root = self.world.folder / "root"
        for folder in ("usr/bin", "etc", "usr/lib/systemd/system"):
            (root / folder).mkdir(parents=True)
        for unit in (*(UNITS / s for s in SERVICES), SHIPPED / "davit-server.socket"):
            shutil.copy(unit, root / "usr/lib/systemd/system")
        text = (UNITS / SERVICES[0]).read_text(encoding="utf-8")
        program = root / re.search(r"(?m)^ExecStart=/(\S+)", text)[1]
        program.parent.mkdir(parents=True, exist_ok=True)
        program.touch(0o755)
        for unit in ("network-online.target", "sysinit.target", "basic.target", "multi-user.target", "shutdown.target",
                     "sockets.target", "system.slice", "-.slice", "-.mount", "postgresql.service"):
            found = Path("/usr/lib/systemd/system") / unit
            if found.exists():
                shutil.copy(found, root / "usr/lib/systemd/system")
        return root

    def test_are_right(self):
        root = self.installed()
        for unit in ("davit-server.service", "davit-server.socket", "davit-agent.service", "davit@clusters.service"):
            done = run("systemd-analyze", "verify", "--man=no", f"--root={root}", unit)
            own = [line for line in (done.stdout + done.stderr).splitlines() if "davit" in line]
            self.assertEqual((done.returncode, own), (0, []), unit)

    def test_are_noticed_when_they_are_wrong(self):
        root = self.installed()
        with open(root / "usr/lib/systemd/system/davit-agent.service", "a", encoding="utf-8") as unit:
            unit.write("\n[Service]\nNoNewPrivilegs=yes\n")
        done = run("systemd-analyze", "verify", "--man=no", f"--root={root}", "davit-agent.service")
        self.assertIn("NoNewPrivilegs", done.stdout + done.stderr)

    def exposure(self, unit, threshold):
        done = run("systemd-analyze", "security", "--offline=true", f"--threshold={threshold}", unit)
        return done.returncode, re.findall(r"exposure level.*", done.stdout)

    def test_expose_little(self):
        for service in SERVICES:
            code, level = self.exposure(UNITS / service, EXPOSURE_MAX)
            self.assertEqual(code, 0, level)

    def test_expose_little_with_programs_of_plugins(self):
        files = self.world.write("a.toml", '[plugin.exec]\nmodule = "actuator_exec"\n')
        done = run(DAVIT, "check", "--sandbox", files)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertIn("ExecPaths=/usr /opt /var/lib/davit", lines)
        text = (UNITS / "davit@.service").read_text(encoding="utf-8")
        unit = self.world.write("davit-with-programs.service", text.replace("\n[Install]", "\n" + "\n".join(
            line for line in lines if not line.startswith("[")) + "\n[Install]"))
        code, level = self.exposure(unit, EXPOSURE_WITH_PROGRAMS)
        self.assertEqual(code, 0, level)

    def test_user_and_folders_are_made(self):
        root = self.world.folder / "made"
        (root / "etc").mkdir(parents=True)
        done = run("systemd-sysusers", f"--root={root}", SHIPPED / "davit.sysusers")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex((root / "etc/passwd").read_text(encoding="utf-8"), r"(?m)^davit:.*:/var/lib/davit:.*nologin$")
        done = run("systemd-tmpfiles", f"--root={root}", "--create", SHIPPED / "davit.tmpfiles")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((root / "etc/davit/credentials").stat().st_mode & 0o777, 0o700)


class SocketActivation(Case):
    """The test holds the sockets, as systemd does, and gives them to one process after the other."""

    def setUp(self):
        super().setUp()
        self.process = self.world.server()
        self.health = self.world.with_metrics(self.process)
        self.held = {"rpc.server.main": self.tcp(self.world.port), "davit-server.socket": self.unix(self.world.socket),
                     "host.metrics_listen": self.tcp(self.health)}

    def hold(self, family, address):
        held = socket.socket(family, socket.SOCK_STREAM)
        self.addCleanup(held.close)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(address)
        held.listen(4096)
        return held

    def tcp(self, port):
        return self.hold(socket.AF_INET, ("127.0.0.1", port))

    def unix(self, path):
        return self.hold(socket.AF_UNIX, str(path))

    def start(self):
        """In the forked child, so that LISTEN_PID is its own number, which exec keeps."""
        held = [s.fileno() for s in self.held.values()]

        def pass_on():
            die_with_parent()
            high = [os.dup2(fd, 200 + i, inheritable=False) for i, fd in enumerate(held)]
            for i, fd in enumerate(high):
                os.dup2(fd, 3 + i)
        env = {**os.environ, "LISTEN_FDS": str(len(held)), "LISTEN_FDNAMES": ":".join(self.held)}
        # The shell takes the number of the process, and becomes the program.
        command = ["sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", *map(str, self.process.argv)]
        with open(self.process.log, "ab") as out:
            self.process.process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=env,
                                                    preexec_fn=pass_on, close_fds=False)
        wait_until(lambda: self.process.tail(), lambda: "info  host      ready" in self.process.text()[self.read:])
        self.read = len(self.process.text())

    read = 0

    def test_a_restart_refuses_nobody(self):
        over, answered, refused = threading.Event(), [0], []

        def call():
            while not over.is_set():
                try:
                    with socket.create_connection(("127.0.0.1", self.world.port), 60) as caller:
                        caller.sendall(b"POST /grpc.health.v1.Health/Check HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
                                       b"content-type: application/json\r\ncontent-length: 2\r\n\r\n{}")
                        answered[0] += b"SERVING" in caller.makefile("rb").read()
                except ConnectionRefusedError as error:
                    refused.append(error)
                except OSError:
                    pass  # it was let in by the process that ended
        callers = [threading.Thread(target=call, daemon=True) for _ in range(4)]
        for caller in callers:
            caller.start()
        for _ in range(3):
            before = answered[0]
            self.start()
            self.world.wait_ready()  # at the operator's socket, which is found by its address
            wait_until("callers are answered", lambda at=before: answered[0] > at)
            self.assertIn("davit_info", get(self.health, "/metrics")[1])
            self.assertEqual(self.process.stop(), 0, self.process.tail())
            self.assertTrue(self.world.socket.exists(), "it belongs to the service manager")
        over.set()
        self.start()  # so that those who wait are answered
        for caller in callers:
            caller.join(60)
        self.assertEqual(refused, [])
        self.assertNotIn("no listener has the address", self.process.text())

    def test_a_caller_of_nobody_waits_for_the_next_process(self):
        with socket.create_connection(("127.0.0.1", self.health), 60) as caller:
            caller.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
            self.start()
            self.assertIn(b"200 OK", caller.makefile("rb").read())

    def test_programs_do_not_inherit_and_a_stray_socket_is_told(self):
        self.held["stray"] = self.tcp(free_port())
        self.start()
        self.assertIn(f"socket=\"127.0.0.1:{self.held['stray'].getsockname()[1]} (stray)\"", self.process.text())
        proc = Path(f"/proc/{self.process.process.pid}")
        flags = {}  # by what the descriptor is
        for link in (proc / "fd").iterdir():
            flags[os.readlink(link)] = int((proc / "fdinfo" / link.name).read_text(encoding="utf-8").split()[3], 8)
        for name, held in self.held.items():
            found = flags.get(f"socket:[{os.fstat(held.fileno()).st_ino}]", 0)
            self.assertEqual(bool(found & os.O_CLOEXEC), name != "stray", name)

    def test_as_systemd_passes_them(self):
        if not shutil.which("systemd-socket-activate"):
            self.skipTest("systemd-socket-activate is not installed")
        for held in self.held.values():
            held.close()
        self.world.socket.unlink()
        names = "--fdname=rpc.server.main:rpc.server.operator"
        activator = self.world.part(Process("activate", [
            "systemd-socket-activate", "-l", f"127.0.0.1:{self.world.port}", "-l", self.world.socket, names,
            *self.process.argv], self.world.folder)).start()
        wait_until("it listens", self.world.socket.exists)
        self.world.wait_ready(activator)
        self.assertIn(f"listening server=main address=127.0.0.1:{self.world.port}", activator.text())
        self.assertEqual(activator.stop(), 0)


@unittest.skipUnless(shutil.which("bwrap"), "bubblewrap is not installed")
class Journal(Case):
    def setUp(self):
        super().setUp()
        self.path = self.world.folder / "journal.socket"
        self.journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.journal.close)
        self.journal.bind(str(self.path))
        self.journal.settimeout(60)
        self.read, self.write = os.pipe()
        self.addCleanup(os.close, self.read)

    def start(self, *files, bind=True):
        stream = os.fstat(self.write)
        journal = ["--bind", self.path, "/run/systemd/journal/socket"] if bind else []
        command = ["bwrap", "--die-with-parent", "--dev-bind", "/", "/", "--tmpfs", "/run", *journal, DAVIT, "run",
                   *files]
        process = subprocess.Popen([str(c) for c in command], stderr=self.write, stdin=subprocess.DEVNULL,
                                   env={**os.environ, "JOURNAL_STREAM": f"{stream.st_dev}:{stream.st_ino}"},
                                   preexec_fn=die_with_parent)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        os.close(self.write)
        return process

    def entry(self, message):
        """The fields of the entry with this message."""
        while True:
            fields = dict(line.split("=", 1) for line in self.journal.recv(1 << 20).decode().splitlines())
            if message in fields["MESSAGE"]:
                return fields

    def server(self, more=""):
        return self.world.server(extra=more).argv[2:]

    def test_events_are_entries_with_fields(self):
        self.start(*self.server())
        listening = self.entry("listening server=main")
        self.assertEqual(listening, {
            "MESSAGE": f"rpc: listening server=main address=127.0.0.1:{self.world.port}", "PRIORITY": "6",
            "SYSLOG_IDENTIFIER": "davit", "DAVIT_INSTANCE": "rpc", "DAVIT_SERVER": "main",
            "DAVIT_ADDRESS": f"127.0.0.1:{self.world.port}"})
        self.assertEqual(self.entry("host: ready")["DAVIT_INSTANCE"], "host")

    def test_without_the_journals_socket_lines_have_their_priority(self):
        self.start(*self.server(), bind=False)
        with os.fdopen(os.dup(self.read), encoding="utf-8") as lines:
            line = next(line for line in lines if " host      starting " in line)
        self.assertRegex(line, r"^<6>\d{4}-")

    def test_lines_of_json_have_their_priority(self):
        self.start(*self.server(), self.world.write("json.toml", '[host]\nlog_format = "json"\n'))
        with os.fdopen(os.dup(self.read), encoding="utf-8") as lines:
            line = next(line for line in lines if '"starting"' in line)
        self.assertEqual(json.loads(line.removeprefix("<6>"))["instance"], "host")
        self.assertTrue(line.startswith("<6>"))

    def test_a_start_that_fails_is_an_error_there(self):
        self.start(self.world.folder / "absent.toml").wait(60)
        with os.fdopen(os.dup(self.read), encoding="utf-8") as lines:
            self.assertEqual(lines.read(), f"<3>{self.world.folder}/absent.toml: there is no such file: write the "
                                           "configuration into it\n")


@unittest.skipUnless(shutil.which("bwrap") and shutil.which("systemd-analyze"), "bubblewrap or systemd is not installed")
class Sandbox(Case):
    """Server and agent under the units' filter of system calls, as a user without rights."""

    def setUp(self):
        super().setUp()
        if not unit_sandbox.can_compile():
            self.skipTest("python3-seccomp is not installed")

    def confine(self, process, unit):
        rules = unit_sandbox.compiled(UNITS / unit)
        self.addCleanup(rules.close)
        process.argv = unit_sandbox.confined(rules, self.world.folder, process.argv)
        with open(process.log, "ab") as out:
            process.process = subprocess.Popen(process.argv, stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                                               pass_fds=[rules.fileno()], preexec_fn=die_with_parent)

    def test_a_record_goes_round(self):
        server = self.world.server()
        self.confine(server, "davit-server.service")
        self.world.wait_ready(server)
        agent = self.world.agent(extra=AT_ONCE)
        self.confine(agent, "davit-agent.service")
        self.world.apply([deployment(1, replicas=2)])
        self.world.wait_running({"d_1"})
        self.world.delete("deployment", "d_1")
        self.world.wait_gone()
        for process in (server, agent):
            child = Path(f"/proc/{process.process.pid}/task/{process.process.pid}/children").read_text(encoding="utf-8")
            os.kill(int(child), 15)
            self.assertEqual(process.process.wait(60), 0, process.tail())
            self.assertIn("info  host      stopped", process.text())
            self.assertNotIn("Operation not permitted", process.text())

    def test_the_filter_holds(self):
        """Without this the test above could pass under a filter that lets everything through."""
        rules = unit_sandbox.compiled(UNITS / "davit-agent.service")
        self.addCleanup(rules.close)
        tries = ("import ctypes, mmap, socket\nc = ctypes.CDLL(None, use_errno=True)\n"
                 "def said(f):\n    try:\n        f()\n    except OSError as e:\n        return e.errno\n"
                 "print(said(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)),\n"
                 "      said(lambda: mmap.mmap(-1, 4096, prot=7)), said(lambda: socket.socket()),\n"
                 "      c.unshare(0x20000000), c.mount(b'a', b'/', b'tmpfs', 0, None), ctypes.get_errno())\n")
        command = unit_sandbox.confined(rules, self.world.folder, [sys.executable, "-S", "-c", tries])
        done = run(*command, pass_fds=[rules.fileno()])
        self.assertEqual(done.stdout.split(), ["1", "1", "None", "-1", "-1", "1"], done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
