"""A token server with TLS: OAuth 2.0 (client credentials, with a secret or a signed JWT, and the exchange of a JWT), a
metadata server, and the issuer (OpenID Connect discovery) whose tokens an API server accepts.

`clients` says who may have tokens, `does` how it misbehaves at present, `requests` what it was asked."""

import base64
import json
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "kubernetes"))
from credentials import Credentials  # noqa: E402
from processes import free_ports  # noqa: E402

EXCHANGE = "urn:ietf:params:oauth:grant-type:jwt-bearer"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def openssl(*arguments, stdin=b""):
    return subprocess.run(["openssl", *map(str, arguments)], input=stdin, capture_output=True, check=True).stdout


def letters(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def octets(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def make_key(path, algorithm):
    kind = {"RS256": ("RSA", "rsa_keygen_bits:2048"), "ES256": ("EC", "ec_paramgen_curve:P-256")}[algorithm]
    openssl("genpkey", "-algorithm", kind[0], "-pkeyopt", kind[1], "-out", path)
    path.chmod(0o600)
    return path


def web_key(path, name):
    """The public key as JSON (RFC 7517)."""
    text = openssl("pkey", "-in", path, "-noout", "-text_pub").decode()
    if "Modulus" in text:
        modulus = openssl("rsa", "-in", path, "-noout", "-modulus").decode().strip().partition("=")[2]
        return {"kty": "RSA", "alg": "RS256", "use": "sig", "kid": name, "e": "AQAB", "n": letters(bytes.fromhex(modulus))}
    point = openssl("pkey", "-in", path, "-pubout", "-outform", "DER")[-64:]
    return {"kty": "EC", "alg": "ES256", "use": "sig", "kid": name, "crv": "P-256",
            "x": letters(point[:32]), "y": letters(point[32:])}


class TokenServer:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir()
        make = Credentials(self.folder)
        make.certificate("ca", "/CN=login")
        make.certificate("server", "/CN=login", issuer="ca")
        self.ca = self.folder / "ca.crt"
        self.key = make_key(self.folder / "issuer.key", "RS256")
        self.keys = {"issuer": web_key(self.key, "issuer")}  # that the API server accepts
        self.clients = {}  # name: {"secret": text} or {"key": path}
        self.does, self.lives_s = "", 3600
        self.requests, self.given = [], []
        self.port, self.server = free_ports(1)[0], None
        self.start()

    def start(self):
        """On the same port as before."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "server.crt", self.folder / "server.key")
        owner = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 60

            def do_GET(self):
                owner.answer(self, "")

            def do_POST(self):
                owner.answer(self, self.rfile.read(int(self.headers["Content-Length"])).decode())

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass  # a client that goes away in the middle

        self.server = Server(("127.0.0.1", self.port), Handler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def stop(self):
        """As if it were not there."""
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def authentication(self):
        """What an API server is told of this issuer."""
        authority = "".join(f"        {line}\n" for line in self.ca.read_text(encoding="utf-8").splitlines())
        return f"""apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer:
    url: {self.url}
    audiences: [kubernetes]
    certificateAuthority: |
{authority}  claimMappings:
    username: {{claim: sub, prefix: "robot:"}}
"""

    # --- answers

    def answer(self, call, body):
        path = call.path.partition("?")[0]
        if path == "/.well-known/openid-configuration":
            return self.send(call, 200, {"issuer": self.url, "jwks_uri": f"{self.url}/keys"})
        if path == "/keys":
            return self.send(call, 200, {"keys": list(self.keys.values())})
        form = dict(urllib.parse.parse_qsl(body))
        self.requests.append({"path": call.path, "form": form, "authorization": call.headers.get("Authorization", "")})
        if self.does == "slow":
            time.sleep(60)
        if self.does == "rubbish":
            return self.send(call, 200, "<html>Welcome to the hotel. Please log in.</html>")
        if self.does == "busy":
            return self.send(call, 503, {}, {"Retry-After": "1"})
        client = "robot-17" if path == "/identity" else self.who(form, call.headers.get("Authorization", ""))
        if client is None:
            return self.send(call, 401, {"error": "invalid_client", "error_description": "unknown client or key"})
        token = self.token(client)
        if path == "/identity":
            return self.send(call, 200, token)
        return self.send(call, 200, {"access_token": token, "token_type": "Bearer", "expires_in": self.lives_s})

    @staticmethod
    def send(call, status, body, headers=()):
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        call.send_response(status)
        for name, value in dict(headers).items():
            call.send_header(name, value)
        call.send_header("Content-Length", str(len(data)))
        call.end_headers()
        call.wfile.write(data)

    def who(self, form, authorization):
        """The client that has proved itself, or None."""
        if form["grant_type"] == EXCHANGE:
            return self.signed_by(form["assertion"])
        if form.get("client_assertion_type") == ASSERTION:
            return self.signed_by(form["client_assertion"])
        if "client_secret" in form:
            name, secret = form["client_id"], form["client_secret"]
        else:
            name, _, secret = base64.b64decode(authorization.partition(" ")[2]).decode().partition(":")
        known = self.clients.get(name, {})
        return name if secret and known.get("secret") == secret else None

    def signed_by(self, assertion):
        text, _, signature = assertion.rpartition(".")
        claims = json.loads(octets(text.partition(".")[2]))
        key = self.clients.get(claims["iss"], {}).get("key")
        now = time.time()
        good = claims["aud"] == f"{self.url}/token" and claims["iat"] <= now < claims["exp"]
        if key is None or not good or not self.verifies(key, text.encode(), octets(signature)):
            return None
        return claims["sub"]

    def verifies(self, key, text, signature):
        if len(signature) == 64:  # ES256: two numbers, which OpenSSL has as DER
            numbers = b"".join(self.number(signature[at:at + 32]) for at in (0, 32))
            signature = b"\x30" + bytes([len(numbers)]) + numbers
        public, signed = (self.folder / f"{threading.get_ident()}.{name}" for name in ("public", "signature"))
        public.write_bytes(openssl("pkey", "-in", key, "-pubout"))
        signed.write_bytes(signature)
        done = subprocess.run(["openssl", "dgst", "-sha256", "-verify", public, "-signature", signed], input=text,
                              capture_output=True, check=False)
        return done.returncode == 0

    @staticmethod
    def number(data):
        data = data.lstrip(b"\0") or b"\0"
        data = b"\0" + data if data[0] >= 128 else data
        return b"\x02" + bytes([len(data)]) + data

    def token(self, subject):
        now = int(time.time())
        header = {"alg": "RS256", "typ": "JWT", "kid": "issuer"}
        claims = {"iss": self.url, "sub": subject, "aud": "kubernetes", "iat": now, "exp": now + self.lives_s,
                  "jti": str(len(self.given))}
        text = ".".join(letters(json.dumps(part).encode()) for part in (header, claims))
        token = f"{text}.{letters(openssl('dgst', '-sha256', '-sign', self.key, stdin=text.encode()))}"
        self.given.append(token)
        return token
