"""Where the servers of a test keep what they have: an SQLite file, or a PostgreSQL when DAVIT_E2E_STORE says so.

`empty`, `save` and `bring_back` need that no server has the store.
"""

import contextlib
import os
import shutil
import sqlite3
import unittest

ON_POSTGRES = os.environ.get("DAVIT_E2E_STORE") == "postgres"
on_a_file = unittest.skipIf(ON_POSTGRES, "it is about an SQLite store")


class FileStore:
    postgres = None

    def __init__(self, folder):
        self.path, self.saved = folder / "davit.db", folder / "saved.db"

    def settings(self):
        """The keys of [plugin.main]."""
        return f'path = "{self.path}"'

    def empty(self):
        """It is as new."""
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def save(self):
        shutil.copy(self.path, self.saved)

    def bring_back(self):
        """It is as it was when it was saved."""
        self.empty()
        shutil.copy(self.saved, self.path)

    def ask(self, sql):
        """The rows of a statement, values as texts, past the servers."""
        with contextlib.closing(sqlite3.connect(self.path)) as database, database:
            return [tuple(map(str, row)) for row in database.execute(sql)]

    # In statements:
    no_json = "''"
    in_order = ""  # with what else an UPDATE of the row `store` sets, so that it is no restored one

    @staticmethod
    def bytes(hexadecimal):
        return f"x'{hexadecimal}'"

    def longer(self, column, hexadecimal):
        return f"CAST({column} || {self.bytes(hexadecimal)} AS blob)"

    def close(self):
        pass


class PostgresStore:
    """Its PostgreSQL is started when the first server needs its settings."""

    postgres = path = None

    def __init__(self, folder):
        self.saved = folder / "saved.sql"

    def settings(self):
        if self.postgres is None:
            from postgres import Postgres  # which needs the parts
            self.postgres = Postgres()
        return self.postgres.settings("davit")

    def empty(self):
        self.postgres.script("DROP SCHEMA davit CASCADE")

    def save(self):
        self.saved.write_text(self.postgres.run("pg_dump", "-d", "postgres", "--schema", "davit").stdout,
                              encoding="utf-8")

    def bring_back(self):
        self.empty()
        self.postgres.script(self.saved.read_text(encoding="utf-8"))

    def ask(self, sql):
        return [tuple(line.split("|")) for line in self.postgres.sql(f"SET search_path = davit; {sql}").splitlines()]

    no_json = "NULL"
    in_order = ", written_by = txid_current()"

    @staticmethod
    def bytes(hexadecimal):
        return f"'\\x{hexadecimal}'::bytea"

    def longer(self, column, hexadecimal):
        return f"{column} || {self.bytes(hexadecimal)}"

    def close(self):
        if self.postgres is not None:
            self.postgres.close()


OwnStore = PostgresStore if ON_POSTGRES else FileStore
