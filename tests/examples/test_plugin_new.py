"""What `davit plugin new` writes builds, and keeps the contract of its role, against an installed SDK."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

PREFIX = Path(os.environ["DAVIT_PREFIX"])
DAVIT = PREFIX / "bin/davit"
LONG = os.environ.get("DAVIT_LONG")
OPTIONS = [word for word in os.environ.get("DAVIT_CMAKE_OPTIONS", "").split("|") if word]


def run(*words, **more):
    return subprocess.run([str(w) for w in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          timeout=500, **more)


def combinations():
    templates = PREFIX / "share/davit/templates"
    return sorted((role.name, language.name) for role in templates.iterdir() if role.name != "common"
                  for language in role.iterdir())


def lacks(role, language):
    """What this machine lacks to build a template; empty: nothing."""
    if language == "rust" and shutil.which("cargo") is None:
        return "needs cargo"
    if (role, language) in (("kind", "c"), ("actuator", "c")) and run("pkg-config", "--exists", "jansson").returncode != 0:
        return "needs libjansson-dev"
    return ""


class NewPlugin(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="davit-new-")  # pylint: disable=consider-using-with
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def new(self, *words):
        return run(DAVIT, "plugin", "new", *words, cwd=self.folder, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})

    def build(self, role, language):
        if why := lacks(role, language):
            self.skipTest(why)
        name = f"{role}_blue_box"
        written = self.new(name, "--role", role, "--lang", language)
        self.assertEqual(written.returncode, 0, written.stdout)
        project = self.folder / name
        build = self.folder / "build"
        for step in (["cmake", "-S", project, "-B", build, f"-DCMAKE_PREFIX_PATH={PREFIX}",
                      f"-DCMAKE_INSTALL_PREFIX={self.folder}/installed", *OPTIONS],
                     ["cmake", "--build", build],
                     ["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error"],
                     ["cmake", "--install", build]):
            done = run(*step)
            self.assertEqual(done.returncode, 0, f"{role} in {language}: {done.stdout[-6000:]}")
        plugins = next((self.folder / "installed").glob("lib*/**/davit/plugins"))
        listed = run(DAVIT, "plugin", "list", "--dir", plugins)
        self.assertEqual(listed.returncode, 0, listed.stdout)
        self.assertRegex(listed.stdout, rf"{name} +0\.1\.0 +1\.\d +{role}/1")

    def test_storage_in_cpp(self):
        self.build("storage", "c++")

    def test_storage_in_c(self):
        self.build("storage", "c")

    def test_kind_in_cpp(self):
        self.build("kind", "c++")

    def test_kind_in_c(self):
        self.build("kind", "c")

    def test_kind_in_rust(self):
        self.build("kind", "rust")

    @unittest.skipUnless(LONG, "in the long form")
    def test_the_rest(self):
        for role, language in combinations():
            if (role, language) not in (("storage", "c++"), ("storage", "c"), ("kind", "c++"), ("kind", "c"), ("kind", "rust")):
                with self.subTest(role=role, language=language):
                    for left in self.folder.iterdir():
                        shutil.rmtree(left)
                    self.build(role, language)

    def test_every_template_is_filled_in(self):
        for role, language in combinations():
            name = f"my_{role}"
            done = self.new(name, "--role", role, "--lang", language, "--dir", f"{role}-{language}")
            self.assertEqual(done.returncode, 0, done.stdout)
            project = self.folder / f"{role}-{language}"
            files = {str(p.relative_to(project)) for p in project.rglob("*") if p.is_file()}
            self.assertLessEqual({"CMakeLists.txt", "README.md", "LICENSE", f"{name}.toml", "debian/control", "debian/rules",
                                  "debian/changelog", "debian/copyright", "debian/source/format", "conformance.conf",
                                  f"my-{role}.spec"} - {"conformance.conf"}, files)
            self.assertTrue(os.access(project / "debian/rules", os.X_OK))
            for file in files:
                text = (project / file).read_text(encoding="utf-8")
                left = re.findall(r"@[a-zA-Z_]+@", file + text)
                self.assertEqual(set(left) - {"@CLUSTER_MEMORY@"}, set(), file)
            control = (project / "debian/control").read_text(encoding="utf-8")
            self.assertIn("${davit:Depends}", control)
            self.assertIn("dh-sequence-davit", control)
            changelog = (project / "debian/changelog").read_text(encoding="utf-8")
            self.assertIn("Tue, 14 Nov 2023 22:13:20 +0000", changelog)

    def test_refusals_say_what_there_is(self):
        for words, said in ((("x", "--role", "storage", "--lang", "cobol"), "storage in c, c\\+\\+"),
                            (("x", "--role", "gate"), "there are: actuator in"),
                            (("x", "--role", "../common"), "there is no template"),
                            (("Big-Name", "--role", "kind"), "is no name for a plugin"),
                            (("x",), "needs --role"), (("--role", "kind"), "names no plugin")):
            done = self.new(*words)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertRegex(done.stdout, said)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_nothing_is_written_over(self):
        (self.folder / "kind_mine").mkdir()
        mine = self.folder / "kind_mine/README.md"
        mine.write_text("mine", encoding="utf-8")
        done = self.new("kind_mine", "--role", "kind")
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertIn("is there already", done.stdout)
        self.assertEqual(mine.read_text(encoding="utf-8"), "mine")


if __name__ == "__main__":
    unittest.main()
