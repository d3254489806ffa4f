"""That the gate of the ABI (sdk/abi/compare.py) lets pass what may change, and names what may not.

Each mutant is an edit of one header, in a copy of today's headers that is then compared with today's.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "sdk/abi"))
import compare  # noqa: E402  (the folder is on the path only now)
import freeze  # noqa: E402

TODAY = compare.Abi(compare.INCLUDE)

# What is done, the header, its text, the new text, and what the gate says.
BREAK = (
    ("a member is removed", "records.h", "  davit_str kind, region, id;\n", "  davit_str kind, id;\n",
     ["davit_key.region: is gone", "davit_key.id: has moved from byte 32 to byte 16", "davit_key: its size was 48 and is 32"]),
    ("two members are swapped", "records.h", "  davit_str kind, region, id;\n", "  davit_str region, kind, id;\n",
     ["davit_key.kind: has moved from byte 0 to byte 16"]),
    ("a member is widened", "core.h", "  int32_t code;\n", "  int64_t code;\n",
     ["davit_error.code: its type was `int32_t` and is `int64_t`", "davit_error.code: its size was 4 and is 8"]),
    ("a member becomes signed", "records.h", "  uint64_t incarnation, version;", "  int64_t incarnation, version;",
     ["davit_cursor.version: its type was `uint64_t` and is `int64_t`"]),
    ("a member is inserted in the middle", "storage.h", "  uint64_t first_version;\n",
     "  uint64_t last_version;\n  uint64_t first_version;\n",
     ["davit_group_result.last_version: is new and does not stand at the end",
      "davit_group_result.first_version: has moved from byte 16 to byte 24"]),
    ("a member is put into a hole, where nothing moves", "services.h",
     "  const davit_config_node* (*root)(const davit_host*);",
     "  uint32_t flags;\n  const davit_config_node* (*root)(const davit_host*);",
     ["davit_config.flags: is new and does not stand at the end"]),
    ("a text becomes shorter", "core.h", "char message[768];", "char message[512];",
     ["davit_error.message: its type was `char[768]` and is `char[512]`", "davit_error: its size was 1032 and is 776"]),
    ("a struct that never grows has grown", "core.h", "  size_t len;\n} davit_str;", "  size_t len;\n  size_t room;\n} davit_str;",
     ["davit_str.room: is new, and this struct never grows: it has no struct_size", "davit_str: its size was 16 and is 24"]),
    ("struct_size is not first", "storage.h", "  uint32_t struct_size;\n  uint32_t reserved;\n  davit_cursor head;",
     "  uint32_t reserved;\n  uint32_t struct_size;\n  davit_cursor head;",
     ["davit_head.struct_size: has moved from byte 0 to byte 4"]),
    ("what is pointed to becomes a value", "storage.h", "  const davit_scope* scope;\n  davit_cursor cursor; /* read the",
     "  davit_scope scope;\n  davit_cursor cursor; /* read the",
     ["davit_read.scope: its type was `const davit_scope *` and is `davit_scope`"]),
    ("a slot is removed", "gate.h", "  void (*wait)(davit_instance*, davit_gate_opened opened, void* ctx);\n", "",
     ["davit_gate.wait: is gone", "davit_gate: its size was 16 and is 8"]),
    ("two slots are swapped", "cluster.h",
     "  void (*credit)(davit_instance*, davit_cluster_watch*, uint32_t more);\n"
     "  void (*cancel)(davit_instance*, davit_cluster_watch*);\n",
     "  void (*cancel)(davit_instance*, davit_cluster_watch*);\n"
     "  void (*credit)(davit_instance*, davit_cluster_watch*, uint32_t more);\n",
     ["davit_cluster.credit: has moved from byte 24 to byte 32", "davit_cluster.cancel: has moved from byte 32 to byte 24"]),
    ("a slot takes one argument more", "sink.h", "  void (*close)(davit_instance*, davit_change_stream*);",
     "  void (*close)(davit_instance*, davit_change_stream*, int32_t code);",
     ["davit_change_sink.close: its type was `void (*)(davit_instance *, davit_change_stream *)` and is "
      "`void (*)(davit_instance *, davit_change_stream *, int32_t)`"]),
    ("a slot answers in another type", "core.h", "  int32_t (*stop)(davit_instance*, const davit_op*, davit_error*);",
     "  void (*stop)(davit_instance*, const davit_op*, davit_error*);",
     ["davit_plugin.stop: its type was `int32_t (*)("]),
    ("a slot no longer promises what it points to", "sink.h", "(*offer)(davit_instance*, const davit_status*, davit_error*)",
     "(*offer)(davit_instance*, davit_status*, davit_error*)", ["davit_status_sink.offer: its type was"]),
    ("a callback changes, and so each slot that takes it", "records.h",
     "typedef int32_t (*davit_visit_record)(void* ctx, const davit_record*);",
     "typedef void (*davit_visit_record)(void* ctx, const davit_record*);",
     ["davit_visit_record: the type was", "davit_storage.read: its type was", "davit_storage.get: its type was"]),
    ("a value is renumbered", "sink.h", "#define DAVIT_CHANGE_DELETE 2", "#define DAVIT_CHANGE_DELETE 4",
     ["DAVIT_CHANGE_DELETE: the macro was 2 and is 4"]),
    ("a value is gone", "core.h", "#define DAVIT_DATA_LOSS 15\n", "", ["DAVIT_DATA_LOSS: the macro is gone"]),
    ("a flag's bit moves", "storage.h", "#define DAVIT_PAGE_MORE DAVIT_CRITICAL(0)", "#define DAVIT_PAGE_MORE DAVIT_CRITICAL(1)",
     ["DAVIT_PAGE_MORE: the macro was 65536 and is 131072"]),
    ("a hint becomes critical", "cluster.h", "#define DAVIT_WATCH_METADATA_ONLY 1u",
     "#define DAVIT_WATCH_METADATA_ONLY DAVIT_CRITICAL(0)", ["DAVIT_WATCH_METADATA_ONLY: the macro was 1 and is 65536"]),
    ("the critical half begins elsewhere", "core.h", "#define DAVIT_CRITICAL(n) (UINT32_C(0x10000) << (n))",
     "#define DAVIT_CRITICAL(n) (UINT32_C(0x1000000) << (n))",
     ["DAVIT_CRITICAL: the macro was (0x10000U << (a0)) and is (0x1000000U << (a0))",
      "DAVIT_STATUS_GONE: the macro was 65536 and is 16777216"]),
    ("the id of a role changes", "secrets.h", '#define DAVIT_SECRETS "davit.secrets/1"', '#define DAVIT_SECRETS "davit.secrets/2"',
     ['DAVIT_SECRETS: the macro was "davit.secrets/1" and is "davit.secrets/2"']),
    ("the entry takes another argument", "core.h", "davit_plugin_entry_v1(uint32_t host_abi_minor, davit_error*);",
     "davit_plugin_entry_v1(uint64_t host_abi_minor, davit_error*);", ["davit_plugin_entry_v1: the function was"]),
    ("the entry has another name", "core.h", '"davit_plugin_entry_v1"', '"davit_plugin_entry_v2"',
     ["DAVIT_PLUGIN_ENTRY: the macro was"]),
    ("a needed slot becomes optional", "storage.h", "  /* Stores one agent's progress. */", "  /* Optional. */",
     ["davit_storage.progress: was needed and is optional, as its comment says"]),
    ("an optional slot becomes needed", "rpc.h", "   * Optional. */\n  void (*release)(void* self);",
     "   * Needed. */\n  void (*release)(void* self);",
     ["davit_rpc_method.release: was optional and is needed, as its comment says"]),
    ("a slot may block where it did not", "sink.h", "record up to it is applied, held or parked. [any] */",
     "record up to it is applied, held or parked. [pool] */", ["davit_status_sink.advance: its comment no longer says [any]"]),
    ("the minor falls", "core.h", "#define DAVIT_ABI_MINOR 1", "#define DAVIT_ABI_MINOR 0",
     ["DAVIT_ABI_MINOR: was 1 and is 0: it only grows"]),
    ("what a later member would need is not there", "core.h", "} davit_bytes;", "", ["error:"]),
)

# What is done, the header, its text and the new text.
PASS = (
    ("a member at the end", "core.h", "  void (*off_cancel)(const struct davit_op*, davit_op_watch*);\n",
     "  void (*off_cancel)(const struct davit_op*, davit_op_watch*);\n  uint64_t budget;\n"),
    ("a slot at the end", "gate.h", "  void (*wait)(davit_instance*, davit_gate_opened opened, void* ctx);\n",
     "  void (*wait)(davit_instance*, davit_gate_opened opened, void* ctx);\n  void (*leave)(davit_instance*);\n"),
    ("a struct, a value and a later minor", "core.h", "#define DAVIT_ABI_MINOR 1\n",
     "#define DAVIT_ABI_MINOR 2\n#define DAVIT_SLEEPS 17\ntypedef struct davit_more {\n  uint32_t struct_size;\n} davit_more;\n"),
    ("the members of a struct that nobody knew", "core.h", "typedef struct davit_op_watch davit_op_watch;",
     "typedef struct davit_op_watch {\n  int32_t number;\n} davit_op_watch;"),
    ("comments, lines and names of arguments", "gate.h",
     "  void (*wait)(davit_instance*, davit_gate_opened opened, void* ctx);",
     "  /* Another comment. [any] */ void (*wait)(davit_instance* gate,\n    davit_gate_opened call, void* with);"),
    ("another spelling of the same types", "records.h", "  uint64_t incarnation, version;",
     "  unsigned long incarnation;\n  uint64_t version;"),
    ("another spelling of the same value", "sink.h", "#define DAVIT_CHANGE_DELETE 2", "#define DAVIT_CHANGE_DELETE (1 + 1)"),
)


def abi_of(folder, text):
    """What headers declare of which davit/abi.h is this."""
    (folder / "davit").mkdir(parents=True)
    (folder / "davit/abi.h").write_text(text)
    return compare.Abi(folder)


class Gate(unittest.TestCase):
    def said(self, header, old, new):
        """What the gate says when this text of a header is another one."""
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder)
            (copy / "davit").mkdir()
            shutil.copy(compare.INCLUDE / "davit/abi.h", copy / "davit")
            shutil.copytree(compare.INCLUDE / "davit/abi", copy / "davit/abi")
            path = copy / "davit/abi" / header
            self.assertEqual(path.read_text().count(old), 1, f"{header} has this text once:\n{old}")
            path.write_text(path.read_text().replace(old, new))
            try:
                return compare.faults(TODAY, compare.Abi(copy))
            except compare.Refused as refused:
                return [str(refused)]

    def test_what_breaks_a_plugin_is_named(self):
        for what, header, old, new, expected in BREAK:
            with self.subTest(what):
                said = "\n".join(self.said(header, old, new))
                for line in expected:
                    self.assertIn(line, said)

    def test_what_adds_passes(self):
        for what, header, old, new in PASS:
            with self.subTest(what):
                self.assertEqual(self.said(header, old, new), [])

    def test_what_stands_in_the_padding_at_the_end_was_there_before(self):
        """An older plugin's struct_size covers it, and its bytes are anything."""
        text = "typedef struct davit_x {\n  unsigned struct_size;\n  void* self;\n  int last;%s\n} davit_x;\n"
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            was = abi_of(folder / "was", text % "")
            said = compare.faults(was, abi_of(folder / "now", text % " int more;"))
            self.assertRegex("\n".join(said), "davit_x.more: is new and stands in what was padding at the end")
            padded = abi_of(folder / "padded", text % " int reserved; int more;")
            self.assertEqual(compare.faults(was, padded), [])
            self.assertEqual(compare.faults(was, abi_of(folder / "later", text % " void* more;")), [])

    def test_a_header_that_is_gone_is_named(self):
        with tempfile.TemporaryDirectory() as name:
            said = compare.faults(TODAY, abi_of(pathlib.Path(name), ""))
        self.assertIn("davit/abi/secrets.h: the header is gone", said)
        self.assertIn("davit_storage: the struct is gone", said)

    def test_what_the_gate_cannot_judge_is_refused(self):
        for text in ("enum davit_x { DAVIT_A };", "extern int davit_x;", "struct davit_x { unsigned a : 3; };",
                     "struct davit_x { union { int a; char b; }; };", "int davit_x("):
            with self.subTest(text), tempfile.TemporaryDirectory() as name, self.assertRaises(compare.Refused):
                abi_of(pathlib.Path(name), text)


