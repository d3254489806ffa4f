"""The units, by systemd itself: readiness, watchdog, reload, credentials, sockets, journal, and what is said when
something is missing."""

import json
import socket
import threading
import unittest

from roots import SERVER, deb, wait_until
from units import TOKENS, Machine, deployment, server_and_agent

SERVER_UNIT, AGENT_UNIT = "davit-server.service", "davit-agent.service"


class Units(unittest.TestCase):
    def setUp(self):
        self.m = server_and_agent()
        self.addCleanup(self.m.close)

    def pid(self, unit=SERVER_UNIT):
        return int(self.m.show(unit, "MainPID"))

    def wait_restarted(self, before, unit=SERVER_UNIT):
        wait_until(lambda: f"{unit} starts again: {self.m.journal(unit)}", lambda: self.pid(unit) not in (0, before))
        self.m.wait_serving()

    def test_both_serve_in_their_sandbox(self):
        self.m.apply(deployment(1))
        self.m.wait_running("d_1")
        for unit in (SERVER_UNIT, AGENT_UNIT):
            self.assertEqual(self.m.show(unit, "ActiveState"), "active")
            status = self.m.run("cat", f"/proc/{self.pid(unit)}/status").stdout
            self.assertRegex(status, r"(?m)^NoNewPrivs:\s+1$")
            self.assertRegex(status, r"(?m)^Seccomp:\s+2$")
            self.assertRegex(status, r"(?m)^CapBnd:\s+0+$")
            self.assertRegex(self.m.journal(unit), r"ready")
        # What their user must not do there: neither write nor run programs.
        for path in ("/usr/x", "/etc/davit/x", "/boot/x"):
            refused = self.m.run("touch", f"/proc/{self.pid()}/root{path}", check=False)
            self.assertIn("Read-only file system", refused.stdout)
        refused = self.m.run("nsenter", "--target", str(self.pid()), "--mount", "--", "true", check=False)
        self.assertIn("Permission denied", refused.stdout)

    def test_a_kill_is_followed_by_a_start(self):
        self.m.apply(deployment(1))
        before = self.pid()
        self.m.systemctl("kill", "--kill-whom=main", "--signal=KILL", SERVER_UNIT)
        self.wait_restarted(before)
        self.assertIn("d_1", self.m.davit("get", "deployment").stdout)

    def test_a_server_that_hangs_is_ended_by_the_watchdog(self):
        self.m.write(f"/etc/systemd/system/{SERVER_UNIT}.d/watchdog.conf", "[Service]\nWatchdogSec=10\n")
        self.m.systemctl("daemon-reload")
        self.m.systemctl("restart", SERVER_UNIT)
        self.m.wait_serving()
        before = self.pid()
        self.m.systemctl("kill", "--kill-whom=main", "--signal=STOP", SERVER_UNIT)
        self.wait_restarted(before)
        self.assertIn("Watchdog timeout", self.m.journal(SERVER_UNIT))

    def test_reload_takes_tokens_in_and_refuses_faults(self):
        before = self.pid()
        self.m.write("/etc/davit/server.conf.d/20-level.toml", '[host]\nlog_level = "debug"\n')
        self.m.systemctl("reload", SERVER_UNIT)
        wait_until(lambda: self.m.journal(SERVER_UNIT),
                   lambda: "configuration read again" in self.m.journal(SERVER_UNIT))
        self.m.write("/etc/davit/server.conf.d/20-level.toml", '[host]\nlog_levle = "debug"\n')
        self.assertNotEqual(self.m.systemctl("reload", SERVER_UNIT, check=False).returncode, 0)
        self.assertRegex(self.m.journal(SERVER_UNIT), r"20-level\.toml:2: .*log_levle")
        self.assertEqual((self.m.show(SERVER_UNIT, "ActiveState"), self.pid()), ("active", before))
        self.m.wait_serving()

    def test_the_journal_has_priorities_and_fields(self):
        lines = [json.loads(line) for line in self.m.journal(SERVER_UNIT, "--output=json").splitlines()]
        ready = [line for line in lines if line.get("MESSAGE", "").startswith("host: ready")]
        self.assertEqual([line["PRIORITY"] for line in ready], ["6"])
        self.assertEqual(ready[0]["SYSLOG_IDENTIFIER"], "davit")
        self.assertEqual(ready[0]["DAVIT_INSTANCE"], "host")
        self.m.systemctl("stop", SERVER_UNIT)
        wait_until(lambda: self.m.journal(AGENT_UNIT),
                   lambda: self.m.journal(AGENT_UNIT, "--priority=warning", "DAVIT_INSTANCE=watcher").count("\n") > 1)


