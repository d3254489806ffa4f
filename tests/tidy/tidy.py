#!/usr/bin/env python3
"""Checks the tree against its own rules: who may include whom, sizes, words. Every message says what to do instead."""

import fnmatch
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = {".c", ".cpp", ".h", ".hpp"}
LINES_MAX = 400
COLUMNS_MAX = 100
TEXT_COLUMNS_MAX = 120
FUNCTION_LINES_MAX = 60
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.M)
BANNED_NAMES = re.compile(r"\b(?:class|struct)\s+(?!FieldManager\b)\w*(?:Manager|Helper|Util|Utils|Impl|Base|Data|Info)\b")
# What begins like a function in clang-format's layout, and is none, or is a lambda.
NO_FUNCTION = re.compile(r"^\s*(?:if|for|while|switch|else|do|try|catch|namespace|class|struct|union|enum|extern|return)\b"
                         r"|= \[|\[[^\]]*\] ?[({]")
# These functions are a list of a role's slots.
TABLE = re.compile(r"\b(?:vtable|table)\(\) \{")
# A library that is visible in one place only: header pattern, where it may be included, what to use instead.
ONE_PLACE = (
    (re.compile(r"^toml\+\+|^toml\.hpp"), re.compile(r"^host/config/"), "host/config's nodes"),
    (re.compile(r"^boost/dll"), re.compile(r"^host/loader/"), "host/loader"),
    (re.compile(r"^pqxx"), re.compile(r"^(plugins/storage_postgres|tests/bench/storage_mirror)/"),
     "the storage role"),
    (re.compile(r"^curl/"), re.compile(r"^(plugins/http/(client|libcurl)|plugins/cluster_kubernetes/transport|tests/bench/)"),
     "plugins/http"),
    (re.compile(r"^CLI/"), re.compile(r"^(host/commands|plugins/secrets_file/seal)/"), "host/commands/command_line.hpp"),
    (re.compile(r"^grpc"), re.compile(r"^(host/rpc/grpc|host/commands|tests)/"), "the rpc service"),
)

# The layers of the host: whose headers a folder may include besides its own. host/README.md has the same table.
LAYERS = {
    "config": (),
    "runtime": (),
    "loader": ("config",),
    "services": ("config", "runtime"),
    "codec": ("config",),
    "observability": ("config", "runtime", "services"),
    "rpc": ("config", "runtime", "services", "codec"),
    "settings": ("config",),
    "assembly": ("config", "runtime", "loader", "services", "observability", "settings"),
    "version": (),
    "commands": ("config", "runtime", "loader", "services", "codec", "observability", "rpc", "settings", "assembly", "version"),
}

# The folders below plugins/ that are no plugins: any plugin may include them.
SHARED = ("controller", "http", "kubernetes", "process", "secret_store", "wire")


def tracked():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, text=True, capture_output=True).stdout.split("\n")
    return [n for n in names if n and (ROOT / n).is_file()]


