#!/usr/bin/env python3
"""Divides an installed tree among the packages, as files.txt beside this says: `split.py deb|rpm TREE TO`.

deb: TO/PACKAGE.install for dh_install, and TO/not-installed for dh_missing. rpm: TO/PACKAGE.files for %files -f; what is
in no package is removed. A file that no line of files.txt fits is a fault, so that no file is forgotten.
"""

import re
import sys
from pathlib import Path

TABLE = Path(__file__).with_name("files.txt")


def lib_folder(tree):
    """Where libraries are: usr/lib/<triplet> or usr/lib64; where the plugins are tells."""
    folders = list(tree.glob("usr/lib*/**/davit/plugins"))
    if len(folders) != 1:
        sys.exit(f"split.py: one folder davit/plugins is expected in {tree}, and there are {len(folders)}")
    return str(folders[0].parent.parent.relative_to(tree))


def expression(pattern):
    parts = re.split(r"(\*\*|\*)", pattern)
    return re.compile("".join({"**": ".*", "*": "[^/]*"}.get(p, re.escape(p)) for p in parts) + r"\Z")


def rules(kind, lib):
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            how, package, pattern = line.split()
            if how in (kind, "both"):
                found.append((expression(pattern.replace("{lib}", lib)), package))
    return found


def installed(tree):
    """Files, links, and folders that are empty."""
    for path in sorted(tree.rglob("*")):
        if path.is_symlink() or not path.is_dir() or not any(path.iterdir()):
            yield path


def divide(kind, tree):
    packages, nowhere = {}, []
    table = rules(kind, lib_folder(tree))
    for path in installed(tree):
        name = str(path.relative_to(tree))
        package = next((p for expr, p in table if expr.match(name)), None)
        if package is None:
            nowhere.append(name)
        else:
            packages.setdefault(package, []).append(name)
    if nowhere:
        sys.exit("split.py: say in packaging/files.txt which package these are in:\n  " + "\n  ".join(nowhere))
    return packages


def write_deb(packages, to):
    for package, names in packages.items():
        target = to / ("not-installed" if package == "-" else f"{package}.install")
        target.write_text("".join(f"{n}\n" for n in names), encoding="utf-8")


def rpm_line(tree, name):
    if name.startswith("etc/") and not (tree / name).is_dir():
        return f"%config(noreplace) /{name}\n"
    if name.startswith("usr/share/man/"):
        return f"/{name}*\n"  # compressed later
    return f"%dir /{name}\n" if (tree / name).is_dir() else f"/{name}\n"


def own_folders(names):
    """Folders of our own above the files, which rpm counts as files."""
    found = {str(p) for n in names for p in Path(n).parents if "davit" in p.name or "davit" in p.parent.as_posix()}
    return sorted(p for p in found if re.search(r"(^|/)davit", p))


def write_rpm(packages, tree, to):
    for name in packages.pop("-", []):
        (tree / name).unlink()
    for package, names in packages.items():
        lines = [f"%dir /{f}\n" for f in own_folders(names) if f not in names]
        lines += [rpm_line(tree, n) for n in names]
        (to / f"{package}.files").write_text("".join(lines), encoding="utf-8")


def main(kind, tree, to):
    tree, to = Path(tree), Path(to)
    packages = divide(kind, tree)
    if kind == "deb":
        write_deb(packages, to)
    else:
        write_rpm(packages, tree, to)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("deb", "rpm"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
