"""Fresh Debian roots for tests: each is an overlay above an unpacked archive, in memory, and is gone with its test.

run.sh has made the namespaces that this works in.
"""

import atexit
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = Path(os.environ["DAVIT_PACKAGES"])
ROOTS = Path(os.environ["DAVIT_ROOTS"])
LONG = bool(os.environ.get("DAVIT_LONG"))
PATIENCE_S = 120
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root",
               "DEBIAN_FRONTEND": "noninteractive", "TERM": "dumb"}
_state = {}


def sh(*argv, **options):
    return subprocess.run([str(a) for a in argv], check=True, text=True, **options)


def memory():
    """A file system in memory for all roots of this run, and a loopback interface that is up."""
    if "memory" not in _state:
        folder = Path(tempfile.mkdtemp(prefix="davit-packages-"))
        atexit.register(lambda: (sh("umount", "--lazy", folder), folder.rmdir()))
        sh("mount", "-t", "tmpfs", "-o", "size=6g,mode=755", "davit-packages", folder)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            request = bytearray(struct.pack("16sh14x", b"lo", 0))
            fcntl.ioctl(s, 0x8913, request)  # SIOCGIFFLAGS
            flags = struct.unpack_from("16sh", request)[1]
            fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", flags | 1))  # SIOCSIFFLAGS, IFF_UP
        _state["memory"] = folder
    return _state["memory"]


def base(kind):
    """The unpacked archive `kind` ("run", "build"), of which nothing is changed."""
    folder = memory() / f"base-{kind}"
    if not folder.exists():
        folder.mkdir()
        sh("tar", "-xf", ROOTS / f"{kind}.tar", "--exclude=./dev/*", "-C", folder)
    return folder


class Root:
    """A machine of its own: files of Debian, no process. `size` limits what may be written ("full disk")."""
    count = 0

    def __init__(self, kind="run", lower=None, size="2g"):
        Root.count += 1
        self.own = memory() / f"root-{Root.count}"
        self.own.mkdir()
        sh("mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "davit-root", self.own)
        for name in ("upper", "work", "root"):
            (self.own / name).mkdir()
        self.path = self.own / "root"
        below = f"{lower}:{base(kind)}" if lower else base(kind)
        sh("mount", "-t", "overlay", "-o", f"lowerdir={below},upperdir={self.own}/upper,workdir={self.own}/work", "davit",
           self.path)
        (self.path / "packages").mkdir()
        self.mount_kernel()

    def mount_kernel(self):
        """What programs expect of the kernel: /proc and some devices."""
        sh("mount", "-t", "proc", "proc", self.path / "proc")
        (self.path / "dev").mkdir(exist_ok=True)
        for device in ("null", "zero", "full", "random", "urandom", "tty"):
            (self.path / "dev" / device).touch()
            sh("mount", "--bind", f"/dev/{device}", self.path / "dev" / device)

    def close(self):
        sh("umount", "--recursive", "--lazy", self.own)
        self.own.rmdir()

    def into(self):
        """The words before a command that runs in this root."""
        return ["chroot", self.path]

    def run(self, *argv, check=True, **options):
        done = subprocess.run([*self.into(), *map(str, argv)], env=ENVIRONMENT, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False, **options)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, argv))} ended with {done.returncode}:\n{done.stdout[-4000:]}")
        return done

    def file(self, name):
        return self.path / name.lstrip("/")

    def write(self, name, text, mode=0o644):
        path = self.file(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)

    def take(self, debs):
        """Copies packages into the root, and says what they are called there."""
        names = []
        for deb in debs:
            shutil.copy(deb, self.path / "packages")
            names.append(f"/packages/{Path(deb).name}")
        return names

    def install(self, debs, *options, check=True):
        """With apt, from files: what they need must be there or among them, because there is no network."""
        return self.run("apt-get", "install", "-y", "-q", "--no-install-recommends", *options, *self.take(debs), check=check)

    def files(self, *folders):
        return sorted(str(p.relative_to(self.path)) for f in folders for p in self.file(f).rglob("*"))


def deb(name, folder=PACKAGES):
    found = [p for p in Path(folder).glob(f"{name}_*.deb")]
    if len(found) != 1:
        raise AssertionError(f"one package {name} is expected in {folder}, and there are {len(found)}")
    return found[0]


SERVER = ("davit", "davit-plugins-core")


def all_debs():
    return sorted(p for p in PACKAGES.glob("*.deb") if "-dbgsym_" not in p.name)


def repack(package, to, edit):
    """The same package with `edit(folder)` applied to its unpacked files; the control file is DEBIAN/control."""
    with tempfile.TemporaryDirectory(dir=memory()) as work:
        folder = Path(work) / "tree"
        sh("dpkg-deb", "-R", package, folder)
        edit(folder)
        to.mkdir(exist_ok=True)
        sh("dpkg-deb", "-Znone", "--root-owner-group", "-b", folder, to, stdout=subprocess.DEVNULL)


def wait_until(what, condition):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {PATIENCE_S} s: {what() if callable(what) else what}")
        time.sleep(0.05)