def includes_of(name, text):
    """Faults of a file's includes."""
    top = name.split("/")[0]
    plugin = name.split("/")[1] if top == "plugins" and name.count("/") > 1 else None
    for included in INCLUDE.findall(text):
        for header, place, instead in ONE_PLACE:
            if header.search(included) and not place.search(name):
                yield f'{name}: includes <{included}>: use {instead}'
        if top == "sdk" and not name.startswith(("sdk/testing/", "sdk/examples/")):
            if included.startswith(("boost/", "google/", "grpc", "toml", "sqlite", "host/", "plugins/")):
                yield f"{name}: includes <{included}>: the SDK's headers need the standard library only"
        if plugin and (included.startswith("host/") or re.match(r"(\.\./)+(host|plugins)/", included)):
            yield f"{name}: includes <{included}>: a plugin sees the SDK only"
        if plugin and included.startswith("plugins/") and not included.startswith(f"plugins/{plugin}/"):
            yield f"{name}: includes <{included}>: a plugin never includes another plugin; look it up by its role"
        other = included.split("/")[0]
        if plugin and other not in (plugin, *SHARED) and (ROOT / "plugins" / other / "CMakeLists.txt").exists():
            yield f"{name}: includes <{included}>: a plugin never includes another plugin; look it up by its role"
        if plugin and plugin.startswith("kind_") and included.startswith(("google/", "ctrl/", "davit/v1/")):
            yield f"{name}: includes <{included}>: a kind works on JSON; the host's codec does the rest"
        if plugin and plugin.startswith("storage_") and included.startswith(("ctrl/", "davit/v1/", "google/")):
            yield f"{name}: includes <{included}>: payloads are opaque to storage"
        if top == "host" and not name.startswith("host/commands/") and included.startswith(("ctrl/", "davit/v1/")):
            yield f"{name}: includes <{included}>: the host knows plugins, not resources"
        layer = name.split("/")[1] if top == "host" and name.count("/") > 1 else None
        if layer and other in LAYERS and other not in (layer, *LAYERS[layer]):
            yield f"{name}: includes <{included}>: host/{layer} stands below host/{other}: move what both need to host/"


def long_functions(lines):
    """(line, lines of the body) of each function that is too long. Relies on clang-format: a function begins at most two
    columns in, and the "}" that ends it stands alone in the column where it begins."""
    for first, line in enumerate(lines):
        indent = line[:len(line) - len(line.lstrip())]
        if len(indent) > 2 or not re.match(r"[\w~]", line[len(indent):]):
            continue
        opens = next((n for n in range(first, min(first + 12, len(lines))) if lines[n].endswith(("{", ";", "}"))), None)
        signature = " ".join(lines[first:opens + 1]) if opens is not None else ""
        if not signature.endswith("{") or "(" not in signature or NO_FUNCTION.search(signature) or TABLE.search(signature):
            continue
        ends = next((n for n in range(opens + 1, len(lines)) if lines[n] == indent + "}"), opens)
        if ends - opens - 1 > FUNCTION_LINES_MAX:
            yield first + 1, ends - opens - 1


def tests():
    """The names of all test cases: Suite.Case of GoogleTest, and of the end-to-end tests file and method."""
    case = re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.M)
    found = set()
    for name in tracked():
        if name.startswith("tests/e2e/test_") and name.endswith(".py"):
            found.add(Path(name).stem.removeprefix("test_"))
            found.update(re.findall(r"def test_(\w+)", (ROOT / name).read_text(encoding="utf-8")))
        elif name.startswith(("tests/", "sdk/")) and name.endswith(".cpp"):
            found.update(".".join(m) for m in case.findall((ROOT / name).read_text(encoding="utf-8")))
    return found


def table_of_faults():
    """Names in the table of tests/README.md that no test has. `.Case` is of the suite before it; after "e2e" come names of
    end-to-end tests."""
    there = tests()
    text = (ROOT / "tests/README.md").read_text(encoding="utf-8")
    for row in re.findall(r"^\|.*\|(.*)\|$", text[text.index("## Faults"):], re.M):
        _, *rest = row.split("e2e ")
        suite = ""
        for word in re.findall(r"`((?:[A-Z]\w*|\*)?\.[\w*]+)`", row):
            suite, name = (word.split(".")[0], word) if word[0] != "." else (suite, suite + word)
            if not fnmatch.filter(there, name):
                yield f"tests/README.md: no test is called {name}"
        for name in re.findall(r"`([a-z_0-9]+)`", "".join(rest)):
            if name not in there:
                yield f"tests/README.md: no end-to-end test is called {name}"


def tables(text):
    """(id without "davit.", slots) of each table of functions in a header of the ABI."""
    for name, struct, body in re.findall(r'#define DAVIT_\w+ "davit\.(\w+/\d+)".*?typedef struct (\w+) \{\n(.*?)\n\} \2;', text,
                                         re.S):
        yield name, re.findall(r"\(\*(\w+)\)\(", body)


