"""Commits of 64 waiting writers, by the stores and by what others do with the same table."""

import tempfile
from pathlib import Path

WRITERS = 64


def writes(bench, _parts):
    """Records/s on PostgreSQL whose commits take a millisecond, and on SQLite."""
    from postgres import Postgres  # needs the parts
    pairs, seconds = (1, 1.5) if bench.short else (9, 4)
    plugins = bench.build.resolve() / "stage/lib/davit/plugins"

    def store(module, settings):
        return bench.client("writes-bench", "store", plugins / f"{module}.so", WRITERS, seconds, stdin=settings)["records_s"]

    database = Postgres(commit_delay=1000, commit_siblings=0, max_connections=WRITERS + 30, max_wal_size="4GB")
    try:
        place = f"host={database.folder} user=davit dbname=postgres"
        settings = f'host = "{database.folder}"\nuser = "davit"\ndatabase = "postgres"\n'
        store("storage_postgres", settings)  # makes the tables
        rates = {"ours": [], "sequence": [], "counter": []}
        for _ in range(pairs):
            rates["ours"].append(store("storage_postgres", settings))
            for peer in ("sequence", "counter"):
                rates[peer].append(bench.client("writes-bench", peer, place, WRITERS, seconds)["records_s"])
    finally:
        database.close()
    for peer, words, times in (("sequence", "a transaction each, with numbers of a sequence, which loses changes", 2),
                               ("counter", "a transaction each, with numbers of a counter", 20)):
        bench.line(f"commits of {WRITERS} writers on PostgreSQL, records/s", words,
                   [a / b for a, b in zip(rates["ours"], rates[peer])], lambda r, times=times: r >= times, f">= {times}",
                   f"{rates['ours'][-1]:.0f}/s and {rates[peer][-1]:.0f}/s")

    ratios, notes = [], []
    for _ in range(pairs):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "davit.db"
            ours = store("storage_sqlite", f'path = "{path}"\nmeasure_interval_ms = 0\n')
            raw = bench.client("writes-bench", "sqlite", path, WRITERS, seconds)["records_s"]
        ratios.append(ours / raw)
        notes.append(f"{ours:.0f}/s and {raw:.0f}/s")
    bench.line(f"commits of {WRITERS} writers on SQLite, records/s", f"one writer's transactions of {WRITERS} records", ratios,
               lambda r: r >= 0.8, ">= 0.8", notes[-1])