class Sockets(unittest.TestCase):
    def test_a_restart_refuses_nobody(self):
        m = Machine()
        self.addCleanup(m.close)
        m.install([deb(n) for n in SERVER])
        m.configure("server", "agent")
        m.systemctl("enable", "--now", "davit-server.socket")
        self.assertEqual(m.active(), ["davit-server.socket"])
        # The first caller starts the server.
        m.davit("status")
        m.start("agent")
        m.apply(deployment(1))
        m.wait_running("d_1")
        callers = Callers(m)
        self.addCleanup(callers.end)
        for number in range(2, 5):
            m.systemctl("restart", SERVER_UNIT)
            m.apply(deployment(number))
        callers.end()
        self.assertEqual(callers.failed, [])
        self.assertGreater(callers.answered, 10)
        m.wait_running("d_1", "d_2", "d_3", "d_4")


class Callers:
    """Connects to the server's port again and again: in the machine's network, from this process."""

    def __init__(self, machine):
        self.answered, self.failed = 0, []
        self._end = threading.Event()
        self._net = open(f"/proc/{machine.leader}/ns/net", "rb")
        self._thread = threading.Thread(target=self._connect)
        self._thread.start()

    def _connect(self):
        import ctypes  # setns is of the thread
        if ctypes.CDLL(None, use_errno=True).setns(self._net.fileno(), 0) != 0:
            self.failed.append("setns")
            return
        while not self._end.is_set():
            try:
                with socket.create_connection(("127.0.0.1", 7070), timeout=60):
                    self.answered += 1
            except OSError as error:
                self.failed.append(str(error))
            self._end.wait(0.01)

    def end(self):
        self._end.set()
        self._thread.join()
        self._net.close()


class Missing(unittest.TestCase):
    def setUp(self):
        self.m = Machine()
        self.addCleanup(self.m.close)
        self.m.install([deb(n) for n in SERVER])

    def failed(self, unit, code):
        """Starts it, which must fail without another attempt; returns what it said."""
        self.assertNotEqual(self.m.systemctl("start", unit, check=False).returncode, 0)
        self.assertEqual((self.m.show(unit, "ExecMainStatus"), self.m.show(unit, "NRestarts")), (str(code), "0"))
        self.assertEqual(self.m.show(unit, "ActiveState"), "failed")
        said = self.m.journal(unit, "--output=cat", "SYSLOG_IDENTIFIER=davit").splitlines()
        return [line for line in said if not line.startswith("--")]

    def test_no_configuration_is_one_line_that_says_what_to_write(self):
        said = self.failed("davit@edge.service", 78)
        self.assertEqual(len(said), 1, said)
        self.assertIn("/etc/davit/edge.toml", said[0])

    def test_an_agent_as_shipped_says_what_to_write(self):
        said = self.failed(AGENT_UNIT, 78)
        self.assertEqual(len(said), 1, said)
        self.assertRegex(said[0], r"agent\.toml:\d+: .*token")

    def test_a_missing_credential_is_named_with_its_place(self):
        self.m.configure("server")
        self.m.file("/etc/davit/credentials/agent.token").unlink()
        said = "\n".join(self.failed(SERVER_UNIT, 2))
        self.assertRegex(said, r'there is no credential "agent\.token": put it into /etc/davit/credentials/agent\.token')

    def test_a_port_in_use_is_said(self):
        self.m.configure("server")
        self.m.systemctl("start", SERVER_UNIT)
        self.m.wait_serving()
        self.m.write("/etc/davit/second.toml", self.m.file("/etc/davit/server.toml").read_text(encoding="utf-8"))
        self.m.write("/etc/davit/second.conf.d/10-site.toml", TOKENS + '[host]\nstate_dir = "/var/lib/davit/second"\n'
                     '[rpc.server.operator]\nlisten = "unix:/run/davit/second.sock"\n')
        said = "\n".join(self.failed("davit@second.service", 2))
        self.assertRegex(said, r"0\.0\.0\.0:7070.*[Aa]ddress already in use")

    def test_a_configuration_with_a_fault_names_file_and_line(self):
        self.m.configure("server")
        self.m.write("/etc/davit/server.conf.d/20-typo.toml", "[plugin.main]\nbusy_timeout = 5\n")
        said = "\n".join(self.failed(SERVER_UNIT, 2))
        self.assertRegex(said, r"20-typo\.toml:2: .*busy_timeout")


class Ready(unittest.TestCase):
    def test_start_to_ready_is_measured(self):
        m = server_and_agent()
        self.addCleanup(m.close)
        times = []
        for _ in range(5):
            m.systemctl("restart", SERVER_UNIT)
            begin, end = (int(m.show(SERVER_UNIT, f"{name}Monotonic")) for name in
                          ("ExecMainStartTimestamp", "ActiveEnterTimestamp"))
            times.append((end - begin) / 1000)
        self.assertEqual(m.show(SERVER_UNIT, "ActiveState"), "active")
        print(f"from exec to ready, a server with SQLite under its unit, in ms: {sorted(times)}")


if __name__ == "__main__":
    unittest.main()
