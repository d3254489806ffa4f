"""Whom an agent takes for its API server: with a certificate authority in the kubeconfig that one's servers alone, and
without any those of the system's authorities."""

import http.server
import ssl
import subprocess
import threading
import unittest

from parts import Case, wait_until


class Answers(http.server.BaseHTTPRequestHandler):
    """Asked for anything, it says what an API server says of a resource that it does not have."""

    def do_GET(self):  # pylint: disable=invalid-name
        body = b'{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}'
        self.send_response(404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.server.requests += 1

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


class Authorities(Case):
    """The server has a certificate of the authority "theirs", which is one of the system's. Each agent runs with a
    directory of authorities of its own in the place of the system's."""

    def setUp(self):
        super().setUp()
        for name in ("ours", "theirs"):
            self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout",
                         f"{name}.key", "-out", f"{name}.pem")
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
                     "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE", "-CA", "theirs.pem",
                     "-CAkey", "theirs.key", "-keyout", "server.key", "-out", "server.pem")
        system = self.world.folder / "system"
        system.mkdir()
        for name in ("theirs.pem", "ca-certificates.crt"):
            (system / name).write_bytes((self.world.folder / "theirs.pem").read_bytes())
        self.openssl("rehash", str(system))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.world.folder / "server.pem", self.world.folder / "server.key")
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.server.requests = 0
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.world.folder, check=True, capture_output=True, timeout=60)

    def agent(self, authority):
        """Started in a namespace of mounts of its own."""
        ca = f', certificate-authority: "{self.world.folder}/{authority}.pem"' if authority else ""
        path = self.world.write("kubeconfig", f"""current-context: x
clusters: [{{name: c, cluster: {{server: "https://127.0.0.1:{self.server.server_port}"{ca}}}}}]
users: [{{name: u, user: {{token: t}}}}]
contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
""")
        agent = self.world.agent(kubeconfig=path)
        agent.argv = ["unshare", "--map-root-user", "--mount", "sh", "-c",
                      f'mount --bind {self.world.folder}/system /etc/ssl/certs && exec "$@"', "sh", *agent.argv]
        return agent.start()

    def test_an_authority_of_the_kubeconfig_is_the_only_one(self):
        agent = self.agent("ours")
        wait_until("the refusal", lambda: "certificate" in agent.text())
        self.assertEqual(self.server.requests, 0, agent.text())

    def test_its_own_servers_are_served(self):
        self.agent("theirs")
        wait_until("a request", lambda: self.server.requests > 0)

    def test_without_any_the_systems_count(self):
        self.agent(None)
        wait_until("a request", lambda: self.server.requests > 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
