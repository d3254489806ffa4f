"""Other programs change desired state in SQL transactions of their own: they insert intents, and two servers carry them
out, while servers and the database end at any moment.

DAVIT_SEED repeats a plan. DAVIT_LONG=1: more of everything.
"""

import json
import os
import random
import re
import signal
import subprocess
import threading
import unittest

from parts import PATIENCE, REPOSITORY, deployment, wait_until
from servers import LONG, REGIONS, Servers

INTENTS = 20_000 if LONG else 1_700
RECORDS = 40
AT_ONCE = 10  # rows of one transaction


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


class Shop(threading.Thread):
    """A program with a table of its own. Each transaction writes an order and the intents that follow from it; some are
    rolled back."""

    def __init__(self, database, seed, count):
        super().__init__(daemon=True)
        self.database, self.dice, self.count = database, random.Random(seed), count
        self.inserted = 0
        self.error = None
        database.sql("CREATE TABLE orders (id bigint PRIMARY KEY, documents jsonb NOT NULL)")

    def document(self, serial):
        number = self.dice.randrange(RECORDS)
        region = REGIONS[number % len(REGIONS)]
        if self.dice.random() < 0.1:
            return {"kind": "deployment", "region": region, "id": f"d_{number}", "delete": True}
        return deployment(number, f"shop-{number}", region=region, image=f"registry.example/app:{serial}")

    def order(self, serial):
        documents = [self.document(serial + n) for n in range(AT_ONCE)]
        rows = ", ".join(f"({quoted(json.dumps(d))})" for d in documents)
        self.database.sql(f"BEGIN; INSERT INTO orders VALUES ({serial}, {quoted(json.dumps(documents))}); "
                          f"INSERT INTO davit.intents (document) VALUES {rows}; "
                          f"{'ROLLBACK' if self.dice.random() < 0.1 else 'COMMIT'}")

    def run(self):
        serial = 0
        while self.inserted < self.count and self.error is None:
            serial += AT_ONCE
            try:
                self.order(serial)
            except Exception as error:  # the database may be away, and nobody knows whether it was committed
                if "duplicate key" in str(getattr(error, "stderr", "")):
                    self.error = error
                threading.Event().wait(0.2)
            try:
                self.inserted = int(self.database.sql("SELECT count(*) * 10 FROM orders"))
            except Exception:
                pass


