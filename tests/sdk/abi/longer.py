"""What the ABI will look like after it has grown.

    longer.py INCLUDE OUT [--replace FILE OLD NEW]

Copies INCLUDE/davit to OUT/include/davit. In the copy each struct of abi/*.h that may grow has one member more at its
end: a function table a slot, any other struct a uint64_t. --replace plants a fault: it replaces a text of one header.

Writes OUT/list/abi_list.inc, too: an entry for each struct and each slot of INCLUDE, for a test that asks whether it
exercised them all.

Refuses headers that break the rules of sizes in abi.h (see faults()).
"""

import pathlib
import re
import shutil
import sys

STRUCT = re.compile(r"typedef struct (\w+) \{(.*?)\n\} \1;", re.S)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
FUNCTION = re.compile(r"\(\*\s*(\w+)\)\s*\(")


class Member:
    """One declarator: its type, how many stars it has, and its name."""

    def __init__(self, base, stars, name, function):
        self.base, self.stars, self.name, self.function = base, stars, name, function


def members(body):
    """The members of a struct's body."""
    out = []
    for text in COMMENT.sub("", body).split(";"):
        text = " ".join(text.split())
        if not text:
            continue
        function = FUNCTION.search(text)
        if function:
            out.append(Member(text, 0, function[1], True))
            continue
        first, *more = text.split(",")
        declared = re.fullmatch(r"((?:const |struct )*)(\w+)\s*([*\s]|const\b)*?(\w+)(\[\d+\])?", first)
        stars = first.count("*")
        base = declared[2]
        out.append(Member(base, stars, declared[4], False))
        out += [Member(base, name.count("*"), name.strip(" *"), False) for name in more]
    return out


class Struct:
    def __init__(self, name, body, comment):
        self.name, self.members, self.comment = name, members(body), " ".join(comment.replace("*", " ").split())
        self.grows = any(m.name == "struct_size" for m in self.members)


def structs(text):
    """The structs of one header."""
    out = []
    for found in STRUCT.finditer(text):
        before = text[:found.start()].rstrip()
        comment = before[before.rfind("/*"):] if before.endswith("*/") else ""
        out.append(Struct(found[1], found[2], comment))
    return out


def faults(texts):
    """What breaks the rules of sizes, in headers given as {name: text}."""
    found = {name: structs(text) for name, text in texts.items()}
    growing = {s.name for all_of in found.values() for s in all_of if s.grows}
    out = []
    for name, text in sorted(texts.items()):
        for s in found[name]:
            where = f"{name}: {s.name}"
            if not s.grows and "Never grows." not in s.comment:
                out.append(f'{where} has no struct_size, and the comment before it does not say "Never grows."')
            if s.grows and "Never grows" in s.comment:
                out.append(f'{where} has a struct_size and says "Never grows"')
            if s.grows and s.members[0].name != "struct_size":
                out.append(f"{where}: struct_size is not its first member")
            names = {m.name for m in s.members}
            for m in s.members:
                if m.base in growing and m.stars == 1 and f"{m.name}_count" in names:
                    out.append(f"{where}.{m.name} is an array of {m.base}, which grows: make it an array of pointers")
        code = COMMENT.sub("", text)
        for use in re.finditer(r"(?<![\w/])(davit_\w+)\b(?! \{)(?!;\n)(\s*const)?\s*(\*?)", code):
            before = code[:use.start()]
            if use[1] in growing and not use[3] and not before.endswith(("typedef struct ", "} ")):
                line = before.count("\n") + 1
                out.append(f"{name}: {use[1]} grows and is used by value (line {line} without comments): use a pointer")
        for use in re.finditer(r"(davit_\w+)\*(?!\s*const\s*\*)(?!\*)[^,()]*,\s*size_t", code):
            if use[1] in growing:
                out.append(f"{name}: an array of {use[1]}, which grows, is passed: make it an array of pointers")
    return out


def longer(text):
    """The header with one member more in each struct that grows."""

    def grow(found):
        s = Struct(found[1], found[2], "")
        if not s.grows:
            return found[0]
        more = "void (*grown)(void);" if s.members[-1].function else "uint64_t grown;"
        return f"typedef struct {found[1]} {{{found[2]}\n  {more}\n}} {found[1]};"

    return STRUCT.sub(grow, text)


def listed(texts):
    """The entries of abi_list.inc."""
    all_structs = [s for text in texts.values() for s in structs(text)]
    growing = {s.name for s in all_structs if s.grows}
    out = []
    for s in all_structs:
        if not s.grows:
            continue
        out.append(f"ABI_STRUCT({s.name}, {s.members[-1].name})")
        names = {m.name for m in s.members}
        for m in s.members:
            if m.function:
                out.append(f"ABI_SLOT({s.name}, {m.name})")
            elif m.base in growing and f"{m.name}_count" in names:
                out.append(f"ABI_POINTERS({s.name}, {m.name})")
            elif m.base in growing:
                out.append(f"ABI_POINTER({s.name}, {m.name})")
    return "\n".join(out) + "\n"


def main(include, out, *replace):
    include, out = pathlib.Path(include) / "davit", pathlib.Path(out)
    texts = {f"abi/{path.name}": path.read_text() for path in sorted((include / "abi").glob("*.h"))}
    wrong = faults(texts)
    if wrong:
        sys.exit("\n".join(wrong))
    copy = out / "include" / "davit"
    if copy.exists():
        shutil.rmtree(copy)
    shutil.copytree(include, copy)
    for name, text in texts.items():
        (copy / name).write_text(longer(text))
    if replace:
        _, name, old, new = replace
        path = copy / name
        if path.read_text().count(old) != 1:
            sys.exit(f"{name} does not have this text once: {old}")
        path.write_text(path.read_text().replace(old, new))
    (out / "list").mkdir(exist_ok=True)
    (out / "list" / "abi_list.inc").write_text(listed(texts))


if __name__ == "__main__":
    main(*sys.argv[1:])
