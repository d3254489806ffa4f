"""The shipped configuration: `davit check` takes it, and takes every key that it shows as a comment."""

import re
import subprocess
import unittest

from parts import DAVIT, REPOSITORY, Case

COMMENTED_KEY = re.compile(r"^#((?:\[\[?[a-z_.]+\]\]?(?: +#.*)?|[a-z_]+ = .*))$", re.M)


class ShippedFiles(Case):
    def check(self, name, text, overlay):
        shipped = self.world.write(name, text)
        extra = self.world.write("overlay.toml", overlay)
        done = subprocess.run([str(DAVIT), "check", str(shipped), str(extra)], text=True, capture_output=True,
                              timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    def overlays(self):
        token = f'"{self.world.folder}/agent.token"'
        return {
            "server.toml": f'[host]\nstate_dir = "{self.world.folder}"\n[[rpc.server.main.token]]\nname = "a"\n'
                           f'file = {token}\nregions = ["r"]\n[rpc.server.operator]\n'
                           f'listen = "unix:{self.world.socket}"\n',
            "agent.toml": f'[rpc.client.control]\ntoken_file = {token}\n[plugin.cluster]\nmodule = "cluster_memory"\n',
        }

    def test_as_shipped(self):
        for name, overlay in self.overlays().items():
            code, out = self.check(name, (REPOSITORY / "etc" / name).read_text(encoding="utf-8"), overlay)
            self.assertEqual(code, 0, out)
            self.assertIn("streamer" if name == "server.toml" else "watcher", out)

    def test_every_commented_key_is_known(self):
        for name, overlay in self.overlays().items():
            text = (REPOSITORY / "etc" / name).read_text(encoding="utf-8")
            self.assertGreater(len(COMMENTED_KEY.findall(text)), 10)
            code, out = self.check(name, COMMENTED_KEY.sub(r"\1", text), overlay)
            self.assertNotIn("unknown key", out)
            # Files that the comments name are not there; nothing else may be wrong.
            rest = [line for line in out.splitlines() if code != 0 and "/etc/davit/" not in line]
            self.assertEqual(rest, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
