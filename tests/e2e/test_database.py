"""What befalls the PostgreSQL behind several servers: it is killed, away or full, a standby takes over, an older copy comes
back; and how it is reached."""

import json
import os
import random
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from parts import deployment, free_port, metrics, wait_until
from postgres import Postgres
from servers import LONG, REGIONS, ROUNDS, Servers

OUTAGE_S = 600 if LONG else 5


class Ends(Servers):
    """The database ends and comes back while two servers and their agents work."""

    def test_a_database_that_is_killed_under_load_loses_nothing(self):
        load = self.load()
        for _ in range(ROUNDS // 2):
            said = load.said
            self.database.kill()
            self.database.start()
            wait_until("it goes on", lambda said=said: load.error or load.said >= said + 10, 90)
        load.end()
        self.check_equal(load)
        self.assertGreaterEqual(int(self.database.sql("SELECT count(*) FROM davit.incarnations")), 1 + ROUNDS // 2)
        self.check_streams()
        self.check_clean_end(*self.agents, *(s.process for s in self.servers))

    def test_an_outage_is_shown_and_costs_nothing(self):
        load = self.load()
        load.end()
        self.check_equal(load)  # each deletion of the load is counted
        deletes = {r: metrics(p).get("davit_applier_deletes_total", 0) for r, p in self.health.items()}
        self.database.kill()
        wait_until("no server is ready", lambda: not self.balancer.ready)
        code, _, why = self.world.davit("apply", "-f", "-", stdin=json.dumps(deployment(99, region=REGIONS[0])),
                                        check=False)
        self.assertNotEqual(code, 0)
        self.assertIn("the database cannot be reached", why)
        self.assertNotIn(str(self.database.folder), why)
        time.sleep(OUTAGE_S)
        self.database.start()
        wait_until("both servers are ready", lambda: len(self.balancer.ready) == 2, 90)
        load.change(98, REGIONS[0], "after")
        self.check_equal(load)
        self.check_streams()
        for region, port in self.health.items():
            self.assertEqual(metrics(port).get("davit_applier_deletes_total", 0), deletes[region])
        self.check_clean_end(*self.agents, *(s.process for s in self.servers))


class Loss(Servers):
    """The database loses the last commits, while two servers and their agents work."""

    STANDBYS = 1

    def change_all(self, load):
        """In each region a record is changed, one is deleted and one is made: all of it will be lost. No image is changed,
        so no agent deletes a pod to replace it, neither now nor when the change is lost."""
        for place, region in enumerate(REGIONS):
            document = json.loads(json.dumps(load.wanted[f"d_{place}"]))
            document["spec"]["replicas"] = 2
            load.ask("apply", "-f", "-", stdin=json.dumps(document))
            load.wanted[document["id"]] = document
            load.ask("delete", "deployment", f"d_{place + len(REGIONS)}", "--region", region)
            load.wanted[f"d_{place + len(REGIONS)}"] = None
            load.change(90 + place, region, "lost")
        self.check_equal(load)

    def deletes(self):
        return {r: metrics(p).get("davit_applier_deletes_total", 0) for r, p in self.health.items()}

    def check_loss(self, lose):
        """`lose` first says when to copy, and then brings the copy back."""
        load = self.load()
        load.end()
        for number in range(2 * len(REGIONS)):
            load.change(number, REGIONS[number % len(REGIONS)], "kept")
        self.check_equal(load)
        kept = dict(load.wanted)
        lose.send(None)
        self.change_all(load)
        deletes = self.deletes()
        begun = int(self.database.sql("SELECT count(*) FROM davit.incarnations"))
        with self.assertRaises(StopIteration):
            lose.send(None)
        wait_until("both servers are ready", lambda: len(self.balancer.ready) == 2, 90)
        # Every agent has what the database has: the old numbers of pods, and the objects that had been deleted.
        replicas = {i: 1 for i, d in kept.items() if d}
        objects = self.world.wait_running(set(replicas), seconds=120)
        self.assertEqual({i: int(o["observed"]["desired"]) for i, o in objects.items()}, replicas)
        shown = json.loads(self.world.davit("get", "deployment", "-o", "json")[1])
        self.assertEqual({d["id"]: d["spec"]["replicas"] for d in shown}, replicas)
        # What the database does not know any more is shown, and nobody has deleted it.
        lost = {f"d_{90 + place}" for place in range(len(REGIONS))}
        wait_until(lambda: f"the lost records' objects are orphaned: {self.world.status()['agents']}",
                   lambda: {(i["id"], i["condition"]) for a in self.world.status()["agents"]
                            for i in a.get("issues", [])} == {(i, "orphaned") for i in lost}, 60)
        self.assertEqual(self.deletes(), deletes)
        for agent in self.agents:
            self.assertIn("begins with a snapshot", agent.text())
        standing = next(p for p in (*self.standbys, self.database) if p.process.alive())
        self.assertGreaterEqual(int(standing.sql("SELECT count(*) FROM davit.incarnations")), begun + 1)
        self.world.apply([deployment(95, region=REGIONS[0])], "--wait")
        self.check_clean_end(*self.agents, *(s.process for s in self.servers))

    def test_a_standby_without_the_last_commits_is_promoted(self):
        def lose():
            standby, = self.standbys
            standby.stop()
            yield
            self.database.kill()
            standby.start()
            standby.promote()
        self.check_loss(lose())

    def test_an_older_base_backup_is_restored(self):
        def lose():
            self.standbys[0].stop()
            backup = self.database.folder / "backup"
            self.database.back_up(backup)
            yield
            self.database.stop()
            self.database.bring_back(backup)
            self.database.start()
        self.check_loss(lose())

    def test_an_older_dump_is_restored_while_the_servers_run(self):
        def lose():
            self.standbys[0].stop()
            dump = self.database.folder / "dump.sql"
            self.database.run("pg_dump", "-d", "postgres", "--schema", "davit", "-f", dump)
            yield
            self.database.run("psql", "-Xq1", "-v", "ON_ERROR_STOP=1", "-d", "postgres", "-c", "DROP SCHEMA davit CASCADE",
                              "-f", dump)
        self.check_loss(lose())


class Synchronous(Servers):
    """Commits wait for a standby, which takes over under load."""

    STANDBYS, SETTINGS = 1, {"synchronous_standby_names": "*"}

    def test_a_standby_that_has_all_commits_takes_over_and_nothing_is_lost(self):
        load = self.load()
        standby, = self.standbys
        wait_until("some requests are acknowledged", lambda: load.error or load.said >= 10, 60)
        # Nothing is acknowledged that the standby does not have.
        standby.stop()
        time.sleep(1)
        said = load.said
        time.sleep(2)
        self.assertLessEqual(load.said, said + 1)
        standby.start()
        wait_until("it goes on", lambda: load.error or load.said >= said + 10, 90)
        self.database.kill()
        standby.sql("ALTER SYSTEM SET synchronous_standby_names = ''")
        standby.promote()
        said = load.said
        wait_until("it goes on at the standby", lambda: load.error or load.said >= said + 10, 90)
        load.end()
        self.check_equal(load)
        self.check_streams()
        self.check_clean_end(*self.agents, *(s.process for s in self.servers))


class Secured(Servers):
    """The servers reach the database by TCP, with TLS and a password."""

    def setUp(self):
        self.port = free_port()
        self.keys = Path(tempfile.mkdtemp(prefix="davit-tls-"))
        self.addCleanup(shutil.rmtree, self.keys, ignore_errors=True)
        for name in ("db", "other"):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                            "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                            "-keyout", self.keys / f"{name}.key", "-out", self.keys / f"{name}.crt"],
                           check=True, capture_output=True)
        self.secret = f"s3cret-{random.randrange(1 << 60)}"
        super().setUp()

    def make_database(self):
        database = Postgres(listen_addresses="localhost", port=self.port)
        (self.keys / "password").write_text(self.secret + "\n", encoding="utf-8")
        database.use_tls(self.keys / "db.crt", self.keys / "db.key")
        database.sql(f"CREATE ROLE server LOGIN PASSWORD '{self.secret}'; GRANT ALL ON DATABASE postgres TO server")
        return database

    def settings(self, ca="db", host="localhost", mode="verify-full"):
        return (f'module = "storage_postgres"\npassword_file = "{self.keys}/password"\nuri = "postgresql://server@{host}:'
                f'{self.port}/postgres?sslmode={mode}&sslrootcert={self.keys}/{ca}.crt"\nschema = "davit"')

    def refused(self, **how):
        """What `davit check` says of other settings."""
        self.world.port, self.world.socket = free_port(), self.world.folder / "refused.sock"
        server = self.world.server("refused", REGIONS, store=self.settings(**how))
        code, out, why = self.world.davit("check", *server.argv[2:], check=False)
        self.assertNotEqual(code, 0)
        self.assertNotIn(self.secret, out + why)
        return out + why

    def test_tls_is_used_and_verified_and_the_password_never_shown(self):
        load = self.load()
        load.end()
        self.check_equal(load)
        connections = self.database.sql("SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
                                        "WHERE usename = 'server'")
        self.assertEqual(connections, "t")
        self.assertIn("certificate verify failed", self.refused(ca="other"))
        self.assertIn("does not match host name", self.refused(host="127.0.0.1"))
        self.assertIn("pg_hba.conf", self.refused(mode="disable"))
        # A new password needs no restart.
        self.secret += "-new"
        self.database.sql(f"ALTER ROLE server PASSWORD '{self.secret}'")
        (self.keys / "password").write_text(self.secret + "\n", encoding="utf-8")
        self.database.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'server'")
        load.change(1, REGIONS[1], "after")
        self.check_equal(load)
        for server in self.servers:
            self.assertNotIn(self.secret, server.process.text())
        self.check_clean_end(*self.agents, *(s.process for s in self.servers))


@unittest.skipIf(os.getuid() != 0, "only root may make a file system for the database")
class FullDisk(Servers):
    DISK_MIB, SETTINGS = 160, {"max_wal_size": "64MB", "min_wal_size": "32MB"}

    def test_a_full_disk_takes_nothing_and_loses_nothing(self):
        load = self.load()
        filler = self.database.fill_disk()
        wait_until("a server takes no writes", lambda: any("takes no writes" in s.process.text() for s in self.servers))
        # The operator goes on asking, and is told why.
        document = json.dumps(deployment(99, region=REGIONS[0], image="registry.example/" + "x" * 200_000))
        why = wait_until("an operator is told", lambda: self.world.davit("apply", "-f", "-", stdin=document,
                                                                         check=False)[2])
        self.assertIn("the server's disk is full", why)
        wait_until("reads go on", lambda: len(self.balancer.ready) == 2)
        time.sleep(OUTAGE_S)
        filler.unlink()
        said = load.said
        wait_until("it goes on", lambda: load.error or load.said >= said + 10, 90)
        wait_until("both say so", lambda: all("database works again" in s.process.text() for s in self.servers), 60)
        load.end()
        self.check_equal(load)
        self.check_streams()
        for server in self.servers:
            self.assertLess(server.process.text().count("takes no writes"), 4, server.process.tail(60))
        self.check_clean_end(*self.agents, *(s.process for s in self.servers))


if __name__ == "__main__":
    unittest.main(verbosity=2)
