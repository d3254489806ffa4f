"""The files for Prometheus and Grafana, by Prometheus' own tool: each alert fires, and each one can be quiet."""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import alerts

REPOSITORY = Path(__file__).resolve().parents[2]
MONITORING = REPOSITORY / "packaging/monitoring"
RULES = [MONITORING / "alerts.rules.yaml", MONITORING / "recording.rules.yaml"]


def promtool(*arguments):
    done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def case(fires):
    """All rows at once: the series of each have a job of their own."""
    series, expected = [], []
    for number, row in enumerate(alerts.TABLE):
        job = f"davit-{row.alert}-{number}"
        series += [{"series": alerts.with_target(one, job), "values": alerts.values(text)}
                   for one, text in [(row.series, row.fires if fires else row.quiet), *row.beside]]
        expected.append({
            "expr": f'count(ALERTS{{alertname="{row.alert}",alertstate="firing",job="{job}"}}) or vector(0)',
            "eval_time": f"{alerts.NOW}s", "exp_samples": [{"labels": "{}", "value": 1 if fires else 0}]})
    return {"interval": "1m", "input_series": series, "promql_expr_test": expected}


class Monitoring(unittest.TestCase):
    def test_rules_are_valid(self):
        code, text = promtool("check", "rules", "--lint=all", "--lint-fatal", *RULES)
        self.assertEqual(code, 0, text)

    def test_each_alert_is_in_the_table(self):
        named = re.findall(r"- alert: (\w+)", RULES[0].read_text(encoding="utf-8"))
        self.assertEqual(sorted(named), sorted({row.alert for row in alerts.TABLE}))

    def test_each_alert_fires_and_can_be_quiet(self):
        with tempfile.TemporaryDirectory() as folder:
            # YAML reads JSON.
            file = Path(folder) / "tests.yaml"
            file.write_text(json.dumps({"rule_files": [str(rules) for rules in RULES], "evaluation_interval": "1m",
                                        "tests": [case(True), case(False)]}), encoding="utf-8")
            code, text = promtool("test", "rules", file)
        self.assertEqual(code, 0, text)

    def test_dashboard_is_what_its_program_makes(self):
        made = subprocess.run([sys.executable, MONITORING / "dashboard.py"], capture_output=True, text=True, check=True)
        self.assertEqual(made.stdout, (MONITORING / "davit.dashboard.json").read_text(encoding="utf-8"),
                         "run packaging/monitoring/dashboard.py > packaging/monitoring/davit.dashboard.json")

    def test_queries_of_the_dashboard_are_valid(self):
        dashboard = json.loads((MONITORING / "davit.dashboard.json").read_text(encoding="utf-8"))
        queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
        self.assertGreater(len(queries), 20)
        rules = [{"record": f"query:{number}", "expr": re.sub(r"\$__rate_interval", "5m", query)}
                 for number, query in enumerate(queries)]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "queries.yaml"
            file.write_text(json.dumps({"groups": [{"name": "queries", "rules": rules}]}), encoding="utf-8")
            code, text = promtool("check", "rules", file)
        self.assertEqual(code, 0, text)


if __name__ == "__main__":
    unittest.main()
