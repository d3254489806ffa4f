"""davit-seal as operators call it, davit with the keys that it makes, and the documented form beside libsodium itself."""

import base64
import ctypes
import ctypes.util
import os
import pty
import re
import signal
import stat
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

STAGE = Path(os.environ["DAVIT_STAGE"])
SEAL, DAVIT = STAGE / "bin/davit-seal", STAGE / "bin/davit"
REPOSITORY = Path(__file__).resolve().parents[3]
SECONDS = 60 * int(os.environ.get("DAVIT_PATIENCE", "1"))
DONE, FAILED, USAGE, REFUSED, NOT_FOUND = 0, 1, 2, 4, 5
PUBLIC = re.compile(rb"davitPublic/1/[A-Za-z0-9+/]{48}\n")
MIB = 1 << 20


class Case(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
        self.key = self.folder / "agent.key"

    def run_seal(self, *words, value=b"", **more):
        return subprocess.run([str(SEAL), *map(str, words)], input=value, capture_output=True, timeout=SECONDS, check=False,
                              cwd=self.folder, **more)

    def ok(self, *words, value=b""):
        """What it prints, when all is well."""
        done = self.run_seal(*words, value=value)
        self.assertEqual((done.returncode, done.stderr), (DONE, b""))
        return done.stdout

    def refused(self, code, said, *words, value=b""):
        """Nothing is printed, and the last line says what is wrong."""
        done = self.run_seal(*words, value=value)
        self.assertEqual((done.returncode, done.stdout), (code, b""), done.stderr)
        self.assertIn(said, done.stderr.decode())
        return done.stderr

    def keygen(self, *more):
        public = self.ok("keygen", "-o", self.key, *more)
        self.assertRegex(public, PUBLIC)
        return public.decode().strip()


class Keys(Case):
    def test_keygen_makes_a_file_for_its_user_alone(self):
        for umask in (0, 0o022, 0o077):
            key = self.folder / f"{umask}.key"
            done = self.run_seal("keygen", "-o", key, umask=umask)
            self.assertEqual((done.returncode, done.stderr), (DONE, b""))
            self.assertEqual(stat.S_IMODE(key.stat().st_mode), 0o600)
            self.assertRegex(done.stdout, PUBLIC)
            self.assertEqual(self.ok("public", key), done.stdout)
            self.assertNotIn(b"davitSecret", done.stdout)
            self.assertIn(b"# public key: " + done.stdout, key.read_bytes())
            self.assertRegex(key.read_bytes(), rb"\ndavitSecret/1/[A-Za-z0-9+/]{48}\n$")

    def test_keygen_replaces_nothing(self):
        self.keygen()
        before = self.key.read_bytes()
        self.refused(REFUSED, "agent.key: is there already: name another file, or use --add", "keygen", "-o", self.key)
        self.assertEqual(self.key.read_bytes(), before)
        (self.folder / "link").symlink_to("elsewhere")
        self.refused(REFUSED, "is there already", "keygen", "-o", "link")
        self.assertFalse((self.folder / "elsewhere").exists())

    def test_keygen_without_a_file_prints_it(self):
        done = self.run_seal("keygen")
        self.assertEqual(done.returncode, DONE)
        self.assertRegex(done.stderr, PUBLIC)
        self.assertIn(b"davitSecret/1/", done.stdout)
        self.key.write_bytes(done.stdout)
        self.key.chmod(0o600)
        self.assertEqual(self.ok("public", self.key), done.stderr)

    def test_keygen_into_a_file_that_others_read_is_doubted(self):
        with open(self.key, "wb") as out:
            self.key.chmod(0o644)
            done = subprocess.run([SEAL, "keygen"], stdout=out, stderr=subprocess.PIPE, check=False, timeout=SECONDS)
        self.assertEqual(done.returncode, DONE)
        self.assertIn(b"its mode 0644 lets others read or change it: chmod 600", done.stderr)

    def test_a_rotation_adds_the_newest(self):
        old = self.keygen()
        inode = self.key.stat().st_ino
        sealed = self.ok("encrypt", "--key", old, "--keyring", "prod", value=b"value")
        new = self.keygen("--add")
        self.assertEqual((self.key.stat().st_ino, stat.S_IMODE(self.key.stat().st_mode)), (inode, 0o600))
        self.assertEqual(self.ok("public", self.key).decode(), new + "\n")
        self.assertEqual(self.ok("public", "--all", self.key).decode(), f"{old}\n{new}\n")
        again = self.ok("reencrypt", "--key", self.key, value=sealed)
        for one in (sealed, again):
            self.assertEqual(self.ok("decrypt", "--key", self.key, "--keyring", "prod", value=one), b"value")
        # The old key goes.
        lines = self.key.read_text().splitlines(keepends=True)
        self.key.write_text("".join(lines[len(lines) // 2:]))
        self.assertEqual(self.ok("decrypt", "--key", self.key, "--keyring", "prod", value=again), b"value")
        self.refused(REFUSED, "sealed for another key", "decrypt", "--key", self.key, value=sealed)

    def test_a_key_is_added_to_key_files_alone(self):
        self.refused(NOT_FOUND, "agent.key: No such file or directory", "keygen", "-o", self.key, "--add")
        self.key.write_text("[host]\n")
        self.key.chmod(0o600)
        self.refused(REFUSED, "line 1: is no private key of davit-seal", "keygen", "-o", self.key, "--add")
        self.assertEqual(self.key.read_text(), "[host]\n")

    def test_a_last_line_without_an_end_is_ended_first(self):
        old = self.keygen()
        self.key.write_text(self.key.read_text().rstrip("\n"))
        new = self.keygen("--add")
        self.assertEqual(self.ok("public", "--all", self.key).decode(), f"{old}\n{new}\n")

    def test_a_full_file_takes_no_more(self):
        self.keygen()
        for _ in range(63):
            self.keygen("--add")
        self.refused(REFUSED, "agent.key: is full", "keygen", "-o", self.key, "--add")
        self.assertEqual(self.ok("public", "--all", self.key).count(b"\n"), 64)

    def test_a_file_that_others_may_read_is_refused(self):
        self.keygen()
        self.key.chmod(0o644)
        for words in (("public", self.key), ("decrypt", "--key", self.key), ("keygen", "-o", self.key, "--add")):
            self.refused(REFUSED, "agent.key: its mode 0644 lets others read or change it: chmod 600", *words)

    def test_keys_may_come_from_a_pipe(self):
        public = self.keygen()
        sealed = self.ok("encrypt", "--key", public, value=b"value")
        done = subprocess.run(["bash", "-c", f'"{SEAL}" decrypt --key <(cat "{self.key}")'], input=sealed, capture_output=True,
                              timeout=SECONDS, check=False)
        self.assertEqual((done.returncode, done.stdout), (DONE, b"value"))


class Values(Case):
    def setUp(self):
        super().setUp()
        self.public = self.keygen()

    def encrypt(self, value, *more):
        return self.run_seal("encrypt", "--key", self.public, *more, value=value)

    def decrypt(self, sealed, *more):
        return self.run_seal("decrypt", "--key", self.key, *more, value=sealed)

    def test_any_bytes_come_back(self):
        for value in (b"", b"x", b"\0\xff\n\n", os.urandom(MIB), os.urandom(16 * MIB)):
            sealed = self.encrypt(value, "--keyring", "prod")
            self.assertEqual(sealed.returncode, DONE)
            self.assertRegex(sealed.stdout, rb"\AdavitSeal/1/[A-Za-z0-9+/]*={0,2}\n\Z")
            back = self.decrypt(sealed.stdout, "--keyring", "prod")
            self.assertEqual((back.returncode, back.stdout, back.stderr), (DONE, value, b""))
            back = self.decrypt(base64.b64decode(sealed.stdout), "--keyring", "prod")
            self.assertEqual(back.stdout, value)

    def test_what_is_doubtful_about_a_value_is_said(self):
        for value, said in ((b"", "the value is empty"), (b"hunter2\n", "ends with a line end"), (b"\n", "ends with a line end"),
                            (b"x" * (MIB + 1), "more than 1 MiB"), (b"a\nb\n", ""), (b"x", "")):
            done = self.encrypt(value)
            self.assertEqual(done.returncode, DONE)
            self.assertIn(said, done.stderr.decode())
            self.assertEqual(bool(said), bool(done.stderr))
        trimmed = self.encrypt(b"hunter2\r\n\n", "--trim")
        self.assertEqual((trimmed.stderr, self.decrypt(trimmed.stdout).stdout), (b"", b"hunter2"))

    def test_input_without_end_is_refused(self):
        with open("/dev/zero", "rb") as endless:
            done = subprocess.run([SEAL, "encrypt", "--key", self.public], stdin=endless, capture_output=True, timeout=SECONDS,
                                  check=False)
        self.assertEqual((done.returncode, done.stdout), (REFUSED, b""))
        self.assertIn(b"standard input has more than 16777216 bytes", done.stderr)

    def test_what_it_is_for_is_checked_and_shown(self):
        sealed = self.encrypt(b"value", "--keyring", "prod", "--ref", "web/tls").stdout
        self.assertEqual(self.decrypt(sealed, "--keyring", "prod", "--ref", "web/tls").stdout, b"value")
        shown = self.decrypt(sealed)
        self.assertEqual((shown.stdout, shown.stderr), (b"value",
                                                        b'davit-seal decrypt: sealed for keyring "prod", ref "web/tls"\n'))
        for more in (("--keyring", "dev"), ("--keyring="), ("--ref", "web"), ("--keyring", "prod", "--ref", "")):
            more = (more,) if isinstance(more, str) else more
            self.refused(REFUSED, 'was sealed for keyring "prod", ref "web/tls"', "decrypt", "--key", self.key, *more,
                         value=sealed)
        for ref in ("../x", "/x", "a//b", ".", ""):
            self.refused(REFUSED, "--ref ", "encrypt", "--key", self.public, "--ref", ref, value=b"x")

    def test_names_of_others_do_not_move_the_cursor(self):
        sealed = self.encrypt(b"value", "--keyring", "\x1b[2Jprod\r\n").stdout
        self.assertEqual(self.decrypt(sealed).stderr, b'davit-seal decrypt: sealed for keyring " [2Jprod  "\n')

    def test_a_wrong_form_is_refused(self):
        sealed = self.encrypt(b"value").stdout
        for wrong, said in ((b"", "is empty"), (b"value", 'does not begin with "davitSeal/1/"'), (sealed[:49], "is damaged"),
                            (sealed[:52], "is cut short"), (sealed.replace(b"/1/", b"/2/", 1), "is of another version"),
                            (sealed[:40] + b"!" + sealed[41:], "is not base64"), (os.urandom(1000), "does not begin with"),
                            (base64.b64decode(sealed)[:-1], "cannot be opened")):
            for command in ("decrypt", "reencrypt"):
                self.refused(REFUSED, said, command, "--key", self.key, value=wrong)

    def test_another_key_opens_nothing(self):
        sealed = self.encrypt(b"value").stdout
        self.ok("keygen", "-o", "other.key")
        self.refused(REFUSED, "cannot be opened: it was sealed for another key, or is damaged", "decrypt", "--key", "other.key",
                     value=sealed)

    def test_a_public_key_may_stand_in_a_file(self):
        (self.folder / "agent.pub").write_text(f"# of the agents in eu\n\n{self.public}\r\n")
        sealed = self.ok("encrypt", "--key", "agent.pub", value=b"value")
        self.assertEqual(self.decrypt(sealed).stdout, b"value")

    def test_a_wrong_key_is_named_and_nothing_is_sealed(self):
        wrong = self.public[:-1] + ("A" if self.public[-1] != "A" else "B")
        secret = self.key.read_text().split()[-1]
        for key, code, said in ((wrong, REFUSED, "the public key: is damaged: a letter is wrong or missing"),
                                (self.public[:-1], REFUSED, "is damaged"),
                                ("nowhere", NOT_FOUND, "nowhere: No such file"),
                                (str(self.key), REFUSED, "has private keys: davit-seal public prints the public key"),
                                (secret, REFUSED, "a private key on the command line can be seen by everybody")):
            self.assertNotIn(secret.encode(), self.refused(code, said, "encrypt", "--key", key, value=b"value"))
        self.assertNotIn(secret.encode(), self.refused(REFUSED, "--key names a file", "decrypt", "--key", secret, value=b"x"))

    def test_output_that_cannot_be_written_is_a_failure(self):
        sealed = self.encrypt(b"value").stdout
        for words, value in ((("encrypt", "--key", self.public), b"x"), (("decrypt", "--key", self.key), sealed),
                             (("reencrypt", "--key", self.key), sealed), (("public", self.key), b""), (("--help",), b"")):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([SEAL, *map(str, words)], input=value, stdout=full, stderr=subprocess.PIPE, check=False,
                                      timeout=SECONDS)
            self.assertEqual(done.returncode, FAILED, words)
            self.assertIn(b"cannot be written", done.stderr)

    def test_who_types_is_told_how_to_end(self):
        own, other = pty.openpty()
        self.addCleanup(os.close, own)
        with subprocess.Popen([SEAL, "encrypt", "--key", self.public], stdin=other, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            os.close(other)
            os.write(own, b"typed\n\x04")
            out, err = process.communicate(timeout=SECONDS)
        self.assertIn(b"type the value, and end with Ctrl-D", err)
        self.assertEqual(self.decrypt(out).stdout, b"typed\n")


class CommandLine(Case):
    def test_help_fits_a_terminal(self):
        for words in (("--help",), *((c, "--help") for c in ("keygen", "public", "encrypt", "decrypt", "reencrypt"))):
            text = self.ok(*words).decode()
            self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
        self.assertRegex(self.ok("--version"), rb"^davit-seal \d+\.\d+\.\d+\n$")

    def test_each_command_stands_in_the_manual(self):
        manual = (REPOSITORY / "plugins/secrets_file/man/davit-seal.1").read_text(encoding="utf-8").replace("\\-", "-")
        for command in re.findall(r"^  davit-seal (\w+) ", self.ok("--help").decode(), re.M):
            self.assertIn(f"davit-seal {command}", manual)
            for option in re.findall(r"--[a-z]+", self.ok(command, "--help").decode()):
                self.assertIn(option, manual, command)

    def test_a_wrong_line_is_refused(self):
        for words, said in (((), "exit codes:"), (("seal",), 'no command "seal"'), (("--nope",), "unknown option --nope"),
                            (("encrypt",), "--key is required (usage: davit-seal encrypt --key PUBLIC"),
                            (("encrypt", "--key"), "option --key needs a value"), (("public",), "FILE is required"),
                            (("decrypt", "--key", "x", "--kyering=y"), "unknown option --kyering (usage"),
                            (("public", "a", "b"), 'unexpected "b"')):
            self.refused(USAGE, said, *words)

    def test_a_value_on_the_command_line_is_neither_taken_nor_shown(self):
        for words in (("encrypt", "--key", "k", "hunter2"), ("decrypt", "--key", "k", "hunter2"),
                      ("encrypt", "--key", "k", "--value=hunter2"), ("encrypt", "hunter2")):
            self.assertNotIn(b"hunter2", self.refused(USAGE, "", *words))

    def test_it_leaves_no_core_dump(self):
        public = self.keygen()
        with subprocess.Popen([SEAL, "encrypt", "--key", public], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              cwd=self.folder) as process:
            process.stdin.write(b"x")
            process.stdin.flush()
            limits = Path(f"/proc/{process.pid}/limits")
            end = time.monotonic() + SECONDS
            while not re.search(r"Max core file size +0 +0 ", limits.read_text()) and time.monotonic() < end:
                time.sleep(0.01)
            self.assertRegex(limits.read_text(), r"Max core file size +0 +0 ")
            process.send_signal(signal.SIGKILL)


class Form(Case):
    """The form as README.md describes it, made and read with libsodium alone."""

    def setUp(self):
        super().setUp()
        self.sodium = ctypes.CDLL(ctypes.util.find_library("sodium") or "libsodium.so.23")
        self.assertGreaterEqual(self.sodium.sodium_init(), 0)

    def hash(self, data, size):
        out = ctypes.create_string_buffer(size)
        self.sodium.crypto_generichash(out, ctypes.c_size_t(size), data, ctypes.c_ulonglong(len(data)), None,
                                       ctypes.c_size_t(0))
        return out.raw

    def key_text(self, word, key):
        return word + base64.b64encode(key + self.hash(word.encode() + key, 16)[:4]).decode()

    def test_what_others_seal_is_opened(self):
        public, secret = ctypes.create_string_buffer(32), ctypes.create_string_buffer(32)
        self.sodium.crypto_box_keypair(public, secret)
        self.key.write_text(self.key_text("davitSecret/1/", secret.raw) + "\n")
        self.key.chmod(0o600)
        self.assertEqual(self.ok("public", self.key).decode().strip(), self.key_text("davitPublic/1/", public.raw))
        payload = struct.pack(">H", 4) + b"prod" + struct.pack(">H", 0) + b"value"
        box = ctypes.create_string_buffer(len(payload) + 48)
        self.sodium.crypto_box_seal(box, payload, ctypes.c_ulonglong(len(payload)), public)
        sealed = base64.b64encode(base64.b64decode("davitSeal/1/") + box.raw)
        self.assertEqual(self.ok("decrypt", "--key", self.key, "--keyring", "prod", value=sealed), b"value")

    def test_what_is_sealed_is_opened_by_others(self):
        public = self.keygen()
        secret = base64.b64decode(self.key.read_text().split()[-1].removeprefix("davitSecret/1/"))[:32]
        open_key = base64.b64decode(public.removeprefix("davitPublic/1/"))[:32]
        sealed = base64.b64decode(self.ok("encrypt", "--key", public, "--keyring", "k", "--ref", "a/b", value=b"value"))
        box = sealed[9:]
        payload = ctypes.create_string_buffer(len(box) - 48)
        self.assertEqual(self.sodium.crypto_box_seal_open(payload, box, ctypes.c_ulonglong(len(box)), open_key, secret), 0)
        self.assertEqual(payload.raw, b"\0\1k\0\3a/bvalue")


class WithDavit(Case):
    """`davit check` and `davit run` with the keys that davit-seal makes."""

    def davit(self, command, toml):
        config = self.folder / "agent.toml"
        config.write_text(f'[host]\nstate_dir = "{self.folder}"\n[plugin.secrets]\nmodule = "secrets_file"\n{toml}')
        return [str(DAVIT), command, str(config)]

    def check(self, toml):
        done = subprocess.run(self.davit("check", toml), capture_output=True, timeout=SECONDS, check=False, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_check_says_whether_the_keys_can_be_used(self):
        self.keygen()
        (self.folder / "sealed").mkdir()
        code, said = self.check('key_file = "agent.key"\ndirectory = "sealed"\n')
        self.assertEqual(code, 0, said)
        self.assertNotIn(self.key.read_text().split()[-1], said)
        self.key.chmod(0o644)
        code, said = self.check('key_file = "agent.key"\n')
        self.assertEqual(code, 2)
        self.assertIn(f"plugin.secrets: key_file: {self.key}: its mode 0644 lets others read or change it: chmod 600\n", said)
        code, said = self.check('keyring_dir = "x"\n')
        self.assertEqual(code, 2)
        self.assertIn('unknown key; did you mean "keyrings_dir"?', said)

    def test_a_credential_is_found_where_the_service_manager_puts_it(self):
        self.keygen()
        command = self.davit("check", 'key_file = "credential:agent.key"\n')
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False, text=True,
                              env={**os.environ, "CREDENTIALS_DIRECTORY": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        environment = {name: value for name, value in os.environ.items() if name != "CREDENTIALS_DIRECTORY"}
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False, text=True, env=environment)
        self.assertEqual(done.returncode, 2)
        self.assertIn("$CREDENTIALS_DIRECTORY is not set", done.stdout + done.stderr)

    def test_an_agent_runs_with_it_and_stops(self):
        public = self.keygen()
        with subprocess.Popen(self.davit("run", 'key_file = "agent.key"\n'), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as process:
            said = ""
            for line in process.stderr:
                said += line
                if "keys read" in line:
                    break
            self.assertIn(public, said)
            process.terminate()
            said += process.communicate(timeout=SECONDS)[1]
            self.assertEqual(process.returncode, 0, said)
        self.assertNotIn(self.key.read_text().split()[-1], said)


if __name__ == "__main__":
    unittest.main()
