"""The operator's commands as an operator uses them."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import unittest

from parts import AT_ONCE, DAVIT, REGION, REPOSITORY, Case, deployment, wait_until


class Commands(Case):
    def setUp(self):
        super().setUp()
        self.server = self.world.server(extra="".join(
            f'[plugin.kind_{kind}]\nmodule = "kind_{kind}"\n' for kind in ("cluster", "manifest"))).start()
        self.world.wait_ready(self.server)

    def test_apply_says_created_changed_unchanged(self):
        out = self.world.apply([deployment(1), deployment(2)])
        self.assertRegex(out, r"deployment/d_1 .*created")
        self.assertRegex(out, r"deployment/d_2 .*created")
        out = self.world.apply([deployment(1), deployment(2, replicas=2)])
        self.assertRegex(out, r"deployment/d_1 .*unchanged")
        self.assertRegex(out, r"deployment/d_2 .*changed")

    def test_version_moves_only_when_something_changed(self):
        self.world.apply([deployment(1)])
        before = self.world.objects()["d_1"]["version"]
        self.world.apply([deployment(1)])
        self.assertEqual(self.world.objects()["d_1"]["version"], before)

    def test_again_applies_what_is_unchanged(self):
        agent = self.world.agent(extra=AT_ONCE).start()
        self.world.apply([deployment(1)], "--wait")
        said = self.world.apply([deployment(1)], "--again", "--wait")
        self.assertRegex(said, r"(?s)applied \(version 2\)\n.*version 2, 1 of 1")
        self.assertIn("unchanged", self.world.apply([deployment(1)]))
        self.check_clean_end(agent)

    def test_dry_run_changes_nothing(self):
        self.world.apply([deployment(1)], "--dry-run")
        self.assertEqual(self.world.objects(), {})

    def test_get_gives_back_what_was_applied(self):
        document = deployment(1)
        self.world.apply([document])
        for form in ("json", "yaml"):
            text = self.world.davit("get", "deployment", "d_1", "--region", REGION, "-o", form)[1]
            # What get prints can be applied again.
            code, out, err = self.world.davit("apply", "-f", "-", stdin=text, check=False)
            self.assertEqual(code, 0, out + err + text)
            self.assertIn("unchanged", out)
        spec = json.loads(self.world.davit("get", "deployment", "d_1", "--region", REGION, "-o", "json")[1])["spec"]
        self.assertEqual(spec, document["spec"])

    def test_every_example_is_taken_as_it_stands(self):
        examples = sorted((REPOSITORY / "etc/examples").glob("*.yaml"))
        self.assertEqual({p.name.removesuffix(".yaml") for p in examples},
                         {p.name.removeprefix("kind_") for p in (REPOSITORY / "plugins").glob("kind_*")})
        for example in examples:
            text = example.read_text(encoding="utf-8").replace("eu-demo-1", REGION)
            self.assertIn("created", self.world.davit("apply", "-f", "-", stdin=text)[1])

    def test_a_folder_is_applied_and_deleted(self):
        folder = self.world.folder / "records"
        (folder / "sub").mkdir(parents=True)
        (folder / "a.yaml").write_text(json.dumps(deployment(1)), encoding="utf-8")
        (folder / "sub/b.json").write_text(json.dumps(deployment(2)), encoding="utf-8")
        (folder / "notes.txt").write_text("no document", encoding="utf-8")
        self.assertEqual(len(self.world.davit("apply", "-f", folder)[1].splitlines()), 1)
        self.assertEqual(set(self.world.objects()), {"d_1"})
        out = self.world.davit("apply", "-R", "-f", folder)[1]
        self.assertRegex(out, r"(?s)d_1 .*unchanged.*d_2 .*created")
        (folder / "sub/b.json").write_text("kind: deployment\nregion: [r]\nid: d_2\nspec: {}\n", encoding="utf-8")
        code, out, err = self.world.davit("apply", "-R", "-f", folder, check=False)
        self.assertEqual((code, err.partition(" ")[0]), (4, f"{folder}/sub/b.json:2:"), out + err)
        (folder / "sub/b.json").write_text(json.dumps(deployment(2)), encoding="utf-8")
        self.world.davit("delete", "-f", folder, "-R")
        self.assertEqual(self.world.objects(), {})

    def test_delete_and_again(self):
        self.world.apply([deployment(1)])
        self.assertRegex(self.world.delete("deployment", "d_1"), r"deployment/d_1 .*deleted")
        self.assertEqual(self.world.objects(), {})
        code, out, err = self.world.davit("delete", "deployment", "d_1", "--region", REGION, check=False)
        self.assertIn("absent", out + err)
        self.assertEqual(code, 0)

    def test_several_records_are_named_at_once(self):
        example = (REPOSITORY / "etc/examples/sentinel.yaml").read_text(encoding="utf-8").replace("eu-demo-1", REGION)
        self.world.davit("apply", "-f", "-", stdin=example)
        sentinel = re.search(r"^id: (\S+)", example, re.MULTILINE)[1]
        self.world.apply([deployment(n) for n in (1, 2, 3)])
        for place in ((), ("--region", REGION)):
            rows = self.world.davit("get", "deployment", "d_3", "d_1", *place)[1].splitlines()
            self.assertEqual([row.split()[1] for row in rows], ["ID", "d_1", "d_3"])
            self.assertIn("IMAGE", rows[0])
            code, out, err = self.world.davit("get", f"sentinel/{sentinel}", "deployment/d_404", "deployment/d_2",
                                              "-o", "json", *place, check=False)
            self.assertEqual((code, [d["id"] for d in json.loads(out)]), (5, ["d_2", sentinel]), err)
            self.assertIn('no deployment "d_404"', err)
        code, out, err = self.world.davit("status", "deployment/d_2", "deployment/d_404", "deployment/d_1", check=False)
        self.assertEqual((code, re.findall(r"d_\d+", out), err),
                         (5, ["d_1", "d_2"], 'davit status: no deployment "d_404"\n'))
        shown = json.loads(self.world.davit("status", "deployment", "d_1", "d_3", "-o", "json")[1])
        self.assertEqual([o["id"] for o in shown["objects"]], ["d_1", "d_3"])
        self.assertEqual(self.world.davit("status", "deployment", "d_404", "-o", "json", check=False)[0], 5)
        out = self.world.davit("delete", "deployment/d_1", f"sentinel/{sentinel}", "deployment/d_404", "-r", REGION)[1]
        self.assertRegex(out, r"(?s)d_1 .*deleted.*" + sentinel + " .*deleted.*d_404 .*absent")
        self.assertEqual(set(self.world.objects()), {"d_2", "d_3"})
        for words in (("get", "deployment", ""), ("get", "-w", "deployment", "d_1", "d_2"),
                      ("delete", "deployment/d_2", "d_3", "-r", REGION)):
            self.assertEqual(self.world.davit(*words, check=False)[0], 2, words)
        self.assertEqual(set(self.world.objects()), {"d_2", "d_3"})

    def test_a_mistyped_id_is_said_so(self):
        self.world.apply([deployment(1), deployment("web")])
        instead = 'no deployment "d_wbe"{}; did you mean "d_web"?\n'
        for words, place in (((), " in any region"), (("-r", REGION), f' in region "{REGION}"')):
            said = self.world.davit("get", "deployment/d_wbe", "deployment/d_2", *words, check=False)
            self.assertEqual(said, (5, "", f"davit get: {instead.format(place)}"
                                           f'davit get: no deployment "d_2"{place}\n'))
        self.assertEqual(self.world.davit("get", "deployment", "d_wbe", "-w", check=False),
                         (5, "", f"davit get: {instead.format(' in any region')}"))
        self.assertEqual(self.world.davit("status", "deployment", "d_wbe", check=False),
                         (5, "", f"davit status: {instead.format('')}"))
        code, out, err = self.world.davit("delete", "deployment", "d_wbe", "-r", REGION)
        self.assertIn("absent", out)
        self.assertEqual((code, err), (0, f"davit delete: {instead.format(place)}"))
        elsewhere = f'no deployment "d_web" in region "eu"; there is one in region "{REGION}"\n'
        self.assertEqual(self.world.davit("get", "deployment", "d_web", "-r", "eu", check=False)[2],
                         f"davit get: {elsewhere}")
        self.assertEqual(set(self.world.objects()), {"d_1", "d_web"})

    def test_a_delete_waits_until_agents_have_removed_it(self):
        agent = self.world.agent(extra=AT_ONCE).start()
        self.world.apply([deployment(n) for n in (1, 2)], "--wait")
        out = self.world.davit("delete", "deployment", "d_1", "d_2", "-r", REGION, "--wait")[1]
        self.assertRegex(out, r"(?s)d_1 .*deleted.*d_2 .*deleted")
        self.assertEqual(len(re.findall(r"deployment/d_\d \(\S+\): gone", out)), 2, out)
        # Nothing is waited for that was never there, and what is gone is gone.
        out = self.world.davit("delete", "deployment/d_1", "deployment/d_404", "-r", REGION, "--wait")[1]
        self.assertRegex(out, r"(?s)d_1 .*absent.*d_404 .*absent.*d_1 \(\S+\): gone")
        self.world.apply([deployment(3)])
        self.world.wait_running(["d_3"])
        self.check_clean_end(agent)
        words = ("delete", "deployment", "d_3", "-r", REGION, "--wait", "--timeout", "5s", "-o", "json")
        for outcome in ("deleted", "absent"):
            code, out, err = self.world.davit(*words, check=False)
            self.assertEqual(code, 6, out + err)
            self.assertEqual(json.loads(out)["outcomes"][0]["outcome"], outcome)
            self.assertRegex(err, r"not gone after 5s: deployment/d_3 ")
        agent.start()
        self.assertIn("d_3 (", self.world.davit(*words[:6], "--timeout", "60s")[1])
        self.check_clean_end(agent)

    def test_names_go_from_one_command_to_the_next(self):
        document = "\n---\n".join(json.dumps(d) for d in (deployment(1), deployment(2), deployment(3, cpu_millicores="x")))
        code, out, err = self.world.davit("apply", "-f", "-", "-o", "name", stdin=document, check=False)
        self.assertEqual((code, out), (4, "deployment/d_1\ndeployment/d_2\n"), err)
        names = self.world.davit("get", "-oname")[1]
        self.assertEqual(names, out)
        self.assertEqual(self.world.davit("get", "sentinel", "-o", "name")[1], "")
        self.assertEqual(self.world.davit("get", *names.split(), "-o", "name")[1], names)
        again = self.world.davit("delete", "deployment/d_404", *names.split(), "-r", REGION, "-o", "name")[1]
        self.assertEqual(again, names)
        self.assertEqual(self.world.objects(), {})
        self.assertEqual(self.world.davit("status", "-o", "name", check=False)[0], 2)

    def test_a_wide_table_has_all_columns_on_a_narrow_terminal(self):
        self.world.apply([deployment(1)])

        def columns(*words):
            ours, terminal = pty.openpty()
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
            subprocess.run([str(DAVIT), *words], stdout=terminal, check=True,
                           env={**os.environ, "DAVIT_SERVER": f"unix:{self.world.socket}", "NO_COLOR": "1"})
            os.close(terminal)
            out = os.read(ours, 65536).decode()
            os.close(ours)
            return out.splitlines()[0].split()
        for words, spare in ((("get", "deployment"), "NAMESPACE"), (("status", "deployment"), "OBSERVED")):
            self.assertNotIn(spare, columns(*words))
            self.assertIn(spare, columns(*words, "-o", "wide"))

    def test_tables_line_up_and_have_no_colour_in_a_pipe(self):
        self.world.apply([deployment(1), deployment(22222)])
        out = self.world.davit("get", "deployment")[1]
        self.assertNotIn("\x1b", out)
        lines = [line for line in out.splitlines() if line.strip()]
        starts = [m.start() for m in re.finditer(r"\S+", lines[0])]
        for line in lines[1:3]:
            for start in starts[1:]:
                self.assertEqual(line[start - 1], " ", out)

    def test_tables_of_one_kind_have_its_own_columns(self):
        agent = self.world.agent(extra=AT_ONCE).start()
        self.world.apply([deployment(1)], "--wait", "--timeout", "60s")
        image = deployment(1)["spec"]["image"]
        heading, row = self.world.davit("get", "deployment")[1].splitlines()[:2]
        at = heading.index("IMAGE")
        self.assertEqual(row[at:at + len(image)], image)
        self.assertNotIn("IMAGE", self.world.davit("get")[1], "a table of several kinds")
        self.assertRegex(self.world.davit("status", "deployment")[1], r"TEMPLATE +HEALTH")
        self.assertNotIn("TEMPLATE", self.world.davit("status")[1])
        # The detail is a part of the document, and no text in it.
        for form in ("json", "yaml"):
            said = self.world.davit("status", "deployment", "d_1", "-o", form)[1]
            self.assertRegex(said, r'"?detail"?:( \{)?\n +"?template_hash"?: ')
        self.check_clean_end(agent)

    def test_wait_ends_when_it_runs(self):
        agent = self.world.agent(extra=AT_ONCE).start()
        document = deployment(1, replicas=3)
        out = self.world.apply([document], "--wait", "--timeout", "60s")
        self.assertIn("3", out)
        self.assertEqual(int(self.world.objects()["d_1"]["observed"]["ready"]), 3)
        # A new template: the old pods do not count.
        document["spec"]["image"] = "registry.example/app:2"
        self.world.apply([document], "--wait", "--timeout", "60s")
        seen = self.world.objects()["d_1"]
        self.assertEqual(int(seen["observed"].get("stale", 0)), 0)
        self.assertGreaterEqual(int(seen["observed"]["observed_version"]), int(seen["version"]))
        self.check_clean_end(agent, self.server)

    def test_wait_gives_up_at_its_timeout(self):
        code, out, err = self.world.davit("apply", "-f", "-", "--wait", "--timeout", "1s", check=False,
                                          stdin=json.dumps(deployment(1)))
        self.assertEqual(code, 6, out + err)
        self.assertIn("1s", out + err)

    def test_what_apply_prints_for_programs_has_nothing_for_people_in_it(self):
        agent = self.world.agent(extra=AT_ONCE).start()
        document = json.dumps(deployment(1))
        _, out, err = self.world.davit("apply", "-f", "-", "--wait", "-o", "json", stdin=document)
        self.assertEqual(json.loads(out)["outcomes"][0]["outcome"], "created")
        self.assertIn("running at version 1", err)
        self.check_clean_end(agent)

    def test_each_way_to_end_has_its_exit_code(self):
        agent = self.world.agent(extra=AT_ONCE).start()
        self.world.apply([deployment(1)], "--wait")
        held = json.dumps({**deployment(1, replicas=2), "annotations": {"davit.dev/pause": "true"}})
        refused = json.dumps(deployment(2, memory_mib="-1"))
        for expected, stdin, *words in ((0, None, "status", "deployment", "d_1"),
                                        (0, held, "apply", "-f", "-", "--dry-run"),
                                        (2, None, "get", "--fast"),
                                        (4, None, "get", "deploymnt"),
                                        (4, refused, "apply", "-f", "-"),
                                        (5, None, "get", "deployment", "d_404"),
                                        (5, None, "get", "deployment", "d_404", "--region", REGION),
                                        (5, None, "status", "deployment", "d_404"),
                                        (5, None, "agent", "forget", REGION, "nobody"),
                                        (6, None, "status", "--server", f"unix:{self.world.folder}/nobody.sock"),
                                        (7, held, "apply", "-f", "-", "--wait")):
            with self.subTest(" ".join(words)):
                code, out, err = self.world.davit(*words, stdin=stdin, check=False)
                self.assertEqual(code, expected, out + err)
        self.check_clean_end(agent)

    def test_status_shows_lag_and_agents(self):
        agent = self.world.agent(name="agent-a").start()
        self.world.apply([deployment(n) for n in range(3)])
        self.world.wait_running(["d_0", "d_1", "d_2"])
        wait_until("lag is none", lambda: [a for a in self.world.status()["agents"]
                                           if a["agent"] == "agent-a" and int(a.get("lag", 0)) == 0])
        text = self.world.davit("status")[1]
        self.assertIn("agent-a", text)
        self.assertIn("d_0", text)
        self.check_clean_end(agent)

    def test_paused_record_is_held(self):
        agent = self.world.agent().start()
        self.world.apply([deployment(1)])
        self.world.wait_running(["d_1"])
        self.world.apply([{**deployment(1, replicas=5), "annotations": {"davit.dev/pause": "true"}}])
        wait_until("held", lambda: [i for a in self.world.status()["agents"] for i in a.get("issues", [])
                                    if i["condition"] == "held" and i["id"] == "d_1"])
        self.assertEqual(int(self.world.objects()["d_1"]["observed"]["ready"]), 1)
        self.world.apply([deployment(1, replicas=5)])
        self.assertEqual(int(self.world.wait_running(["d_1"])["d_1"]["observed"]["ready"]), 5)
        self.check_clean_end(agent)

    def test_status_of_one_record_says_its_conditions_alone(self):
        agent = self.world.agent().start()
        paused = {"annotations": {"davit.dev/pause": "true"}}
        self.world.apply([{**deployment(n), **paused} for n in (1, 2)])
        wait_until("both are held", lambda: 2 == len([i for a in self.world.status()["agents"]
                                                      for i in a.get("issues", [])]))
        out = self.world.davit("status", "deployment", "d_1", "--region", REGION)[1]
        self.assertRegex(out, r"held +deployment +d_1")
        self.assertNotIn("d_2", out)
        self.check_clean_end(agent)

    def test_an_orphan_is_confirmed_by_its_id(self):
        agent = self.world.agent(extra=AT_ONCE).start()
        self.world.apply([deployment(n) for n in (1, 2, 3)])
        self.world.wait_running(["d_1", "d_2", "d_3"])
        self.assertEqual(self.server.stop(), 0)
        self.world.store.empty()
        self.server.start()
        self.world.wait_ready(self.server)

        def orphans():
            return sorted(i["id"] for a in self.world.status().get("agents", []) for i in a.get("issues", [])
                          if i["condition"] == "orphaned")
        wait_until(lambda: f"all are orphaned: {orphans()}; {agent.tail()}", lambda: orphans() == ["d_1", "d_2", "d_3"])
        self.assertRegex(self.world.davit("status")[1], r"orphaned +deployment +d_1 \(shop/app-1\)")
        dry = self.world.davit("delete", "deployment", "--orphaned", "--region", REGION, "--dry-run")[1]
        self.assertEqual(len(re.findall(r"deployment/d_\d .*deleted.*removes shop/app-\d \(dry run\)", dry)), 3, dry)
        self.assertRegex(self.world.delete("deployment", "d_1"), r"deleted \(version 1\): an orphan")
        wait_until(lambda: f"d_1 is gone: {orphans()}", lambda: orphans() == ["d_2", "d_3"])
        self.world.davit("delete", "deployment", "--orphaned", "--region", REGION, "--wait")
        self.assertEqual(orphans(), [])
        self.world.wait_gone()
        out = self.world.davit("delete", "deployment", "--orphaned", "--region", REGION)[1]
        self.assertIn("nothing is orphaned", out)
        self.check_clean_end(agent)

    def test_an_archived_record_stays_in_sight(self):
        agent = self.world.agent(extra=AT_ONCE).start()
        self.world.apply([deployment(1)])
        self.world.wait_running(["d_1"])
        self.world.apply([{**deployment(1), "state": "archived"}], "--wait")
        self.assertRegex(self.world.davit("status")[1], r"deployment +d_1 +\S+ +archived .*gone")
        saved = self.world.davit("get", "-o", "yaml")[1]
        self.assertIn("state: archived", saved)
        self.assertIn("archived", self.world.davit("get", "deployment", "d_1")[1])
        self.assertIn("unchanged", self.world.davit("apply", "-f", "-", stdin=saved)[1])
        self.check_clean_end(agent)

    def test_a_region_without_an_agent_is_shown_and_an_agent_is_forgotten(self):
        self.world.apply([deployment(1)])
        nobody = r"unattended .*no agent of the region has reported"
        self.assertRegex(self.world.davit("status")[1], nobody)
        agent = self.world.agent(name="agent-a").start()
        self.world.wait_running(["d_1"])
        self.assertNotIn("unattended", self.world.davit("status")[1])
        self.check_clean_end(agent)
        self.assertIn("forgot agent agent-a", self.world.davit("agent", "forget", REGION, "agent-a")[1])
        self.assertRegex(self.world.davit("status")[1], nobody)
        code, out, err = self.world.davit("agent", "forget", REGION, "agent-a", check=False)
        self.assertEqual(code, 5, out + err)
        self.assertIn('no agent "agent-a" of region', err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
