"""How a process of federation proves to the cloud who it is: tokens that a token server gives and that end, JWTs that
the robot signs, keys that are revoked, and a token server that is away or talks nonsense. The API servers are real."""

import json
import subprocess
import time

import parts
from federation_parts import MERGE, Pair
from parts import DAVIT, REPOSITORY, Process, get, metrics, wait_until
from token_server import TokenServer, make_key, web_key

MAPS = "/api/v1/namespaces/default/configmaps"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
SHORT_S = 8  # a token's life


class OnKubernetes(Pair):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        status, answer = cls.cloud.request("POST", BINDINGS, {
            "metadata": {"name": "robots"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "robot:robot-17"}]})
        assert status in (201, 409), answer

    def setUp(self):
        super().setUp()
        self.login = TokenServer(self.world.folder / "login")
        self.addCleanup(self.login.stop)
        self.key = make_key(self.world.folder / "robot.pem", "ES256")
        self.secret = self.world.token("client", "the-secret-of-robot-17")
        self.login.clients["robot-17"] = {"secret": "the-secret-of-robot-17", "key": self.key}
        self.login.keys["robot"] = web_key(self.key, "robot")
        # The API server looks at this file again by itself.
        draft = self.cloud.folder / "authentication.yaml.new"
        draft.write_text(self.login.authentication(), encoding="utf-8")
        draft.replace(self.cloud.folder / "authentication.yaml")
        wait_until("the API server accepts the tokens of the token server", self.accepted, 120)

    def accepted(self):
        config = self.world.write("probe.toml", self.settings(self.by_secret()))
        done = self.check(config)
        return done.returncode == 0

    # --- configurations

    def settings(self, token, more=""):
        return f"""
[host]
state_dir = "{self.world.folder}/state"
[rpc.server.operator]
listen = "unix:{self.world.socket}"
[plugin.cloud]
server = "{self.cloud.url}/"
certificate_authority_file = "{self.cloud.ca}"
[plugin.cloud.token]
{token}
[plugin.robot]
kubeconfig = "{self.robot.kubeconfig}"
[plugin.federation]
robot_name = "robot-17"
definitions = "none"
retry_first_ms = 100
retry_most_ms = 1000
[[plugin.federation.resource]]
version = "v1"
resource = "configmaps"
selector = "example.com/to=robot"
fields = ["data"]
{more}"""

    def at_login(self, source, more, path="/token"):
        return f'source = "{source}"\nurl = "{self.login.url}{path}"\nca_file = "{self.login.ca}"\n{more}'

    def by_secret(self, more=""):
        return self.at_login("client_credentials",
                             f'client_id = "robot-17"\nclient_secret_file = "{self.secret}"\n{more}')

    def by_key(self, source="client_credentials", more=""):
        return self.at_login(source, f'client_id = "robot-17"\njwt_key_file = "{self.key}"\n'
                                     f'jwt_algorithm = "ES256"\n{more}')

    def by_itself(self):
        return (f'source = "signed_jwt"\njwt_key_file = "{self.key}"\njwt_algorithm = "ES256"\njwt_key_id = "robot"\n'
                f'jwt_issuer = "{self.login.url}"\njwt_subject = "robot-17"\njwt_audience = "kubernetes"\n'
                'jwt_claims = { prn = "robot-17" }\n')

    def check(self, config):
        return subprocess.run([DAVIT, "check", REPOSITORY / "etc/federation.toml", config], text=True,
                              capture_output=True, timeout=60 * parts.PATIENCE, check=False)

    def federation(self, token):
        config = self.world.write("federation.toml", self.settings(token))
        process = self.world.part(Process("federation", [DAVIT, "run", REPOSITORY / "etc/federation.toml", config],
                                          self.world.folder))
        self.port = self.world.with_metrics(process)
        process.start()
        wait_until(process.tail, self.answers)
        return process

    def answers(self):
        try:
            return self.health()
        except OSError:
            return ""

    def health(self):
        return get(self.port, "/readyz")[1]

    def says(self, process, words):
        wait_until(lambda: f"health says {words!r}: {self.health()}; {process.tail()}",
                   lambda: words in self.health(), 60)

    def tokens_made(self):
        return metrics(self.port).get("davit_cluster_tokens_total", 0)

    # --- objects

    def put(self, name, value):
        path = f"{MAPS}/{name}"
        if self.cloud.request("GET", path)[0] == 404:
            status, answer = self.cloud.request("POST", MAPS, {
                "metadata": {"name": name, "labels": {"example.com/to": "robot"}}, "data": {"v": value}})
        else:
            status, answer = self.cloud.request("PATCH", path, {"data": {"v": value}}, MERGE)
        self.assertIn(status, (200, 201), answer)

    def arrives(self, process, name, value):
        def there():
            status, answer = self.robot.request("GET", f"{MAPS}/{name}")
            return answer.get("data", {}).get("v") if status == 200 else None
        wait_until(lambda: f"{name} is {value}: {there()}; {process.tail()}", lambda: there() == value, 60)

    def never_shown(self, text):
        for secret in ("the-secret-of-robot-17", "eyJ", *self.login.given[-3:]):
            self.assertNotIn(secret, text)

    # --- tests

    def test_all_ways_to_a_token(self):
        ways = {"secret": self.by_secret(), "body": self.by_secret("client_secret_in_body = true\n"),
                "key": self.by_key(), "exchange": self.by_key("jwt_bearer"), "itself": self.by_itself(),
                "metadata": self.at_login("metadata", "", "/identity")}
        for name, token in ways.items():
            with self.subTest(name):
                given = len(self.login.given)
                done = self.check(self.world.write(f"{name}.toml", self.settings(token)))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(len(self.login.given) - given, 0 if name == "itself" else 1)
                self.never_shown(done.stdout + done.stderr)

    def test_what_goes_wrong_is_said_by_the_check(self):
        wrong_secret = self.world.token("wrong", "not-it")
        stranger = make_key(self.world.folder / "stranger.pem", "ES256")
        who = f'token of client "robot-17" at {self.login.url}/token: '
        quick = "request_timeout_ms = 1500\n"
        rows = [
            ("", self.by_secret().replace(str(self.secret), str(wrong_secret)),
             who + "the server refuses: 401 invalid_client: unknown client or key; does the client exist there, and is "
                   f'its secret that of "{wrong_secret}"?'),
            ("", self.by_key().replace(str(self.key), str(stranger)),
             f'is the public key of "{stranger}" (SHA-256 '),
            ("rubbish", self.by_secret(), who + "the server answers with neither JSON nor a JWT: is `url` right?"),
            ("busy", self.by_secret(), who + "the server answers 503: try again later"),
            ("slow", self.by_secret(quick), who + "no answer within 1500 ms (request_timeout_ms)"),
            ("", self.by_secret().replace(str(self.login.ca), str(self.cloud.ca)), who),
            ("", self.by_itself().replace(str(self.key), str(stranger)),
             f'the token is a JWT of issuer "{self.login.url}", subject "robot-17", audience "kubernetes": is the public '
             f'key of "{stranger}" (SHA-256 '),
            ("", self.by_secret().replace(str(self.secret), "/nowhere/secret"), "/nowhere/secret"),
        ]
        for does, token, words in rows:
            with self.subTest(words):
                self.login.does = does
                done = self.check(self.world.write("wrong.toml", self.settings(token)))
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(words, done.stderr)
                self.never_shown(done.stdout + done.stderr)

    def test_tokens_end_and_objects_go_on(self):
        self.login.lives_s = SHORT_S
        process = self.federation(self.by_key())
        number, done_by = 0, time.monotonic() + 120 * parts.PATIENCE
        while self.tokens_made() < 4 and time.monotonic() < done_by:
            number += 1
            self.put("renewed", str(number))
            self.arrives(process, "renewed", str(number))
        self.assertGreaterEqual(self.tokens_made(), 4)
        self.assertNotIn("does not accept the credentials", process.text())
        # The token server is away for longer than a token lives, and longer than an API server remembers one.
        self.login.lives_s, made = 3 * SHORT_S, self.tokens_made()
        wait_until("a token that lives longer", lambda: self.tokens_made() > made)
        self.login.stop()
        self.says(process, "requests go on with the present token, which ends at ")
        self.put("renewed", "with the last one")
        self.arrives(process, "renewed", "with the last one")
        wait_until(lambda: f"the token has ended: {self.health()}", lambda: "go on" not in self.health())
        self.says(process, f'token of client "robot-17" at {self.login.url}/token: ')
        self.put("renewed", "meanwhile")
        self.login.start()
        self.arrives(process, "renewed", "meanwhile")
        wait_until(lambda: f"all is well: {self.health()}", lambda: "token" not in self.health())
        self.assertIn("the bearer token can be made again", process.text())
        self.never_shown(process.text())
        self.check_clean_end(process)

    def test_a_key_that_was_revoked_is_named_until_there_is_another(self):
        self.login.lives_s = SHORT_S
        process = self.federation(self.by_key())
        self.put("revoked", "1")
        self.arrives(process, "revoked", "1")
        self.login.clients["robot-17"] = {}
        words = (f'token of client "robot-17" at {self.login.url}/token: the server refuses: 401 invalid_client: unknown '
                 f'client or key; is the public key of "{self.key}" (SHA-256 ')
        self.says(process, words)
        self.says(process, 'registered there for "robot-17", and not revoked?')
        asked = len(self.login.requests)
        wait_until(lambda: f"the token has ended: {self.health()}", lambda: "go on" not in self.health())
        self.put("revoked", "2")
        # A new key in the same file, registered there: nobody restarts anything.
        fresh = make_key(self.world.folder / "fresh.pem", "ES256")
        self.login.clients["robot-17"] = {"key": fresh}
        fresh.replace(self.key)
        self.login.clients["robot-17"] = {"key": self.key}
        self.arrives(process, "revoked", "2")
        self.assertLess(len(self.login.requests) - asked, 40, "it does not ask without end")
        self.assertEqual(process.text().count("the bearer token cannot be made"), 1, process.tail())
        self.never_shown(process.text())
        self.check_clean_end(process)

    def test_a_robot_signs_its_own(self):
        process = self.federation(self.by_itself() + "jwt_lifetime_s = 10\nrenew_before_s = 2\n")
        number, done_by = 0, time.monotonic() + 120 * parts.PATIENCE
        while self.tokens_made() < 3 and time.monotonic() < done_by:
            number += 1
            self.put("own", str(number))
            self.arrives(process, "own", str(number))
        self.assertGreaterEqual(self.tokens_made(), 3)
        self.assertEqual(json.dumps(self.login.requests).count("own"), 0)
        self.assertNotIn("does not accept the credentials", process.text())
        self.never_shown(process.text())
        self.check_clean_end(process)
