"""The certificates, the token and the kubeconfigs of one cluster, as files in its folder."""

import base64
import secrets
import subprocess

from processes import HERE, RigError

AUTHENTICATION = """apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt: []
"""


def write_credentials(folder, url):
    make = Credentials(folder)
    make.certificate("ca", "/CN=rig")
    make.certificate("server", "/CN=kube-apiserver", issuer="ca")
    make.certificate("client", "/O=system:masters/CN=rig", issuer="ca")
    # Not PKCS #8: for elliptic curves the API server does not read that here.
    make.openssl("ecparam -name prime256v1 -genkey -noout -out service-accounts.key")
    # Issuers of other tokens; the API server reads it again when a test has changed it.
    make.file("authentication.yaml", AUTHENTICATION)
    token = secrets.token_hex(16)
    make.file("token", token)
    make.file("tokens.csv", f'{token},rig-token,rig-token,"system:masters"\n')
    certificate, key = make.base64("client.crt"), make.base64("client.key")
    users = {
        "kubeconfig": {"client-certificate-data": certificate, "client-key-data": key},
        "kubeconfig-token": {"token": token},
    }
    for name, user in users.items():
        make.kubeconfig(name, url, user)


class Credentials:
    def __init__(self, folder):
        self.folder = folder

    def file(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def base64(self, name):
        return base64.b64encode((self.folder / name).read_bytes()).decode()

    def certificate(self, name, subject, issuer=None):
        """NAME.crt and NAME.key, with the extensions of section [NAME] of openssl.cnf."""
        signed_by = f"-CA {issuer}.crt -CAkey {issuer}.key" if issuer else ""
        self.openssl(
            f"req -x509 {signed_by} -extensions {name} -subj {subject} -days 3650 -nodes"
            f" -newkey ec -pkeyopt ec_paramgen_curve:P-256 -keyout {name}.key -out {name}.crt",
            "-config",
            HERE / "openssl.cnf",
        )

    def openssl(self, words, *paths):
        command = ["openssl", *words.split(), *paths]
        try:
            subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True)
        except FileNotFoundError:
            raise RigError("openssl is not installed; install it (3.0 or newer)") from None
        except subprocess.CalledProcessError as error:
            what = f"openssl {command[1]} failed (3.0 or newer is needed)"
            raise RigError(f"{what}: {error.stderr.strip()}") from None

    def kubeconfig(self, name, url, user):
        credentials = "".join(f"    {key}: {value}\n" for key, value in user.items())
        text = f"""apiVersion: v1
kind: Config
clusters:
- name: rig
  cluster:
    server: {url}
    certificate-authority-data: {self.base64("ca.crt")}
users:
- name: rig
  user:
{credentials}contexts:
- name: rig
  context:
    cluster: rig
    user: rig
current-context: rig
"""
        self.file(name, text)
