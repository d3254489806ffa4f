"""Two servers on one PostgreSQL: what the way from one to the agents of the other costs."""

from server import Server, postgres  # beside this file


def other_server(bench, parts):
    """From the operator's request to the receipt by an agent: of the other server, and of the same one."""
    count, pairs = (40, 1) if bench.short else (200, 9)
    store = postgres().settings("several")
    servers = []
    ratios, notes = [], []
    try:
        for _ in range(2):
            servers.append(Server(bench, parts, store=store))
        for pair in range(pairs):
            p50 = {}
            for other in (False, True) if pair % 2 == 0 else (True, False):
                agents_server = servers[1 if other else 0]
                p50[other] = bench.client("stream-bench", "receipt", "davit.v1", agents_server.address,
                                          agents_server.token, parts.REGION, servers[0].writer, count, 10)["p50_ms"]
            ratios.append(p50[True] / p50[False])
            notes.append(f"{p50[True]:.2f} and {p50[False]:.2f} ms")
    finally:
        for server in servers:
            server.close()
    bench.line("commit at one server to the receipt by an agent of another, p50", "the same at one server", ratios,
               lambda r: r <= 1.5, "<= 1.5", ", ".join(notes))
