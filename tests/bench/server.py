"""A server to be measured: the product, or the mirror of the original."""

import functools
import re
import socket
import unittest
import urllib.request

from processes import processor_seconds  # of tests/kubernetes

# The original, measured on two cores (krane-measured in the project's notes): the mirror must not be slower.
ORIGINAL_RECEIPT_P50_MS = (350, 650)  # one-second poll: about 500
ORIGINAL_BOOTSTRAP_RECORDS_S = 8_700  # 100,000 rows, uncompressed
ORIGINAL_POLL_SECONDS = 0.49e-3  # of a core for each idle stream and second: 0.16 in the server, 0.33 in its database
# A page is read by its index, whatever the planner knows of tables that were filled a moment ago.
GOOD_PLANS = {f"enable_{way}": "off" for way in ("hashjoin", "mergejoin", "seqscan", "bitmapscan", "sort", "material")}


@functools.cache
def postgres():
    """Of all mirrors of this run. Its commits are flushed, as those of the original are, and ours."""
    from postgres import Postgres  # needs the parts
    made = Postgres(max_connections=50, jit="off", join_collapse_limit=1, **GOOD_PLANS)
    unittest.addModuleCleanup(made.close)
    return made


def mirror_store():
    return f'module = "storage_mirror"\npath = "{postgres().database()}"'


class Server:
    """Davit, product or mirror, with its metrics. `store`: the settings of its storage, such as those of another one,
    to begin with what that holds; a store of its own when absent. `regions`: each has a token of its own, REGION.token;
    otherwise one is for all. Without `started`, `restart` starts it."""

    def __init__(self, bench, parts, mirror=False, transport="connect", regions=None, store=None, started=True):
        self.mirror, self.parts = mirror, parts
        self.world = parts.World(log_level="warn")
        self.store = store or (mirror_store() if mirror else self.world.store.settings())
        self.process = self.world.server(regions=("*",), store=self.store)
        self.metrics_port = parts.free_port()
        folder = f"{bench.build.resolve()}/tests/bench"
        tokens = ""
        for region in regions or ():
            self.world.token(region, f"agent-secret-of-{region}")
            tokens += f'''[[rpc.server.main.token]]
name = "{region}"
file = "{self.world.folder}/{region}.token"
regions = ["{region}"]
'''
        self.process.argv.append(str(self.world.write("measured.toml", f"""[host]
metrics_listen = "127.0.0.1:{self.metrics_port}"
plugin_dirs = ["{folder}/storage_mirror", "{folder}/streamer_mirror"]
[rpc.server.main]
transport = "{transport}"
[plugin.streamer]
module = "{'streamer_mirror' if mirror else 'streamer'}"
{tokens}""")))
        self.wire = "ctrl.v1" if mirror else "davit.v1"
        self.address = f"127.0.0.1:{self.world.port}"
        self.token = self.world.folder / "agent.token"
        self.writer = f"unix:{self.world.socket}"
        if started:
            self.start()

    def start(self):
        self.process.start()
        self.world.wait_ready(self.process)

    def restart(self):
        """A new process on the same store. Its health says when it is ready: `davit status` would list every record."""
        self.process.stop()
        self.process.start()
        self.parts.wait_until(lambda: f"the server is ready; {self.process.tail()}", self.is_ready)

    def is_ready(self):
        if not self.process.alive():
            raise RuntimeError(f"the server ended: {self.process.tail()}")
        try:
            with socket.socket(socket.AF_UNIX) as operator:
                operator.connect(str(self.world.socket))
            return self.parts.get(self.metrics_port, "/readyz")[0] == 200
        except OSError:
            return False

    @property
    def pid(self):
        return self.process.process.pid

    def processor(self):
        """Seconds of processor time since its process began, and since its database began if it has a server."""
        return processor_seconds(self.pid) + self.database_processor()

    def database_processor(self):
        database = postgres() if self.mirror else self.world.store.postgres
        return database.processor_seconds() if database else 0

    def metric(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=10) as page:
            text = page.read().decode()
        return sum(float(v) for v in re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.M))

    def reads(self):
        """Of the store. The mirror's are those of its streams: the original has no feed that reads beside them."""
        return self.metric("davit_streamer_ring_misses_total" if self.mirror else "davit_streamer_storage_reads_total")

    def close(self):
        self.process.stop()
        self.world.close()
