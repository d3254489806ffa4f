"""What davit says of its configuration is what it reads: the schema, the pages of the manual, the shipped files."""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

try:
    import jsonschema
except ImportError:
    jsonschema = None

ROOT = Path(__file__).resolve().parents[3]
DAVIT = os.environ["DAVIT"]
COMMENTED_KEY = re.compile(r"^#((?:\[\[?[a-z_.]+\]\]?(?: +#.*)?|[a-z_]+ = .*))$", re.M)
SHIPPED = ("server", "agent", "federation", "clusters", "postgres")


def davit(*words):
    return subprocess.run([DAVIT, *words], text=True, capture_output=True, timeout=120, check=True).stdout


def keys_of(table, above=""):
    """(dotted name, schema) of each setting of a table's schema."""
    for name, setting in table["properties"].items():
        yield above + name, setting
        inner = setting.get("items", setting)
        if "properties" in inner:
            yield from keys_of(inner, f"{above}{name}.")


class Settings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads(davit("config", "schema"))
        cls.plugins = {name.removeprefix("plugin."): schema for name, schema in cls.schema["$defs"].items()
                       if name.startswith("plugin.")}

    def test_every_setting_is_described(self):
        for name, table in self.schema["$defs"].items():
            for key, setting in keys_of(table):
                said = {"description", "default", "examples"} & setting.keys()
                self.assertTrue(said, f"{name}: nothing in etc/*.toml says what {key} is: add it there")
                typed = {"type", "enum", "const"} & setting.keys()
                self.assertTrue(typed, f"{name}: {key} has no type: its reader refuses a wrong value in words of its own")

    def test_every_shipped_plugin_is_there(self):
        modules = {p.parent.name for p in (ROOT / "plugins").glob("*/CMakeLists.txt")
                   if "davit_add_plugin(" in p.read_text(encoding="utf-8")}
        self.assertEqual(modules - self.plugins.keys(), set())

    def test_every_key_that_a_plugin_reads_is_found(self):
        sys.path.insert(0, str(ROOT / "tests/tidy"))
        from tidy import keys_read  # pylint: disable=import-outside-toplevel
        for module, table in self.plugins.items():
            found = {key.split(".")[-1] for key, _ in keys_of(table)} | {"module"}
            for source in (ROOT / "plugins" / module).glob("*.?pp"):
                read = keys_read(source.read_text(encoding="utf-8"))
                self.assertEqual(read - found, set(), f"{source.name} of {module}: the schema lacks it")

    def test_defaults_are_allowed(self):
        for name, table in self.schema["$defs"].items():
            for key, setting in keys_of(table):
                if "default" in setting and setting.get("type") == "integer":
                    value = setting["default"]
                    self.assertLessEqual(setting.get("minimum", value), value, f"{name}: {key}")
                    self.assertGreaterEqual(setting.get("maximum", value), value, f"{name}: {key}")
                if "default" in setting and "enum" in setting:
                    self.assertIn(setting["default"], setting["enum"], f"{name}: {key}")

    @unittest.skipUnless(jsonschema, "needs python3-jsonschema")
    def test_the_schema_takes_the_shipped_files(self):
        validator = jsonschema.Draft202012Validator(self.schema)
        jsonschema.Draft202012Validator.check_schema(self.schema)
        for name in SHIPPED:
            text = (ROOT / "etc" / f"{name}.toml").read_text(encoding="utf-8")
            for form in (text, COMMENTED_KEY.sub(r"\1", text)):
                wrong = [f"{list(e.path)}: {e.message[:200]}" for e in validator.iter_errors(tomllib.loads(form))]
                self.assertEqual(wrong, [], name)

    @unittest.skipUnless(jsonschema, "needs python3-jsonschema")
    def test_the_schema_refuses_what_check_refuses(self):
        validator = jsonschema.Draft202012Validator(self.schema)
        for text in ('[host]\nlog_levle = "info"', '[host]\nlog_level = "loud"', "[host]\nstop_timeout_ms = 1",
                     '[plugin.s]\nmodule = "streamer"\nring_bytes_max = "big"',
                     '[plugin.s]\nmodule = "streamer"\nnobody_reads_this = 1',
                     '[plugin.c]\nmodule = "cluster_kubernetes"\ntoken = { sourse = "metadata" }',
                     '[rpc.server.main]\nlisten = 7070', "[other]\nx = 1", '[plugin."Bad Name"]\nmodule = "streamer"'):
            self.assertTrue(list(validator.iter_errors(tomllib.loads(text))), text)
        for text in ('[plugin.s]\nmodule = "of_a_third_party"\nanything = 1', "[plugin.main]\nmeasure_interval_ms = 0"):
            self.assertEqual(list(validator.iter_errors(tomllib.loads(text))), [], text)

    def test_the_schema_is_the_same_each_time(self):
        self.assertEqual(json.loads(davit("config", "schema")), self.schema)

    def test_dump_shows_defaults_and_is_a_configuration(self):
        server = str(ROOT / "etc/server.toml")
        plain, full = davit("config", "dump", server), davit("config", "dump", "--defaults", "--origin", server)
        self.assertEqual(tomllib.loads(plain), tomllib.loads((ROOT / "etc/server.toml").read_text(encoding="utf-8")))
        self.assertEqual(tomllib.loads(full), tomllib.loads(plain))
        self.assertIn("#poll_interval_ms = 1000  # of the whole process", full)
        self.assertRegex(full, r'(?m)^storage = "main"  # .*etc/server\.toml:\d+$')

    def test_a_fault_of_a_file_is_said(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write("[host\n")
            file.flush()
            done = subprocess.run([DAVIT, "config", "dump", file.name], text=True, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(f"{file.name}:1:", done.stderr)

    def test_plugin_show(self):
        shown = davit("plugin", "show", "streamer")
        self.assertRegex(shown, r"(?m)^ring_bytes_max +an integer from \d+ to \d+ +16777216 +recent changes in memory")
        self.assertRegex(shown, r"(?m)^streamer \d")
        done = subprocess.run([DAVIT, "plugin", "show", "nobody"], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 5)
        self.assertIn("nobody", done.stderr)


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        cls.addClassCleanup(cls.folder.cleanup)
        davit("__manual", cls.folder.name)
        cls.pages = {path.name: path for path in Path(cls.folder.name).glob("man?/*")}

    def test_each_command_has_a_page(self):
        commands = re.findall(r"^  davit ([a-z]+) ", davit("--help"), re.M)
        self.assertGreater(len(commands), 10)
        expected = {"davit.1", "davit.toml.5"} | {f"davit-{name}.1" for name in commands}
        self.assertEqual(set(self.pages), expected)

    def test_pages_say_what_help_says(self):
        for name in re.findall(r"^  davit ([a-z]+) ", davit("--help"), re.M):
            page = self.pages[f"davit-{name}.1"].read_text(encoding="utf-8")
            for option in re.findall(r"^ *(?:-\w, )?(--[a-z-]+)", davit(name, "--help"), re.M):
                self.assertIn(option.replace("-", "\\-"), page, name)

    def test_man_finds_no_fault(self):
        own = [ROOT / "sdk/man/davit-plugin.7", ROOT / "sdk/man/davit-conformance.1"]
        for path in [*self.pages.values(), *own]:
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(path)], check=False,
                                  env={**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"},
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), path.name)

    def test_the_page_of_the_settings_has_every_key(self):
        page = self.pages["davit.toml.5"].read_text(encoding="utf-8").replace("\\-", "-")
        for name in SHIPPED:
            for key in re.findall(r"^#?([a-z_]+) = ", (ROOT / "etc" / f"{name}.toml").read_text(encoding="utf-8"), re.M):
                self.assertRegex(page, rf"(?m)^\\fB(?:[\w.\[\]]+\.)?{key}\\fR$|module = ", key)


if __name__ == "__main__":
    unittest.main()
