"""One process of this machine that sees the files of a container: bubblewrap (bwrap) makes its mounts.

It has process ids and users of its own, and the network of the machine. It dies with the one that started it.
"""

import json
import os
import select
import shutil
import signal
import subprocess

from processes import HERE, RigError, spawn

# What a program of this machine needs of it; what is not there is left out.
ETC = ("alternatives", "ca-certificates", "gai.conf", "group", "host.conf", "hosts", "ld.so.cache", "ld.so.conf",
       "ld.so.conf.d", "localtime", "nsswitch.conf", "passwd", "resolv.conf", "ssl")
TOP = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
SUPPRESSIONS = HERE.parent / "sanitizers"  # named by the options of the sanitizers, below
# The only variables of this program that a container has: options of the sanitizers, and the mark of a run of tests.
PASSED_ON = ("ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "DAVIT_TEST_RUN")


def check_bwrap():
    """Raises RigError when no process could be run."""
    if shutil.which("bwrap") is None:
        raise RigError("bwrap is not installed; install it (Debian's package bubblewrap)")
    tried = subprocess.run(["bwrap", "--unshare-user", "--unshare-pid", "--uid", "1", "--gid", "1", "--ro-bind", "/", "/",
                            "--proc", "/proc", "--dev", "/dev", "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        raise RigError(f"bwrap cannot run a process: {tried.stderr.strip()}\n  it needs user namespaces"
                       " (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns), and in a"
                       " container an unmasked /proc")


def root(stage):
    """The files of the image: this machine's programs, and the stage at its own path. All else is empty."""
    words = ["--perms", "1777", "--dir", "/tmp", "--ro-bind", "/usr", "/usr"]
    for name in TOP:
        path = f"/{name}"
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += ["--ro-bind", path, path]
    for name in ETC:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for path in (SUPPRESSIONS, stage):
        words += ["--ro-bind-try", path, path]
    return [*words, "--proc", "/proc", "--dev", "/dev"]


def command(stage, who, mounts, words, hostname, read_only, folder):
    """bwrap's command line. `who`: (user, group); `mounts`: (source, target, whether it is read only); `read_only`:
    the root, too; `folder`: where the process begins."""
    out = ["bwrap", "--die-with-parent", "--as-pid-1", "--unshare-user", "--unshare-pid", "--unshare-ipc",
           "--unshare-uts", "--hostname", hostname, "--uid", who[0], "--gid", who[1], *root(stage)]
    for source, target, fixed in mounts:
        out += ["--ro-bind" if fixed else "--bind", source, target]
    if read_only:
        out += ["--remount-ro", "/"]
    return [str(word) for word in [*out, "--chdir", folder, "--", *words]]


class Sandbox:
    """A process, from its start to its end. `start` belongs to a thread that lives until the end: the kernel kills the
    process with that thread. `variables`: its environment, which may hold secrets; command lines are public."""

    def __init__(self, words, variables, log, folder):
        told, telling = os.pipe()
        try:
            options = ["--info-fd", str(telling)]
            self.bwrap = spawn([words[0], *options, *words[1:]], log, variables, folder, pass_fds=[telling])
        finally:
            os.close(telling)
        with open(told, encoding="utf-8") as file:
            said = file.read()  # until bwrap has closed its end, also by ending
        self.handle = None
        if said:
            try:
                self.handle = os.pidfd_open(json.loads(said)["child-pid"])
            except ProcessLookupError:
                pass  # it has ended already

    def poll(self):
        """Its exit code, or 128 + the signal that ended it; None while it runs."""
        code = self.bwrap.poll()
        if code is None:
            return None
        self._forget()
        return code if code >= 0 else 128 - code

    def signal(self, number):
        if self.handle is not None:
            try:
                signal.pidfd_send_signal(self.handle, number)
            except ProcessLookupError:
                pass

    def kill(self):
        """At once, and waits. It is the first process of its namespace: all others in it end with it."""
        self.signal(signal.SIGKILL)
        if self.handle is not None:
            select.select([self.handle], [], [])
        else:
            self.bwrap.kill()
        self.bwrap.wait()
        self._forget()

    def _forget(self):
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None