def manual():
    """Each role has a page that names its slots. The code on a page stands in the example that it names."""
    for page, header, table in (("storage", "storage.h", "storage/1"), ("storage", "storage_copy.h", "storage_copy/1"),
                                ("storage", "storage_move.h", "storage_move/1"),
                                ("storage", "storage_election.h", "storage_election/1"),
                                ("storage", "storage_intents.h", "storage_intents/1"),
                                ("kind", "kind.h", "kind/1"), ("kind", "kind_needs.h", "kind_needs/1"),
                                ("change_sink", "sink.h", "change_sink/1"), ("status_sink", "sink.h", "status_sink/1"),
                                ("gate", "gate.h", "gate/1"), ("cluster", "cluster.h", "cluster/1"),
                                ("secrets", "secrets.h", "secrets/1"), ("actuator", "actuator.h", "actuator/1"), ("records", "records_role.h", "records/1"),
                                ("rpc", "rpc.h", "rpc/1")):
        name = f"sdk/docs/{page}.md"
        text = (ROOT / name).read_text(encoding="utf-8")
        slots = dict(tables((ROOT / "sdk/include/davit/abi" / header).read_text(encoding="utf-8"))).get(table)
        if not slots:
            yield f"{name}: {header} has no table {table}: mend this check"
        yield from (f"{name}: does not name the slot `{slot}` of {table}" for slot in slots or () if f"`{slot}`" not in text)
    for name in tracked():
        if not name.startswith("sdk/docs/"):
            continue
        for example, code in re.findall(r"<!-- (examples/\S+) -->\n```\w+\n(.*?)\n```", (ROOT / name).read_text(encoding="utf-8"),
                                        re.S):
            if code not in (ROOT / "sdk" / example).read_text(encoding="utf-8"):
                yield f"{name}: its code is not that of {example} any more: copy it anew"