class Message(unittest.TestCase):
    def said(self, name):
        """What the gate says of a frozen copy with this name, which has a struct that today's headers do not have."""
        with tempfile.TemporaryDirectory() as folder:
            include = pathlib.Path(folder) / name / "include"
            abi_of(include, "typedef struct davit_lost { int a; } davit_lost;\n")
            return compare.judge(include, compare.INCLUDE)

    def test_of_a_candidate_says_how_a_wanted_change_is_made(self):
        said = self.said("1.0-rc")
        self.assertIn("davit_lost: the struct is gone", said)
        self.assertIn("Append instead", said)
        self.assertIn("run sdk/abi/freeze.py in the same commit", said)

    def test_of_what_is_final_knows_no_such_way(self):
        said = self.said("1.0")
        self.assertIn("Append instead", said)
        self.assertNotIn("freeze.py", said)

    def test_the_program_fails_with_it(self):
        with tempfile.TemporaryDirectory() as folder:
            include = pathlib.Path(folder) / "1.0/include"
            abi_of(include, "typedef struct davit_lost { int a; } davit_lost;\n")
            run = subprocess.run([sys.executable, compare.__file__, include, compare.INCLUDE], text=True, capture_output=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("davit_lost: the struct is gone", run.stderr)


class Freeze(unittest.TestCase):
    def test_what_it_copies_is_judged_as_the_same(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "1.0-rc"
            for _ in range(2):
                freeze.freeze(folder)
            self.assertEqual(compare.judge(folder / "include", compare.INCLUDE), "")
            self.assertEqual(sorted(p.name for p in folder.iterdir()), ["include", "note.c", "plugin.map"])

    def test_leaves_alone_what_is_final(self):
        with tempfile.TemporaryDirectory() as name:
            (pathlib.Path(name) / "1.0").mkdir()
            self.assertIn("never changes", freeze.refreeze(pathlib.Path(name)))
            self.assertEqual(list((pathlib.Path(name) / "1.0").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
