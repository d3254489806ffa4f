"""How long a service manager waits: from exec until READY=1."""

import socket
import statistics
import time

TARGET_SECONDS = 0.15


def ready(bench, parts):
    """A server whose store has records, and an agent; each anew for each run."""
    runs = 3 if bench.short else 9
    world = parts.World(log_level="info")
    taken = {"a server": [], "an agent": []}
    try:
        server, agent = world.server(), world.agent()
        server.start()
        world.wait_ready(server)
        world.apply([parts.deployment(n) for n in range(100)])
        server.stop()
        for _ in range(runs):
            for process, found in zip((server, agent), taken.values()):
                found.append(seconds_to_ready(process, world.folder / "manager"))
            agent.stop()
            server.stop()
    finally:
        world.close()
    for who, found in taken.items():
        bench.line(f"{who}, from exec to ready", f"{TARGET_SECONDS * 1000:.0f} ms", [s / TARGET_SECONDS for s in found],
                   lambda r: r <= 1, "<= 1", f"{statistics.median(found) * 1000:.0f} ms")


def seconds_to_ready(process, path):
    """By a socket of its own: who ended before may have last words."""
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(path))
        manager.settimeout(60)
        process.env = {"NOTIFY_SOCKET": str(path)}
        begin = time.monotonic()
        process.start()
        while b"READY=1" not in manager.recv(65536).split(b"\n"):
            pass
        return time.monotonic() - begin
