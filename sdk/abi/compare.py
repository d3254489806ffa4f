#!/usr/bin/env python3
"""Whether headers of the ABI keep what a frozen copy of them promises.

    compare.py                    the headers of this tree, with every frozen copy beside this file
    compare.py FROZEN CURRENT     two folders that have davit/abi.h: sdk/abi/1.0/include, sdk/include

A compiler reads both, so comments, white space, names of parameters and the order of declarations do not count. Every
struct, type, function and macro of the frozen copy must stand in the current headers:

  - a struct with the same members, of the same types, at the same offsets, in the same order. One that has struct_size
    may have more members behind the end of the frozen one. Any other struct never grows;
  - a slot with the same signature. Its comment says "Optional" where the frozen one does, and nowhere else, because one
    side leaves out an optional slot and the other calls a needed one. It still says the threads ([any], [pool]);
  - a macro with the same value. DAVIT_ABI_MINOR may grow.

Additions are allowed: members at the end of a struct, structs, values, headers.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parent / "include"
ROOT = HERE.parents[1]
# What a slot's comment promises, beside its text.
OPTIONAL = re.compile(r"\bOptional\b|\bare NULL when\b")
THREADS = re.compile(r"\[(?:any|pool|strand|main)\]")
TO_DO = """

A plugin that was built from {folder} would break. Append instead: a member at the end of
its struct, a new struct, a new value, a table with another id."""
TO_DO_BEFORE = """
{folder} is not final. If the change is wanted, run sdk/abi/freeze.py in the same commit:
the copy then has it, and the commit says why."""


class Refused(Exception):
    """The headers cannot be read, or have what this program does not know."""


def clang(*arguments, text):
    run = subprocess.run(["clang", "-std=c99", "-x", "c", *arguments, "-"], input=text, text=True, capture_output=True)
    if run.returncode != 0:
        raise Refused(run.stderr.strip())
    return run.stdout


class Member:
    def __init__(self, name, spelled, type_of, comment):
        self.name, self.spelled, self.type = name, spelled, type_of
        self.offset = self.size = None
        is_slot = "(*" in type_of
        self.optional = is_slot and bool(OPTIONAL.search(comment))
        self.threads = set(THREADS.findall(comment)) if is_slot else set()


class Abi:
    """What the headers below `include`/davit declare: structs (name to members), sizes of structs, types and functions
    (name to type), macros (name to value), and the names of the files."""

    def __init__(self, include):
        folder = Path(include) / "davit"
        self.files = sorted(str(path.relative_to(folder)) for path in [folder / "abi.h", *folder.glob("abi/*.h")])
        self.text = "".join(f"#include <davit/{name}>\n" for name in self.files)
        self.options = ["-I", str(include)]
        self.structs, self.sizes, self.types, self.functions, self.macros = {}, {}, {}, {}, {}
        self._aliases, self._canonical = {}, {}
        self._read_declarations()
        self._read_macros()
        self._measure()

    def _read_declarations(self):
        tree = json.loads(clang(*self.options, "-fsyntax-only", "-fparse-all-comments", "-Xclang", "-ast-dump=json",
                                text=self.text))
        declared = [node for node in tree["inner"] if "name" in node]
        self._aliases = {node["name"]: node["type"]["qualType"] for node in declared if node["kind"] == "TypedefDecl"}
        for node in declared:
            name = node["name"]
            if not name.startswith("davit_"):
                continue
            if node["kind"] == "RecordDecl":
                if "inner" in node:
                    self.structs[name] = self._members(node)
            elif node["kind"] == "FunctionDecl":
                self.functions[name] = self._type(node["type"]["qualType"])
            elif node["kind"] != "TypedefDecl":
                raise Refused(f"{name}: the gate does not know declarations of this kind: {node['kind']}")
            elif self._type(name) != name:
                self.types[name] = self._type(name)

    def _members(self, struct):
        out = []
        for node in struct["inner"]:
            if node["kind"] == "FullComment":
                continue
            if node["kind"] != "FieldDecl" or "name" not in node or node.get("isBitfield"):
                raise Refused(f"{struct['name']}: the gate knows plain members only, not this one: {node['kind']}")
            comments = [inner for inner in node.get("inner", []) if inner["kind"] == "FullComment"]
            spelled = node["type"]["qualType"]
            out.append(Member(node["name"], spelled, self._type(spelled), " ".join(map(words, comments))))
        return out

    def _type(self, spelled):
        """The type without the names that stand for others."""
        return re.sub(r"[A-Za-z_]\w*", lambda found: self._expanded(found[0]), spelled.replace("struct ", ""))

    def _expanded(self, name):
        if name not in self._canonical:
            alias = self._aliases.get(name, name).replace("struct ", "")
            expanded = name if alias == name else self._type(alias)
            self._canonical[name] = f"<{expanded}>" if "(" in expanded else expanded
        return self._canonical[name]

    def _read_macros(self):
        """What each macro stands for; the compiler expands it. Of one with parameters, with a0, a1, ... for them."""
        uses = {}
        for line in clang(*self.options, "-E", "-dM", text=self.text).splitlines():
            found = re.match(r"#define (DAVIT_\w+)(?:\(([^)]*)\))?", line)
            if found:
                count = len(found[2].split(",")) if found[2] else 0
                uses[found[1]] = found[1] + ("(" + ", ".join(f"a{i}" for i in range(count)) + ")" if count else "")
        names = sorted(uses)
        asked = "".join(f"@{number} {uses[name]}\n" for number, name in enumerate(names))
        for line in clang(*self.options, "-E", "-P", text=self.text + asked).splitlines():
            found = re.match(r"@ ?(\d+) (.+)", line)
            if found:  # the guard of a header stands for nothing
                self.macros[names[int(found[1])]] = found[2].strip()

    def _measure(self):
        """Offsets, sizes and the values of numbers: the compiler writes them into an array."""
        sizes = [(name, f"sizeof(struct {name})") for name in self.structs]
        members = [(m, f"offsetof(struct {name}, {m.name}), sizeof(((struct {name}*)0)->{m.name})")
                   for name, all_of in self.structs.items() for m in all_of]
        numbers = [(name, f"(long long)({name})") for name, text in self.macros.items() if is_number(text)]
        asked = ",\n".join(expression for _, expression in sizes + members + numbers)
        source = f"#include <stddef.h>\n{self.text}const long long measured[] = {{{asked}}};\n"
        array = re.search(r"^@measured = .*", clang(*self.options, "-S", "-emit-llvm", "-o", "-", text=source), re.M)[0]
        found = iter(int(value) for value in re.findall(r"i64 (-?\d+)", array))
        for name, _ in sizes:
            self.sizes[name] = next(found)
        for m, _ in members:
            m.offset, m.size = next(found), next(found)
        for name, _ in numbers:
            self.macros[name] = str(next(found))

    def grows(self, name):
        return self.structs[name][0].name == "struct_size"


def words(comment):
    return " ".join([comment.get("text", ""), *map(words, comment.get("inner", []))])


def is_number(text):
    return re.search(r"\d", text) and re.fullmatch(r"(?:0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*|[\s()<>|&+~-])+", text)


def faults(frozen, current):
    """What stands in `frozen` and no longer stands in `current`."""
    out = [f"davit/{name}: the header is gone" for name in frozen.files if name not in current.files]
    for name in frozen.structs:
        out += faults_of_struct(name, frozen, current) if name in current.structs else [f"{name}: the struct is gone"]
    for what, was, now in (("type", frozen.types, current.types), ("function", frozen.functions, current.functions),
                           ("macro", frozen.macros, current.macros)):
        for name, value in was.items():
            if name not in now:
                out.append(f"{name}: the {what} is gone")
            elif name == "DAVIT_ABI_MINOR":
                if int(now[name]) < int(value):
                    out.append(f"{name}: was {value} and is {now[name]}: it only grows")
            elif now[name] != value:
                out.append(f"{name}: the {what} was {value} and is {now[name]}")
    return out


def faults_of_struct(name, frozen, current):
    was, now = frozen.structs[name], {m.name: m for m in current.structs[name]}
    out = []
    for m in was:
        out += faults_of_member(f"{name}.{m.name}", m, now[m.name]) if m.name in now else [f"{name}.{m.name}: is gone"]
    known = {m.name for m in was}
    # Among those that both have. What follows the last of them has been appended.
    last = max((i for i, m in enumerate(current.structs[name]) if m.name in known), default=-1)
    for i, m in enumerate(current.structs[name]):
        if m.name in known:
            continue
        if not frozen.grows(name):
            out.append(f"{name}.{m.name}: is new, and this struct never grows: it has no struct_size")
        elif i < last:
            out.append(f"{name}.{m.name}: is new and does not stand at the end")
        elif m.offset < frozen.sizes[name] and not m.name.startswith("reserved"):
            out.append(f"{name}.{m.name}: is new and stands in what was padding at the end, of which an older plugin's "
                       f"struct_size says that it is there: put a `reserved` before it")
    size, size_now = frozen.sizes[name], current.sizes[name]
    if size_now < size or (size_now > size and not frozen.grows(name)):
        out.append(f"{name}: its size was {size} and is {size_now}")
    return out


def faults_of_member(name, was, now):
    out = []
    if was.type != now.type:
        before, after = (was.spelled, now.spelled) if was.spelled != now.spelled else (was.type, now.type)
        out.append(f"{name}: its type was `{before}` and is `{after}`")
    if was.offset != now.offset:
        out.append(f"{name}: has moved from byte {was.offset} to byte {now.offset}")
    if was.size != now.size:
        out.append(f"{name}: its size was {was.size} and is {now.size}")
    if was.optional != now.optional:
        out.append(f"{name}: was {kind_of(was)} and is {kind_of(now)}, as its comment says")
    for thread in sorted(was.threads - now.threads):
        out.append(f"{name}: its comment no longer says {thread}")
    return out


def kind_of(slot):
    return "optional" if slot.optional else "needed"


def found_in(folder, include):
    try:
        return faults(Abi(folder), Abi(include))
    except Refused as refused:
        return [str(refused)]


def judge(folder, include):
    """The faults of the headers in `include`, and what to do. Empty: there are none."""
    found = found_in(folder, include)
    if not found:
        return ""
    where = folder.resolve().parent if folder.name == "include" else folder.resolve()
    name = where.relative_to(ROOT) if where.is_relative_to(ROOT) else where
    return "\n".join(found) + (TO_DO + (TO_DO_BEFORE if where.name.endswith("-rc") else "")).format(folder=name)


def main(arguments):
    pairs = [tuple(map(Path, arguments))] if arguments else [(f, INCLUDE) for f in sorted(HERE.glob("*/include"))]
    if not pairs:
        return "there is no frozen copy: sdk/abi/freeze.py makes one"
    said = [judge(*pair) for pair in pairs]
    return "\n\n".join(filter(None, said)) or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
