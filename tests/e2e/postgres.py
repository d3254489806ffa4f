"""A PostgreSQL of the test's own, with a schema for each server that asks for a store."""

import os
import subprocess
import unittest


class Postgres:
    def __init__(self, world=None):
        del world
        program = os.environ.get("DAVIT_WITH_POSTGRES", "")
        if not program:
            raise unittest.SkipTest("DAVIT_WITH_POSTGRES names no program: run the test by ctest")
        # The program ends with what it runs, and that ends with its input.
        self.process = subprocess.Popen([program, "sh", "-c", 'echo "$PGHOST" && exec cat'], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.host = self.process.stdout.readline().strip()
        if not self.host.startswith("/"):
            self.close()
            raise unittest.SkipTest(self.host or "PostgreSQL does not start")

    def settings(self, name):
        return (f'module = "storage_postgres"\nhost = "{self.host}"\nuser = "davit"\ndatabase = "postgres"\n'
                f'schema = "{name}"')

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()
