"""The shipped configuration: `davit check` takes it, and takes every key that it shows as a comment."""

import re
import subprocess
import unittest

from parts import DAVIT, KUBECONFIG, REPOSITORY, Case

COMMENTED_KEY = re.compile(r"^#((?:\[\[?[a-z_.]+\]\]?(?: +#.*)?|[a-z_]+ = .*))$", re.M)

BLOCK = re.compile(r'^\[plugin\.[a-z_]+\][^\n]*\nmodule = "([a-z_]+)"((?:.*\n)(?:(?!\[|# ---).*\n)*)', re.M)
OFF_AS_SHIPPED = re.compile(r"^#(\[plugin\.[a-z_]+\].*|module = .*)$", re.M)
SETTING_ROW = re.compile(r"^\| ((?:`[a-z_]+`(?:, )?)+) \|", re.M)


class ShippedFiles(Case):
    def check(self, name, text, overlay):
        shipped = self.world.write(name, text)
        extra = self.world.write("overlay.toml", overlay)
        done = subprocess.run([str(DAVIT), "check", str(shipped), str(extra)], text=True, capture_output=True,
                              timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    def overlays(self):
        token = f'"{self.world.folder}/agent.token"'
        return {
            "server.toml": f'[host]\nstate_dir = "{self.world.folder}"\n[[rpc.server.main.token]]\nname = "a"\n'
                           f'file = {token}\nregions = ["r"]\n[rpc.server.operator]\n'
                           f'listen = "unix:{self.world.socket}"\n',
            "agent.toml": f'[rpc.client.control]\ntoken_file = {token}\n[plugin.cluster]\nmodule = "cluster_memory"\n',
            "federation.toml": f'[rpc.server.operator]\nlisten = "unix:{self.world.socket}"\n'
                               '[plugin.cloud]\nmodule = "cluster_memory"\n[plugin.robot]\nmodule = "cluster_memory"\n',
            "clusters.toml": '[plugin.management]\nmodule = "cluster_memory"\n[plugin.exec]\ncommand = ["true"]\n',
        }

    def test_as_shipped(self):
        for name, overlay in self.overlays().items():
            code, out, err = self.check(name, (REPOSITORY / "etc" / name).read_text(encoding="utf-8"), overlay)
            self.assertEqual((code, err), (0, ""))
            self.assertIn({"server.toml": "streamer", "agent.toml": "watcher", "clusters.toml": "clusters"}.get(
                name, "federation"), out)

    def test_every_commented_key_is_known(self):
        kubeconfig = self.world.write("kubeconfig", KUBECONFIG)
        for name, overlay in self.overlays().items():
            overlay = overlay.replace('module = "cluster_memory"', f'kubeconfig = "{kubeconfig}"')
            text = (REPOSITORY / "etc" / name).read_text(encoding="utf-8")
            self.assertGreater(len(COMMENTED_KEY.findall(text)), 10)
            _, out, err = self.check(name, COMMENTED_KEY.sub(r"\1", text), overlay)
            self.assertNotIn("unknown key", out + err)
            # Files and servers that the comments name are not there; nothing else may be wrong.
            away = ("/etc/davit/", "127.0.0.1:1 ", "127.0.0.1 port 1 ")
            rest = [line for line in err.splitlines() if not any(word in line for word in away)]
            self.assertEqual(rest, [])

    def test_every_setting_is_shown(self):
        for name in self.overlays():
            text = (REPOSITORY / "etc" / name).read_text(encoding="utf-8")
            modules = BLOCK.findall(OFF_AS_SHIPPED.sub(r"\1", text))
            self.assertGreater(len(modules), 2)
            for module, block in modules:
                readme = (REPOSITORY / "plugins" / module / "README.md").read_text(encoding="utf-8")
                settings = [key for row in SETTING_ROW.findall(readme) for key in re.findall("`([a-z_]+)`", row)]
                for setting in settings:
                    if name == "server.toml" and module.startswith("kind_"):
                        continue  # what a kind needs on the server is little; the agent's file has it all
                    self.assertRegex(block, rf"(?m)^#?(?:  )?(\[\[?plugin\.[a-z_]+\.)?{setting}\b", f"{name}: {module}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
