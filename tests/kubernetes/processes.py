"""Processes that die with the one that started them, and ports.

A pid alone proves nothing once its process has ended; together with its start time it does. What we
write down about a process is therefore the pair, and a signal goes through a pidfd, which cannot
come to mean another process meanwhile.
"""

import ctypes
import os
import random
import select
import signal
import socket
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


class RigError(Exception):
    """Something a person has to know: what, where, and what to do."""


def stat_fields(pid):
    """What /proc says of a process after its name; None if it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def start_time(pid):
    """The kernel's clock tick at which `pid` started; None if it has ended."""
    fields = stat_fields(pid)
    return None if fields is None or fields[0] in "XZ" else int(fields[19])


def processor_seconds(pid, and_of_ended_children=False):
    """User and system time; None if it has ended."""
    fields = stat_fields(pid)
    if fields is None:
        return None
    return sum(map(int, fields[11:15 if and_of_ended_children else 13])) / os.sysconf("SC_CLK_TCK")


def identity(pid):
    return {"pid": pid, "start_time": start_time(pid)}


def is_running(known):
    return known["start_time"] is not None and start_time(known["pid"]) == known["start_time"]


def end(known, number, seconds):
    """Signals `known` if it still is that process; True if it is gone within `seconds`."""
    try:
        handle = os.pidfd_open(known["pid"])
    except ProcessLookupError:
        return True
    try:
        if not is_running(known):
            return True
        signal.pidfd_send_signal(handle, number)
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


def spawn(command, log, env, cwd, pass_fds=()):
    """Starts `command` out of reach of Ctrl-C, which is for us; the kernel kills it when we die.

    "We" is the calling thread.
    """
    parent = os.getpid()

    def die_with_parent():
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    with open(log, "ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=env,
            cwd=cwd,
            start_new_session=True,
            pass_fds=pass_fds,
            preexec_fn=die_with_parent,
        )


def tail(path, lines=15):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return "".join(f"  | {line}\n" for line in file.read().splitlines()[-lines:])
    except FileNotFoundError:
        return ""


def wait_until(condition, seconds, pause=0.05):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


# A port is ours while a socket of its name is bound (unix(7), "abstract"): the kernel lets go of it when this process ends,
# and the name is valid where the port is, in one network namespace.
RESERVED = {}


def reserve(port):
    """Whether `port` is this process's from now on: no other test is given it while what listens there is stopped."""
    name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        name.bind(f"\0davit-test-port-{port}")
    except OSError:
        name.close()
        return False
    RESERVED[port] = name
    return True


def free_ports(count):
    """Free ports below the range that the kernel uses for outgoing connections, reserved until this process ends.

    While a server is stopped, no one who connects may be given its port, and no other test.
    """
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="utf-8") as file:
        lowest = int(file.read().split()[0])
    candidates = range(10000, lowest) if lowest > 11000 else range(10000, 60000)
    ports = []
    for port in random.sample(candidates, len(candidates)):
        if len(ports) == count:
            break
        if reserve(port) and is_free(port):
            ports.append(port)
    if len(ports) < count:
        raise RigError(
            f"no {count} free ports on 127.0.0.1 between {candidates[0]} and {candidates[-1]}"
        )
    return ports
