"""The volumes of one pod, as folders whose files change as a whole when their ConfigMap, Secret or token does."""

import base64
import os
import shutil
import tempfile
import time
from pathlib import Path

from kube_api import UNREACHABLE, Refused
from pod_spec import NotYet, field

TOKEN_SECONDS = 3600
TOKEN_SHARE = 0.8  # of its time a token is used, then there is a new one: as the kubelet does
MODE = 0o644
WRITABLE = {"emptyDir", "persistentVolumeClaim"}


def publish(folder, files):
    """Makes {path: (bytes, mode)} the content of `folder`, in one step for whoever reads it.

    As the kubelet does: files are links into `..data`, which is a link to a folder of this state.
    """
    data = folder / "..data"
    if not has(data, files):
        new = tempfile.mkdtemp(prefix="..", dir=folder)
        os.chmod(new, 0o755)
        for path, (content, mode) in files.items():
            target = os.path.join(new, path)
            os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
            with open(target, "wb") as file:
                file.write(content)
            os.chmod(target, mode)
        draft = folder / "..data_new"
        draft.unlink(missing_ok=True)
        draft.symlink_to(os.path.basename(new))
        draft.replace(data)
    names = {path.split("/")[0] for path in files}
    for name in names:
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(f"..data/{name}")
    for path in folder.iterdir():
        if path.is_symlink() and path.name not in names | {"..data"}:
            path.unlink()
        elif not path.is_symlink() and path.name != os.readlink(data):
            shutil.rmtree(path)


def has(data, files):
    found = {}
    for top, _, names in os.walk(data):
        for name in names:
            path = os.path.join(top, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, data)] = (file.read(), os.stat(path).st_mode & 0o777)
    return data.is_symlink() and found == files


class Volumes:
    """Of `pod`, below `folder`; `address` is the pod's."""

    def __init__(self, api, pod, folder, address):
        self.api, self.pod, self.folder, self.address = api, pod, folder, address
        self.namespace = pod["metadata"]["namespace"]
        self.claimed = {}  # volume: the folder of its claim
        self.tokens = {}  # (volume, path): (token, when it is renewed)

    def prepare(self):
        """Before the container starts. Raises NotYet, Refused or UNREACHABLE."""
        for volume in self.pod["spec"].get("volumes", []):
            self._update(volume)

    def refresh(self):
        """While it runs: what cannot be read stays as it is."""
        for volume in self.pod["spec"].get("volumes", []):
            try:
                self._update(volume)
            except (NotYet, Refused, *UNREACHABLE):
                pass

    def mounts(self):
        """[(folder, where it is mounted, whether it is read only)], outer ones first."""
        kinds = {volume["name"]: volume for volume in self.pod["spec"].get("volumes", [])}
        mounts = self.pod["spec"]["containers"][0].get("volumeMounts", [])
        return [(self._place(mount), mount["mountPath"],
                 not kinds[mount["name"]].keys() & WRITABLE or mount.get("readOnly", False))
                for mount in sorted(mounts, key=lambda mount: mount["mountPath"])]

    def _place(self, mount):
        place = self.claimed.get(mount["name"], self.folder / mount["name"])
        if "subPath" in mount:
            place = place / mount["subPath"]
            place.mkdir(parents=True, exist_ok=True)
        return place

    def read(self, kind, namespace, name, optional):
        """The entries of a ConfigMap or a Secret, as bytes."""
        try:
            found = self.api.request("GET", f"/api/v1/namespaces/{namespace}/{kind}/{name}")
        except Refused as error:
            if error.status != 404:
                raise
            if optional:
                return {}
            raise NotYet(str(error), "ContainerCreating") from None
        texts, binaries = found.get("data") or {}, found.get("binaryData") or {}
        if kind == "secrets":
            texts, binaries = {}, texts
        return {**{k: v.encode() for k, v in texts.items()},
                **{k: base64.b64decode(v) for k, v in binaries.items()}}

    def _update(self, volume):
        if "persistentVolumeClaim" in volume:
            self.claimed[volume["name"]] = self._claimed(volume["persistentVolumeClaim"]["claimName"])
            return
        folder = self.folder / volume["name"]
        if not folder.is_dir():
            folder.mkdir(parents=True)
            folder.chmod(0o777 if "emptyDir" in volume else 0o755)
        if "emptyDir" in volume:
            return
        projected = volume.get("projected")
        sources = projected["sources"] if projected else [volume]
        usual = next(volume[k] for k in ("projected", "configMap", "secret", "downwardAPI") if k in volume)
        mode = usual.get("defaultMode", MODE)
        files = {}
        for source in sources:
            files.update(self._files(volume["name"], source, mode))
        publish(folder, files)

    def _claimed(self, name):
        """The folder of the claim's volume, which a hostPath names."""
        claim = self.api.request("GET", f"/api/v1/namespaces/{self.namespace}/persistentvolumeclaims/{name}")
        if claim.get("status", {}).get("phase") != "Bound":
            raise NotYet(f"the claim {name} is not bound to a volume", "ContainerCreating")
        volume = self.api.request("GET", f"/api/v1/persistentvolumes/{claim['spec']['volumeName']}")
        if "hostPath" not in volume["spec"]:
            raise NotYet(f"the claim {name}: its volume is no hostPath")
        return Path(volume["spec"]["hostPath"]["path"])

    def _files(self, volume, source, mode):
        """{path: (bytes, mode)} of one source."""
        if "configMap" in source:
            return self._entries("configmaps", source["configMap"], source["configMap"]["name"], mode)
        if "secret" in source:
            secret = source["secret"]
            return self._entries("secrets", secret, secret.get("secretName") or secret["name"], mode)
        if "downwardAPI" in source:
            return {item["path"]: (field(self.pod, (item.get("fieldRef") or {}).get("fieldPath", "of a resource"),
                                         self.address).encode(), item.get("mode", mode))
                    for item in source["downwardAPI"].get("items", [])}
        if "serviceAccountToken" in source:
            wanted = source["serviceAccountToken"]
            return {wanted["path"]: (self._token(volume, wanted).encode(), mode)}
        raise NotYet(f"volume {volume}: there is no source {', '.join(source)}")

    def _entries(self, kind, source, name, mode):
        entries = self.read(kind, self.namespace, name, source.get("optional", False))
        if "items" not in source:
            return {key: (value, mode) for key, value in entries.items()}
        out = {}
        for item in source["items"]:
            if item["key"] in entries:
                out[item["path"]] = (entries[item["key"]], item.get("mode", mode))
            elif not source.get("optional", False):
                raise NotYet(f"{kind} {name} has no {item['key']}", "ContainerCreating")
        return out

    def _token(self, volume, wanted):
        """A token of the pod's ServiceAccount that ends with the pod, renewed before it ends."""
        key = volume, wanted["path"]
        token, renewed = self.tokens.get(key, (None, 0))
        if time.monotonic() < renewed:
            return token
        seconds = wanted.get("expirationSeconds", TOKEN_SECONDS)
        metadata = self.pod["metadata"]
        spec = {"expirationSeconds": seconds,
                "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": metadata["name"], "uid": metadata["uid"]}}
        if wanted.get("audience"):
            spec["audiences"] = [wanted["audience"]]
        account = self.pod["spec"].get("serviceAccountName", "default")
        answer = self.api.request("POST", f"/api/v1/namespaces/{self.namespace}/serviceaccounts/{account}/token",
                                  {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})
        token = answer["status"]["token"]
        self.tokens[key] = token, time.monotonic() + TOKEN_SHARE * seconds
        return token
