"""The container image, by an OCI runtime (runc): server and agent in containers that may write to no file of the image,
as a user without rights, with no network but loopback."""

import json
import os
import shutil
import subprocess
import unittest

from roots import memory, sh, wait_until
from units import AGENT, TOKEN, TOKENS, deployment

USER = 65532
# As Kubernetes does with `capabilities: {drop: [ALL]}`.
NOTHING = {kind: [] for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")}


def unpacked():
    """The image as an OCI bundle."""
    bundle = memory() / "image"
    if not bundle.exists():
        layout = memory() / "layout"
        layout.mkdir()
        sh("tar", "-xf", os.environ["DAVIT_IMAGE"], "-C", layout)
        tag = json.loads((layout / "index.json").read_text(encoding="utf-8"))["manifests"][0]["annotations"]
        sh("umoci", "unpack", "--image", f"{layout}:{tag['org.opencontainers.image.ref.name']}", bundle,
           stdout=subprocess.DEVNULL)
    return bundle


class Container:
    def __init__(self, name, *arguments, files=()):
        self.name = f"davit-{os.getpid()}-{name}"
        self.bundle = memory() / name
        self.bundle.mkdir()
        self.log = self.bundle / "log"
        configuration = json.loads((unpacked() / "config.json").read_text(encoding="utf-8"))
        process = configuration["process"]
        entry = json.loads(image_configuration())["config"]["Entrypoint"]
        process.update(args=[*entry, *arguments], terminal=False, capabilities=NOTHING, noNewPrivileges=True)
        configuration["root"] = {"path": str(unpacked() / "rootfs"), "readonly": True}
        configuration["linux"]["namespaces"] = [n for n in configuration["linux"]["namespaces"] if n["type"] != "network"]
        for place in ("/etc/site", "/var/lib/davit", "/run/davit"):
            source = self.bundle / place.strip("/").replace("/", "-")
            source.mkdir()
            os.chown(source, USER, USER)
            configuration["mounts"].append({"destination": place, "source": str(source), "type": "bind",
                                            "options": ["bind", "ro" if place == "/etc/site" else "rw"]})
        for file, text in files:
            path = self.bundle / "etc-site" / file
            path.write_text(text, encoding="utf-8")
            path.chmod(0o600)
            os.chown(path, USER, USER)
        (self.bundle / "config.json").write_text(json.dumps(configuration), encoding="utf-8")
        self.process = subprocess.Popen(["runc", "--root", str(memory() / "runc"), "run", "--bundle", self.bundle, self.name],
                                        stdin=subprocess.DEVNULL, stdout=self.log.open("wb"), stderr=subprocess.STDOUT)

    def text(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def execute(self, *words, **options):
        return subprocess.run(["runc", "--root", str(memory() / "runc"), "exec", self.name, *words], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)

    def close(self):
        subprocess.run(["runc", "--root", str(memory() / "runc"), "kill", self.name, "KILL"], check=False,
                       stderr=subprocess.DEVNULL)
        self.process.wait()
        shutil.rmtree(self.bundle)


def image_configuration():
    layout = memory() / "layout"

    def blob(digest):
        return (layout / "blobs" / digest.replace(":", "/")).read_text(encoding="utf-8")
    manifest = json.loads(blob(json.loads((layout / "index.json").read_text(encoding="utf-8"))["manifests"][0]["digest"]))
    return blob(manifest["config"]["digest"])


class Image(unittest.TestCase):
    def container(self, *arguments, **options):
        made = Container(*arguments, **options)
        self.addCleanup(made.close)
        return made

    def test_says_who_it_is(self):
        one = self.container("version", "--version")
        self.assertEqual(one.process.wait(), 0, one.text())
        self.assertRegex(one.text(), r"^davit \d")
        configuration = json.loads(image_configuration())
        self.assertEqual(configuration["config"]["User"], f"{USER}:{USER}")
        self.assertEqual(configuration["config"]["Labels"]["org.opencontainers.image.title"], "davit")

    def test_has_no_shell_and_nothing_that_sets_an_identity(self):
        rootfs = unpacked() / "rootfs"
        programs = sorted(p.name for folder in ("bin", "sbin", "usr/bin", "usr/sbin")
                          if (rootfs / folder).is_dir() and not (rootfs / folder).is_symlink()
                          for p in (rootfs / folder).iterdir())
        self.assertEqual(programs, ["davit", "davit-seal"])
        files = [p for p in rootfs.rglob("*") if p.is_file() and not p.is_symlink()]
        self.assertEqual([p for p in files if p.stat().st_mode & 0o6002], [])
        self.assertIn("BEGIN CERTIFICATE", (rootfs / "etc/ssl/certs/ca-certificates.crt").read_text(encoding="ascii"))
        # What scanners of images read.
        self.assertTrue((rootfs / "var/lib/dpkg/status.d/davit").exists())
        size = sum(p.stat().st_size for p in files) / 2**20
        print(f"the image has {len(files)} files and {size:.0f} MiB")

    def test_every_plugin_of_it_is_loaded(self):
        listed = self.container("plugins", "plugin", "list")
        self.assertEqual(listed.process.wait(), 0, listed.text())
        plugins = [p.stem for p in (unpacked() / "rootfs/usr/lib").glob("*/davit/plugins/*.so")]
        self.assertGreater(len(plugins), 20)
        for plugin in plugins:
            self.assertRegex(listed.text(), rf"(?m)^{plugin} ")
        self.assertNotIn("cannot", listed.text())

    def test_server_and_agent_work_in_it(self):
        token = ("agent.token", TOKEN)
        server = self.container("server", "run", "/etc/davit/server.toml", "/etc/site", files=[
            token, ("site.toml", TOKENS.replace("credential:agent.token", "/etc/site/agent.token")
                    + '[host]\nstate_dir = "/var/lib/davit"\n')])
        status = ("/usr/bin/davit", "status")
        wait_until(server.text, lambda: server.execute(*status).returncode == 0)
        self.container("agent", "run", "/etc/davit/agent.toml", "/etc/site", files=[
            token, ("site.toml", AGENT.replace("credential:agent.token", "/etc/site/agent.token")
                    .replace("/var/lib/davit/agent", "/var/lib/davit"))])
        applied = server.execute("/usr/bin/davit", "apply", "-f", "-", "--wait", "--timeout", "60s", input=deployment(1))
        self.assertEqual(applied.returncode, 0, applied.stdout + server.text())
        self.assertIn("running at version 1", applied.stdout)
        self.assertIn("no such file or directory", server.execute("/bin/sh", "-c", "true").stdout)


if __name__ == "__main__":
    unittest.main()