def walk():
    """The files that ARCHITECTURE.md names are there."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for file in re.findall(r"`((?:host|plugins|sdk|proto|tests)/[\w/.]+\.\w+)`", text):
        if not (ROOT / file).is_file():
            yield f"ARCHITECTURE.md: names {file}, which is not there"


def left_over_sources():
    """Source files that no build file and no test names: nothing compiles them, so nobody sees that they no longer fit.
    `foreach(name edge real)` with `${name}_test.cpp` names edge_test.cpp."""
    names = tracked()
    builds = "\n".join((ROOT / n).read_text(encoding="utf-8") for n in names if n.endswith(("CMakeLists.txt", ".cmake", ".py")))
    words = set(re.findall(r"[\w-]+", builds))
    for name in names:
        template = name.startswith("sdk/templates/")  # `davit plugin new` gives it its name
        if name.endswith((".c", ".cpp")) and not template and not words & {Path(name).stem, Path(name).stem.removesuffix("_test")}:
            yield f"{name}: no CMakeLists.txt names it, so it is not compiled: add it there, or delete it"


def keys_read(text):
    """The keys of the configuration that a source file asks for: `s.integer("key"` of whatever is a Settings or a Table in
    it, `read_tolerations(s, "key"`, and `count("key"` where `count` is a lambda that has a Settings."""
    names = re.findall(r"\b(?:Settings|Table)&? (\w+)\b", text)
    tables = "|".join([r"(?:Settings|Table)\([^()]*\)", *names])
    lambdas = re.findall(rf"\bauto (\w+) = \[&(?:{tables})\]", text)
    asked = [rf"\b(?:{tables})\.\w+\(", rf"\w\((?:{tables}),", *(rf"\b{name}\(" for name in lambdas)]
    return {key for start in asked for key in re.findall(start + r'\s*"(\w+)"', text)}


def settings():
    """A setting that is read is documented, and set by a test."""
    documented, tested, read = set(), set(), []
    for name in tracked():
        text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
        if name.startswith("etc/") and name.endswith(".toml"):
            documented.update(re.findall(r"\b(\w+)(?: =|\])", text))
        elif re.match(r"(host|plugins)/.*\bREADME\.md$", name):
            documented.update((part_of(name), key) for key in re.findall(r"`(\w+)", text))
        elif name.startswith(("host/", "plugins/")) and Path(name).suffix in CODE:
            read += [(name, key) for key in sorted(keys_read(text))]
        elif re.match(r"tests/(?!tidy/).*(?<!\.md)$", name):
            # {"key", 5}, or key = 5 in a text; not `rules.key = 5`, which passes the reading of it by.
            set_here = re.findall(r'"(\w+)["=. ]|(?:\\n|(?<![.\w]))(\w+) ?=|\.(\w+)\]', text)
            tested.update(key for found in set_here for key in found)
    for name, key in read:
        part = part_of(name)
        if key not in documented and (part, key) not in documented:
            yield f"{name}: nothing says what the setting {key} does: add it to {part}/README.md or to etc/*.toml"
        if key not in tested:
            yield f"{name}: no test sets {key}: write one that sees what {part} does with another value"


def part_of(name):
    """plugins/reporter, or host."""
    return "/".join(name.split("/")[:2 if name.startswith("plugins/") else 1])


def planted_bugs():
    """A bug of the simulation stands at lines that are there: a change of a plugin takes its bugs along."""
    sys.path.insert(0, str(ROOT / "tests/simulation"))
    import bugs  # pylint: disable=import-outside-toplevel
    return bugs.misplaced()


def long_lines(name, text):
    """Lines of prose in Markdown that are too long: not those of tables and of code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        if len(line) > TEXT_COLUMNS_MAX and not fenced and not line.startswith(("|", "    ")):
            yield f"{name}:{number}: {len(line)} columns: wrap it at {TEXT_COLUMNS_MAX}"


def kinds():
    """Those whose name means nothing else. A role and settings are called cluster, too."""
    return [name for p in (ROOT / "plugins").glob("kind_*") if p.is_dir()
            for name in [p.name.removeprefix("kind_")] if name != "cluster"]


def faults():
    names_of_kinds = re.compile('"(' + "|".join(kinds()) + ')"')
    for name in tracked():
        path = ROOT / name
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if path.suffix in CODE:
            lines = text.splitlines()
            if len(lines) > LINES_MAX:
                yield f"{name}: {len(lines)} lines: split it at {LINES_MAX} at the latest"
            for number, line in enumerate(lines, 1):
                if len(line) > COLUMNS_MAX and '"' not in line:  # a literal may be longer
                    yield f"{name}:{number}: {len(line)} columns: break it before {COLUMNS_MAX}"
            for number, length in long_functions(lines):
                yield f"{name}:{number}: a function of {length} lines: split it at {FUNCTION_LINES_MAX} at the latest"
            if found := BANNED_NAMES.search(text):
                yield f'{name}: "{found.group()}": name it after what it does'
            yield from includes_of(name, text)
            if name.startswith(("host/", "plugins/", "sdk/include/")) and not name.startswith("plugins/kind_"):
                if found := names_of_kinds.search(text):
                    yield f"{name}: names the kind {found.group()}: kinds are data outside their folder"
        if path.suffix == ".md":
            yield from long_lines(name, text)
        if name.startswith("plugins/") and name.endswith("CMakeLists.txt") and name.count("/") == 2:
            if not (path.parent / "README.md").exists():
                yield f"{path.parent.relative_to(ROOT)}: has no README.md"


def main():
    found = [*faults(), *table_of_faults(), *settings(), *manual(), *walk(), *planted_bugs(), *left_over_sources()]
    print("\n".join(found) if found else f"{len(tracked())} files are tidy")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
