"""The example region_copy, built outside of this tree (test examples.outside_the_tree), as a controller in a server: it
writes through the role records of `desired`."""

import json
import os
import unittest
from pathlib import Path

from parts import Case, deployment, wait_until

INSTALLED = Path(os.environ.get("DAVIT_INSTALLED", "/does/not/exist"))
FROM, TO = "region-a", "region-b"


class Controller(Case):
    def start(self, controller=True):
        folders = [p for p in INSTALLED.glob("lib*/**/davit/plugins") if p.is_dir()]
        self.assertEqual(len(folders), 1, f"examples are not installed in {INSTALLED}")
        server = self.world.server(regions=(FROM, TO), extra=f"""
[plugin.copy]
module = "region_copy"
kind = "deployment"
from = "{FROM}"
to = "{TO}"
""" if controller else "")
        server.argv.append(str(self.world.write("third.toml", f'[host]\nplugin_dirs = ["{folders[0]}"]\n')))
        server.start()
        self.world.wait_ready(server)
        return server

    def documents(self, region):
        """The documents of a region by id, as `davit get` prints them."""
        said = json.loads(self.world.davit("get", "deployment", "--region", region, "-o", "json")[1])
        return {d["id"]: d for d in said}

    def specs(self, region):
        return {i: d["spec"] for i, d in self.documents(region).items()}

    def rows(self, region):
        """(version, author) of the live records of a region by id, as they stand in the store."""
        found = self.world.store.ask(f"SELECT id, version, author FROM records WHERE region = '{region}' AND live")
        return {i: (int(version), author) for i, version, author in found}

    def wait_equal(self):
        wait_until(lambda: f"the regions are equal: {self.specs(FROM)} {self.specs(TO)} {self.world.parts[-1].tail()}",
                   lambda: self.specs(FROM) == self.specs(TO))

    def apply(self, *numbers, region=FROM, **more):
        self.world.apply([deployment(n, region=region, **more) for n in numbers])

    def test_records_are_copied_changed_and_deleted(self):
        server = self.start()
        self.apply(*range(5))
        self.wait_equal()
        self.assertEqual(len(self.specs(TO)), 5)
        self.assertEqual(self.rows(TO)["d_0"][1], "copy", "what a controller writes has its instance's name")
        self.assertEqual(self.documents(TO)["d_0"]["annotations"], {"region-copy/from": FROM})

        self.apply(1, replicas=7)
        self.world.delete("deployment", "d_2", FROM)
        self.wait_equal()
        self.assertEqual(self.specs(TO)["d_1"]["replicas"], 7)
        self.assertNotIn("d_2", self.specs(TO))

        # Somebody edits a copy, and deletes another.
        edited = deployment(3, region=TO, replicas=9)
        edited["annotations"] = {"region-copy/from": FROM}
        self.world.apply([edited])
        self.world.delete("deployment", "d_4", TO)
        self.wait_equal()
        self.check_clean_end(server)

    def test_what_is_not_a_copy_is_left_alone(self):
        server = self.start()
        self.apply(1, 2, region=TO, replicas=3)
        self.apply(1, 4)
        wait_until("d_4 is copied", lambda: "d_4" in self.specs(TO))
        self.world.delete("deployment", "d_1", FROM)
        self.apply(5)
        wait_until("d_5 is copied", lambda: "d_5" in self.specs(TO))
        kept = self.specs(TO)
        self.assertEqual({i: kept[i]["replicas"] for i in ("d_1", "d_2")}, {"d_1": 3, "d_2": 3})
        self.assertIn("a record that is not a copy has the id", server.text())
        self.check_clean_end(server)

    def test_a_restart_goes_on_and_repeats_nothing(self):
        server = self.start()
        self.apply(*range(4))
        self.wait_equal()
        self.check_clean_end(server)
        server = self.start(controller=False)
        before = self.rows(TO)
        self.apply(1, replicas=5)
        self.apply(9)
        self.world.delete("deployment", "d_2", FROM)
        self.check_clean_end(server)
        server = self.start()
        self.wait_equal()
        after = self.rows(TO)
        self.assertEqual({i: after[i] for i in ("d_0", "d_3")}, {i: before[i] for i in ("d_0", "d_3")})
        self.assertEqual(set(after), {"d_0", "d_1", "d_3", "d_9"})
        self.check_clean_end(server)


if __name__ == "__main__":
    unittest.main(verbosity=2)
