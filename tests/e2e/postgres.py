"""A PostgreSQL of the tests' own, on a Unix socket in a folder of its own."""

import errno
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from parts import Process, die_with_parent, wait_until
from processes import processor_seconds  # parts knows where

USER = "davit"
# $1 MiB for the files of $2/data, which nobody else sees; then the rest.
DISK = """size=$1; folder=$2; shift 2
mkdir -p "$folder/disk"; mount -t tmpfs -o "size=${size}m" tmpfs "$folder/disk"
cp -a "$folder/data/." "$folder/disk"; chown --reference="$folder/data" "$folder/disk"; chmod 700 "$folder/disk"
exec "$@"
"""


def programs():
    """The folder of the newest installed one."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))
    if not found:
        raise RuntimeError("there is no PostgreSQL in /usr/lib/postgresql: run packaging/install-dependencies.sh")
    return found[-1]


class Postgres:
    """Ends with the test. It does not run as root, so neither is it started by root. `disk_mib`: its data is on a file
    system of its own, of this size, in memory; only root may make one. `standby_of`: it follows another one."""

    def __init__(self, disk_mib=None, standby_of=None, **settings):
        self.programs = programs()
        self.folder = Path(tempfile.mkdtemp(prefix="davit-postgres-"))
        self.numbers = itertools.count(1)
        self.as_user = []
        if os.getuid() == 0:
            owner = pwd.getpwnam("postgres")
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
            self.as_user = ["setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups"]
        if standby_of:
            standby_of.back_up(self.folder / "data", "-R")
        else:
            self.as_owner("initdb", "-D", self.folder / "data", "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C",
                          "--no-sync")
        self.port = settings.get("port", 5432)
        options = {"listen_addresses": "", "unix_socket_directories": self.folder, **settings}
        disk = ["unshare", "-m", "sh", "-ec", DISK, "sh", str(disk_mib), self.folder] if disk_mib else []
        self.process = Process("postgres", [
            *disk, *self.as_user, self.programs / "postgres", "-D", self.folder / ("disk" if disk_mib else "data"),
            *(o for key, value in options.items() for o in ("-c", f"{key}={value}"))], self.folder)
        self.start()

    def as_owner(self, program, *arguments, stdin=None):
        path = self.programs / program
        subprocess.run([*self.as_user, path if path.exists() else program, *arguments], cwd=self.folder, check=True,
                       capture_output=True, preexec_fn=die_with_parent, timeout=120, text=True, input=stdin)

    def back_up(self, to, *options):
        """A base backup, while it runs."""
        self.as_owner("pg_basebackup", "-h", self.folder, "-U", USER, "-c", "fast", "-D", to, *options)

    def bring_back(self, backup):
        """The files of a base backup take the place of its own. It must be stopped."""
        self.as_owner("rm", "-rf", self.folder / "data")
        self.as_owner("cp", "-a", backup, self.folder / "data")

    def use_tls(self, certificate, key):
        """By TCP only with TLS and a password, from now on. The socket stays as it was."""
        self.as_owner("sh", "-c", 'cat > key; chmod 600 key', stdin=Path(key).read_text(encoding="utf-8"))
        self.as_owner("sh", "-c", 'cat > certificate', stdin=Path(certificate).read_text(encoding="utf-8"))
        self.as_owner("sh", "-c", 'cat > data/pg_hba.conf', stdin="local all all trust\n"
                      "hostssl all all samehost scram-sha-256\n")
        for name, value in (("ssl_cert_file", f"{self.folder}/certificate"), ("ssl_key_file", f"{self.folder}/key"),
                            ("ssl", "on")):
            self.sql(f"ALTER SYSTEM SET {name} = '{value}'")
        self.sql("SELECT pg_reload_conf()")

    def promote(self):
        """A standby becomes a primary."""
        self.as_owner("pg_ctl", "promote", "-w", "-D", self.folder / "data")

    def stop(self):
        """Without waiting for its clients."""
        self.process.process.send_signal(signal.SIGINT)
        self.process.process.wait(30)

    def start(self):
        """Also after a kill, when processes of the one before may still be there for a moment."""
        def answers():
            if not self.process.alive():
                self.process.start()
            return self.run("pg_isready", "-q", check=False).returncode == 0
        wait_until(lambda: f"PostgreSQL answers; {self.process.tail()}", answers)

    def fill_disk(self):
        """Returns the file that takes all the room."""
        filler = Path(f"/proc/{self.process.process.pid}/root{self.folder}/disk/filler")
        with open(filler, "wb", buffering=0) as out:
            try:
                while True:
                    out.write(bytes(4096))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
        return filler

    def kill(self):
        """kill -9 of the postmaster. Its other processes see that, and end."""
        self.process.kill()

    def run(self, program, *arguments, check=True, stdin=None):
        return subprocess.run([self.programs / program, "-h", self.folder, "-p", str(self.port), "-U", USER, *arguments],
                              check=check, text=True, capture_output=True, timeout=60, input=stdin)

    def database(self):
        """A new, empty one: its connection string."""
        name = f"d{next(self.numbers)}"
        self.run("createdb", name)
        return f"host={self.folder} user={USER} dbname={name}"

    def settings(self, name, *standbys):
        """The keys of [plugin.main] for a store in a schema of this name. It may move to one of the standbys."""
        hosts = ",".join(str(p.folder) for p in (self, *standbys))
        return (f'module = "storage_postgres"\nuri = "host={hosts} user={USER} dbname=postgres '
                f'target_session_attrs=read-write"\nschema = "{name}"')

    def script(self, text):
        """Several statements, as psql reads them."""
        self.run("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", "postgres", stdin=text)

    def sql(self, text):
        """The rows, a line each, without decoration."""
        return self.run("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", "postgres", "-c", text).stdout.strip()

    def processor_seconds(self):
        """Of all its processes, those that have ended included."""
        pid = self.process.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
        own = processor_seconds(pid, and_of_ended_children=True)
        return own + sum(processor_seconds(child) or 0 for child in children)  # or one that has just ended

    def close(self):
        if self.process.alive():
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
