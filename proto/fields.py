#!/usr/bin/env python3
"""Writes plugins/kind_*/FIELDS.md, the reference of what a document of a kind may say, from the comments of its message.

    fields.py            writes them
    fields.py --check    says which of them is not what the messages say, and ends with 1
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MESSAGES = [ROOT / "proto" / name for name in ("ctrl/v1/cluster.proto", "davit/v1/cluster.proto", "davit/v1/manifest.proto")]
MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.M | re.S)
FIELD = re.compile(r"((?:^  //.*\n)*)^  (optional |repeated )?([\w<>, ]+) (\w+) = \d+;", re.M)
TYPES = {"string": "text", "int32": "number", "int64": "number", "uint32": "number", "uint64": "number",
         "bool": "true or false", "bytes": "JSON", "map<string, string>": "texts by name"}


def comment_of(lines):
    return " ".join(line.strip().removeprefix("//").strip() for line in lines.splitlines())


def type_of(label, name):
    shown = TYPES.get(name, f"[{name}](#{name.lower()})")
    return f"list of {shown}" if label.strip() == "repeated" else shown


def section(messages, name):
    """The table of a message, then those of the messages in it."""
    rows, within = [], []
    for comment, label, kind, field in FIELD.findall(messages[name]):
        if not comment:
            raise SystemExit(f"proto: {name}.{field} has no comment")
        rows.append(f"| `{field}` | {type_of(label, kind)} | {comment_of(comment)} |")
        if kind in messages:
            within.append(kind)
    text = "| field | type | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    return text + "".join(f"\n## {inner}\n\n{section(messages, inner)}" for inner in within)


def references():
    """Text by file, for each kind that has a message."""
    messages = dict(found for file in MESSAGES for found in MESSAGE.findall(file.read_text(encoding="utf-8")))
    for folder in sorted((ROOT / "plugins").glob("kind_*")):
        kind = folder.name.removeprefix("kind_")
        message = "Apply" + "".join(word.capitalize() for word in kind.split("_"))
        if message in messages:
            yield folder / "FIELDS.md", (
                f"# The `spec` of a `{kind}`\n\nMade from the comments of `{message}` by `proto/fields.py`. An example:\n"
                f"[etc/examples/{kind}.yaml](../../etc/examples/{kind}.yaml).\n\n{section(messages, message)}")


def main(check):
    stale = []
    for path, text in references():
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(f"{path.relative_to(ROOT)} is not what the messages say: run proto/fields.py")
    print("\n".join(stale), end="\n" if stale else "")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["--check"]))