class Intents(Servers):
    EXTRA = '[plugin.intents]\nmodule = "intents"\nstorage = "main"\n'

    def rows(self, text):
        return [line.split("|") for line in self.database.sql(text).splitlines()]

    def row(self, document):
        """Inserts one, and returns what became of it: state, version, code, field, error."""
        text = document if isinstance(document, str) else json.dumps(document)
        (number,), = self.rows(f"INSERT INTO davit.intents (document) VALUES ({quoted(text)}) RETURNING id")
        wait_until(f"{text} is decided", lambda: self.database.sql(
            f"SELECT state FROM davit.intents WHERE id = {number}") != "open")
        return self.rows(f"SELECT state, version, code, field, error FROM davit.intents WHERE id = {number}")[0]

    def leader(self):
        """The server that leads. Its process id is the client of the connection that has the lock."""
        leading = [s for s in self.servers if s.process.alive() and
                   s.process.text().rfind("this server leads") > s.process.text().rfind("stopping")]
        return leading[-1] if len(leading) == 1 else None

    def check_agreement(self, shop):
        """Each order has its intents, each intent an outcome, and the records are what the outcomes say."""
        wait_until(lambda: f"every intent is decided: {self.rows('SELECT state, count(*) FROM davit.intents GROUP BY 1')}",
                   lambda: self.database.sql("SELECT count(*) FROM davit.intents WHERE state = 'open'") == "0", 120)
        ordered, carried = self.rows(f"SELECT (SELECT count(*) * {AT_ONCE} FROM orders), (SELECT count(*) FROM davit.intents)")[0]
        self.assertEqual(ordered, carried)
        self.assertEqual(self.rows("SELECT * FROM davit.intents WHERE state = 'failed'"), [])
        # Nobody else writes: each version of the store is the outcome of intents, and none was given beside them. (A
        # delete of what is deleted, and a document that changes nothing, find a version.)
        self.assertEqual(self.database.sql("SELECT head FROM davit.store"),
                         self.database.sql("SELECT count(DISTINCT version) FROM davit.intents"))
        # The last intent about a record made it what it is.
        wrong = self.rows("""
            SELECT r.id, r.version, i.version FROM davit.records r JOIN (
              SELECT document::jsonb->>'id' AS id, max(version) AS version FROM davit.intents GROUP BY 1) i USING (id)
            WHERE r.version <> i.version""")
        self.assertEqual(wrong, [])
        wanted = {}
        for document, version in self.rows("SELECT document, version FROM davit.intents WHERE version IS NOT NULL "
                                           "ORDER BY version, id"):
            document = json.loads(document)
            wanted[document["id"]] = None if document.get("delete") else document["spec"]["image"]
        live = {i for i, image in wanted.items() if image}
        objects = self.world.wait_running(live, seconds=120)
        self.assertEqual(set(objects), live)
        shown = json.loads(self.world.davit("get", "deployment", "-o", "json")[1])
        self.assertEqual({d["id"]: d["spec"]["image"] for d in shown}, {i: wanted[i] for i in live})
        self.check_streams()
        print(f"{carried} intents, {len(live)} of {len(wanted)} records live", flush=True)

    def test_every_intent_is_carried_out_once_whoever_ends(self):
        shop = Shop(self.database, self.seed, INTENTS)
        shop.start()
        dice = random.Random(self.seed)
        ends = 0
        while shop.is_alive():
            threading.Event().wait(1 + 2 * dice.random())
            ends += 1
            if dice.random() < 0.25:
                self.database.kill()
                self.database.start()
                continue
            server = self.servers[dice.randrange(2)]
            if dice.random() < 0.3:
                self.assertEqual(server.process.stop(60), 0, server.process.tail())
            else:
                server.process.kill()
            self.start(server)
        shop.join()
        self.assertIsNone(shop.error)
        print(f"{ends} ends of a server or the database", flush=True)
        self.check_agreement(shop)
        self.check_clean_end(*self.agents, *(s.process for s in self.servers))

    def test_a_leader_that_hangs_is_replaced_and_does_nothing_twice(self):
        first = wait_until("one server leads", self.leader)
        shop = Shop(self.database, self.seed, 500)
        shop.start()
        wait_until("some are carried out", lambda: int(self.database.sql(
            "SELECT count(*) FROM davit.intents WHERE state = 'done'")) > 50)
        os.kill(first.process.process.pid, signal.SIGSTOP)
        other, = [s for s in self.servers if s is not first]
        wait_until("the other one leads", lambda: "this server leads" in other.process.text(), 60)
        shop.join(60 * PATIENCE)
        wait_until("it carries out what is left", lambda: self.database.sql(
            "SELECT count(*) FROM davit.intents WHERE state = 'open'") == "0", 60)
        os.kill(first.process.process.pid, signal.SIGCONT)
        self.assertEqual(self.row(deployment(1, region="eu-1"))[0], "done")
        wait_until("the first one is ready again", lambda: len(self.balancer.ready) == 2, 60)
        self.world.socket = other.socket
        self.database.sql("DELETE FROM davit.intents WHERE id = (SELECT max(id) FROM davit.intents)")
        self.check_clean_end(*self.agents, *(s.process for s in self.servers))

    def test_what_is_wrong_keeps_its_error_and_others_go_on(self):
        good = deployment(1, region="eu-1")
        state, version, *fault = self.row(good)
        self.assertEqual((state, fault), ("done", ["", "", ""]))
        self.assertEqual(self.row(good)[:2], ["done", version], "it is what it says already")
        for document, code, field, words in (
                ("hello", "INVALID_ARGUMENT", "", "is not JSON"),
                ("[]", "INVALID_ARGUMENT", "", "must be a JSON object"),
                ({**good, "kind": "deploymnt"}, "INVALID_ARGUMENT", "kind", "deploymnt"),
                ({**good, "region": "mars"}, "INVALID_ARGUMENT", "region", "is not known"),
                ({**good, "sepc": {}}, "INVALID_ARGUMENT", "sepc", "unknown member"),
                ({**good, "spec": {**good["spec"], "replicas": "many"}}, "INVALID_ARGUMENT", "spec.replicas", ""),
                ({**good, "expect": int(version) + 7}, "ABORTED", "expect", f"has version {version}"),
                ({**good, "expect": 0}, "ABORTED", "expect", f"has version {version}"),
                ({"kind": "deployment", "region": "eu-1", "delete": True}, "INVALID_ARGUMENT", "id", "is empty")):
            failed = self.row(document)
            self.assertEqual(failed[:4], ["failed", "", code, field], document)
            self.assertIn(words, failed[4])
        changed = {**good, "spec": {**good["spec"], "image": "registry.example/app:2"}, "expect": int(version)}
        done = self.row(changed)
        self.assertEqual(done[0], "done", done)
        self.assertGreater(int(done[1]), int(version))
        self.world.wait_running({"d_1"})
        self.assertEqual(self.database.sql("SELECT author FROM davit.records WHERE id = 'd_1'"), "intents/davit")
        gone = {"kind": "deployment", "region": "eu-1", "id": "d_1", "delete": True}
        self.assertEqual(self.row(gone)[0], "done")
        self.world.wait_gone()
        self.assertEqual(self.row({**gone, "id": "d_never"}), ["done", "", "", "", ""])
        self.check_clean_end(*self.agents, *(s.process for s in self.servers))


