"""The rules of sizes in abi.h, and that longer.py sees each way to break them."""

import pathlib
import re
import unittest

import longer

ROOT = pathlib.Path(__file__).resolve().parents[3]

HEADER = """
/* Grows. */
typedef struct davit_inner {
  uint32_t struct_size;
  uint32_t reserved;
} davit_inner;
/* A pair. Never grows. */
typedef struct davit_fixed {
  davit_str a, b;
} davit_fixed;
typedef struct davit_outer {
  uint32_t struct_size;
  uint32_t inner_count;
  const davit_inner* const* inner;
  const davit_inner* one;
  davit_fixed fixed; /* by value */
  void (*visit)(void* ctx, const davit_inner*);
  int32_t (*call)(davit_instance*, const davit_inner* const*, size_t count, davit_fixed);
} davit_outer;
"""


class Rules(unittest.TestCase):
    def faults(self, old="", new=""):
        self.assertIn(old, HEADER)
        return longer.faults({"x.h": HEADER.replace(old, new, 1) if old else HEADER})

    def test_our_headers_keep_them(self):
        folder = ROOT / "sdk/include/davit/abi"
        self.assertEqual(longer.faults({p.name: p.read_text() for p in folder.glob("*.h")}), [])

    def test_a_header_that_keeps_them(self):
        self.assertEqual(self.faults(), [])

    def test_a_struct_without_a_size_says_that_it_never_grows(self):
        self.assertIn('davit_fixed has no struct_size, and the comment before it does not say "Never grows."',
                      self.faults(" Never grows.")[0])

    def test_one_with_a_size_does_not_say_so(self):
        self.assertIn("has a struct_size and says", self.faults("/* Grows. */", "/* Never grows. */")[0])

    def test_the_size_is_the_first_member(self):
        self.assertIn("not its first member", self.faults("  uint32_t struct_size;\n  uint32_t reserved;",
                                                         "  uint32_t reserved;\n  uint32_t struct_size;")[0])

    def test_what_grows_is_no_member(self):
        self.assertIn("davit_inner grows and is used by value", self.faults("davit_fixed fixed;", "davit_inner fixed;")[0])

    def test_what_grows_is_no_argument(self):
        self.assertIn("davit_inner grows and is used by value", self.faults("count, davit_fixed)", "count, davit_inner)")[0])

    def test_what_grows_is_no_element(self):
        self.assertIn("davit_outer.inner is an array of davit_inner",
                      self.faults("const davit_inner* const* inner;", "const davit_inner* inner;")[0])
        self.assertIn("an array of davit_inner, which grows, is passed",
                      self.faults("const davit_inner* const*, size_t", "const davit_inner*, size_t")[0])

    def test_nobody_asks_whether_a_struct_is_as_long_as_his_own(self):
        """It fails at the first growth. DAVIT_HAS asks for a field."""
        allowed = {"sdk/include/davit/abi/core.h", "sdk/include/davit/types.hpp"}
        for folder in ("sdk/include", "sdk/testing/src", "sdk/examples", "host", "plugins"):
            for path in (ROOT / folder).rglob("*"):
                name = str(path.relative_to(ROOT))
                if path.suffix not in (".hpp", ".cpp", ".h", ".c") or name in allowed:
                    continue
                found = re.search(r"struct_size\s*(==|!=|<|>)|(==|!=|<=?|>=?)\s*[\w.>-]*struct_size", path.read_text())
                self.assertIsNone(found, f"{name}: {found and found[0]}")


class Longer(unittest.TestCase):
    def test_what_grows_has_one_member_more(self):
        grown = longer.longer(HEADER)
        self.assertIn("  uint32_t reserved;\n  uint64_t grown;\n} davit_inner;", grown)
        self.assertIn("  davit_str a, b;\n} davit_fixed;", grown)
        self.assertIn("davit_fixed);\n  void (*grown)(void);\n} davit_outer;", grown)

    def test_the_list_names_structs_slots_and_what_a_struct_points_to(self):
        self.assertEqual(longer.listed({"x.h": HEADER}).split("\n"), [
            "ABI_STRUCT(davit_inner, reserved)", "ABI_STRUCT(davit_outer, call)",
            "ABI_POINTERS(davit_outer, inner)", "ABI_POINTER(davit_outer, one)",
            "ABI_SLOT(davit_outer, visit)", "ABI_SLOT(davit_outer, call)", ""])


if __name__ == "__main__":
    unittest.main()
