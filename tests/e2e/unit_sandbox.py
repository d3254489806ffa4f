"""The sandbox of a unit without systemd as process 1: its filter of system calls, compiled as systemd does, for bwrap.

SystemCallFilter=, RestrictAddressFamilies=, MemoryDenyWriteExecute= and RestrictNamespaces= are taken from the unit's
file. The sets (@system-service) are those of the systemd that is installed. As a program, `unit_sandbox.py UNIT` writes
the filter to its output: libseccomp (python3-seccomp) is a module of the system's Python alone.
"""

import errno
import mmap
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

SYSTEM_PYTHON = "/usr/bin/python3"

NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET


def directives(unit):
    """The values of each directive of a unit, in order."""
    out = {}
    for line in Path(unit).read_text(encoding="utf-8").splitlines():
        if "=" in line and line[0] not in "#;[":
            key, _, value = line.partition("=")
            out.setdefault(key, []).append(value)
    return out


def members(name):
    """The system calls of a set, whose members may be sets."""
    listing = subprocess.run(["systemd-analyze", "syscall-filter", name], text=True, capture_output=True, check=True)
    out = set()
    for word in (line.strip() for line in listing.stdout.splitlines()[1:]):
        if word.startswith("@"):
            out |= members(word)
        elif word and not word.startswith("#"):
            out.add(word)
    return out


def allowed_calls(unit):
    """As systemd reads the lines: each adds to the list, or with ~ takes away. @default is always there."""
    allowed = members("@default")
    for line in directives(unit)["SystemCallFilter"]:
        words = line.lstrip("~").split()
        calls = set().union(*(members(word) if word.startswith("@") else {word} for word in words))
        allowed = allowed - calls if line.startswith("~") else allowed | calls
    return allowed


def add_rules(seccomp, rules, call, unit):
    if call == "socket":
        for family in unit["RestrictAddressFamilies"][0].split():
            rules.add_rule(seccomp.ALLOW, call, seccomp.Arg(0, seccomp.EQ, int(getattr(socket, family))))
    elif call in ("mprotect", "pkey_mprotect"):
        rules.add_rule(seccomp.ALLOW, call, seccomp.Arg(2, seccomp.MASKED_EQ, mmap.PROT_EXEC, 0))
    elif call == "mmap":
        for bit in (mmap.PROT_EXEC, mmap.PROT_WRITE):
            rules.add_rule(seccomp.ALLOW, call, seccomp.Arg(2, seccomp.MASKED_EQ, bit, 0))
    elif call == "clone":
        rules.add_rule(seccomp.ALLOW, call, seccomp.Arg(0, seccomp.MASKED_EQ, NAMESPACES, 0))
    elif call not in ("clone3", "unshare", "setns"):  # clone3: as systemd, which cannot look into its arguments
        rules.add_rule(seccomp.ALLOW, call)


def write_filter(path, out):
    import seccomp
    unit = directives(path)
    assert unit["MemoryDenyWriteExecute"] == ["yes"] and unit["RestrictNamespaces"] == ["yes"]
    rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
    for call in sorted(allowed_calls(path)):
        try:
            add_rules(seccomp, rules, call, unit)
        except (OSError, RuntimeError, ValueError):
            continue  # not a system call of this machine
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    rules.export_bpf(out)


def can_compile():
    return subprocess.run([SYSTEM_PYTHON, "-c", "import seccomp"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def compiled(path):
    """The filter of a unit, as an open file."""
    out = tempfile.TemporaryFile()
    subprocess.run([SYSTEM_PYTHON, __file__, str(path)], stdout=out, check=True)
    out.seek(0)
    return out


def confined(rules, writable, command):
    """The command under the filter, as a user of its own, with only `writable` to write to."""
    return ["bwrap", "--unshare-user", "--uid", "4711", "--gid", "4711", "--die-with-parent", "--ro-bind", "/", "/",
            "--dev", "/dev", "--bind", str(writable), str(writable),
            "--seccomp", str(rules.fileno()), *map(str, command)]


if __name__ == "__main__":
    write_filter(sys.argv[1], sys.stdout.buffer)