class Examples(Servers):
    """The examples of plugins/intents/README.md, run as they stand there."""

    EXTRA = Intents.EXTRA

    @staticmethod
    def example(language):
        text = (REPOSITORY / "plugins/intents/README.md").read_text(encoding="utf-8")
        return re.search(rf"```{language}\n(.*?)```", text, re.S)[1]

    def setUp(self):
        super().setUp()
        self.database.sql("CREATE TABLE orders (customer text PRIMARY KEY, size text NOT NULL)")

    def check(self, customer):
        self.world.wait_running({f"d_{customer}"})
        self.assertEqual(self.database.sql(f"SELECT count(*) FROM orders WHERE customer = '{customer}'"), "1")

    def test_in_sql(self):
        commit, question = self.example("sql").split("COMMIT;")
        self.database.script(commit + "COMMIT;")
        self.check("ada")
        state, version, *fault = self.database.sql(question).split("|")
        self.assertEqual((state, fault), ("done", ["", "", ""]))
        self.assertGreater(int(version), 0)

    def test_in_python(self):
        import psycopg2
        example = {}
        exec(self.example("python"), example)  # pylint: disable=exec-used
        connection = psycopg2.connect(host=str(self.database.folder), user="davit", dbname="postgres")
        self.addCleanup(connection.close)
        with connection:
            intent = example["place_order"](connection, "bob", "large")
        self.check("bob")
        with connection:
            state, version, *fault = example["outcome"](connection, intent)
        self.assertEqual((state, fault), ("done", [None, None, None]))
        # The second order of the same customer fails, and its intent with it.
        with self.assertRaises(psycopg2.errors.UniqueViolation), connection:
            example["place_order"](connection, "bob", "larger")
        self.assertEqual(self.database.sql("SELECT count(*) FROM davit.intents"), "1")
        self.assertGreater(version, 0)

    def test_in_go(self):
        built = subprocess.run([REPOSITORY / "tests/intents/build.sh", "--find"], check=False, capture_output=True, text=True)
        if built.returncode != 0:
            self.skipTest(built.stderr)
        run = subprocess.run([f"{built.stdout.strip()}/intents", f"host={self.database.folder} user=davit dbname=postgres "
                              "sslmode=disable", "eve", "small"], check=True, capture_output=True, text=True, timeout=60)
        self.check("eve")
        self.assertEqual(self.database.sql(f"SELECT state FROM davit.intents WHERE id = {run.stdout.strip()}"), "done")


if __name__ == "__main__":
    unittest.main(verbosity=2)
