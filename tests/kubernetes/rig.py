#!/usr/bin/env python3
"""A Kubernetes control plane with simulated kubelets, for tests and people; see README.md.

One supervisor process (`rig up`) is the parent of all others, which die with it. The other commands
find it through DIR/rig.json, and ask it through the socket DIR/control.sock.
"""

import argparse
import json
import os
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

from control_plane import ControlPlane
from pod_sandbox import check_bwrap
from processes import HERE, RigError, end, identity, is_free, is_running, tail, wait_until

STATE = "rig.json"
CONTROL = "control.sock"
LOOK_AROUND_SECONDS = 0.5  # how soon the end of the parent or of a program is noticed
END_SECONDS = 30


class Ended(BaseException):
    """The supervisor was told to end."""


def find_assets():
    built = subprocess.run([HERE / "build.sh"], stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode != 0:
        raise RigError("the programs could not be built; build.sh says why, above")
    return Path(built.stdout.splitlines()[-1])


def read_state(folder):
    try:
        return json.loads((folder / STATE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def clear(folder):
    """Removes the files of a rig from `folder`, except its logs, and nothing else."""
    for name in (
        "kubeconfig",
        "kubeconfig-token",
        "token",
        "tokens.csv",
        "authentication.yaml",
        "ca.crt",
        "ca.key",
        "server.crt",
        "server.key",
        "client.crt",
        "client.key",
        "service-accounts.key",
        "stages.yaml",
        CONTROL,
        STATE,
    ):
        (folder / name).unlink(missing_ok=True)
    for name in ("etcd", ".kube", "pods"):
        remove(folder / name)


def remove(folder):
    """Also while processes end in it whose parent was killed: the kernel kills them in that moment."""

    def is_removed():
        shutil.rmtree(folder, ignore_errors=True)
        return not folder.exists()

    if not wait_until(is_removed, END_SECONDS):
        raise RigError(f"{folder} cannot be removed")


class Supervisor:
    def __init__(self, folder, assets, arguments):
        self.folder, self.assets = folder, assets
        self.me = identity(os.getpid())
        self.parent = os.getppid()
        self.ready = False
        self.plane = ControlPlane(
            folder, assets, arguments.timeout, self.save, arguments.bare, dict(arguments.run_pods)
        )

    def save(self):
        state = {
            "ready": self.ready,
            "url": self.plane.url,
            "kubeconfig": str(self.folder / "kubeconfig"),
            "assets": str(self.assets),
            "ports": self.plane.ports,
            "processes": {"rig": self.me, **self.plane.identities()},
        }
        draft = self.folder / f"{STATE}.new"
        draft.write_text(json.dumps(state, indent=2) + "\n", encoding="utf-8")
        draft.replace(self.folder / STATE)

    def run(self, foreground):
        def ended(*_):
            raise Ended

        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, ended)
        os.umask(0o077)
        os.chdir(
            self.folder
        )  # a socket's path has at most 107 bytes; a relative one is short enough
        try:
            self.save()
            self.plane.start()
            with socket.socket(socket.AF_UNIX) as control:
                control.bind(CONTROL)
                control.listen()
                self.ready = True
                self.save()
                announce(self.folder)
                if foreground:
                    print("  Ctrl-C ends it", flush=True)
                self.serve(control, foreground)
        except Ended:
            pass
        finally:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            self.plane.stop()
            clear(self.folder)

    def serve(self, control, foreground):
        """Until told to end; in the foreground, also until the parent or a piped stdin ends."""
        sources = [control]
        if foreground and stat.S_ISFIFO(os.fstat(0).st_mode):
            sources.append(0)
        while not foreground or os.getppid() == self.parent:
            readable, _, _ = select.select(sources, [], [], LOOK_AROUND_SECONDS)
            self.plane.check()
            if 0 in readable and not os.read(0, 4096):
                return
            if control in readable:
                self.answer(control.accept()[0])

    def answer(self, client):
        with client, client.makefile("rw") as stream:
            client.settimeout(END_SECONDS)
            commands = {
                "stop-apiserver": self.plane.stop_api_server,
                "kill-apiserver": self.plane.kill_api_server,
                "start-apiserver": self.plane.start_api_server,
            }
            try:
                commands[stream.readline().strip()]()
                stream.write("ok\n")
            except RigError as error:
                stream.write(f"{error}\n")


def announce(folder):
    state = read_state(folder)
    print(
        f"Kubernetes is up at {state['url']}\n  export KUBECONFIG={state['kubeconfig']}\n"
        f"  {state['assets']}/kubectl get nodes",
        flush=True,
    )


def up(arguments):
    folder = arguments.dir
    if arguments.run_pods:
        if arguments.bare:
            raise RigError("a bare cluster has no scheduler: no pod would be run")
        check_bwrap()
    if not arguments.detached:
        prepare(folder)
    if arguments.detached or arguments.foreground:
        supervisor = Supervisor(folder, find_assets(), arguments)
        supervisor.run(arguments.foreground)
    else:
        find_assets()  # builds them if need be, where a person can see it
        detach(folder, arguments)


def prepare(folder):
    known = read_state(folder)
    if known and is_running(known["processes"]["rig"]):
        raise RigError(f"a rig is up in {folder} already; end it with: rig.py down --dir {folder}")
    clear(folder)
    shutil.rmtree(folder / "logs", ignore_errors=True)
    (folder / "logs").mkdir(parents=True)


def detach(folder, arguments):
    """Starts a supervisor that outlives us, and waits until its cluster is usable."""
    seconds = arguments.timeout
    log = folder / "logs" / "rig.log"
    command = [
        sys.executable,
        __file__,
        "up",
        "--detached",
        "--dir",
        folder,
        "--timeout",
        str(seconds),
        *(["--bare"] if arguments.bare else []),
        *(f"--run-pods={image}={stage}" for image, stage in arguments.run_pods),
    ]
    with open(log, "wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )

    def is_decided():
        state = read_state(folder)
        return process.poll() is not None or (state and state["ready"])

    try:
        if not wait_until(is_decided, 3 * seconds) or process.poll() is not None:
            raise RigError(f"the cluster did not come up:\n{tail(log, 40)}")
    except BaseException:
        process.terminate()
        raise
    announce(folder)


def down(arguments):
    folder = arguments.dir
    state = read_state(folder)
    if state is None:
        return
    known = state["processes"]
    if not end(known["rig"], signal.SIGTERM, END_SECONDS):
        end(known["rig"], signal.SIGKILL, END_SECONDS)
    for name, process in known.items():
        if not end(process, signal.SIGKILL, END_SECONDS):
            raise RigError(f"{name} (pid {process['pid']}) does not end")
    for name, port in state["ports"].items():
        if not wait_until(lambda port=port: is_free(port), END_SECONDS):
            raise RigError(f"port {port} of {name} is still in use")
    clear(folder)


def ask(arguments):
    folder = arguments.dir
    os.chdir(folder)
    with socket.socket(socket.AF_UNIX) as control:
        control.settimeout(2 * arguments.timeout)
        try:
            control.connect(CONTROL)
        except OSError:
            raise RigError(f"no rig is up in {folder}") from None
        control.sendall(f"{arguments.command}\n".encode())
        answer = control.makefile().read().strip()
    if answer != "ok":
        raise RigError(answer or f"the rig in {folder} has ended")


def image_and_stage(text):
    image, _, stage = text.partition("=")
    path = Path(stage).resolve()
    if not image or not stage or not (path / "bin").is_dir():
        raise argparse.ArgumentTypeError(
            f"{text!r} is not IMAGE=STAGE, with a folder STAGE that has a folder bin"
        )
    return image, path


def main():
    parser = argparse.ArgumentParser(
        prog="rig.py", description=__doc__.split("\n\n", maxsplit=1)[0]
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, function, text in (
        ("up", up, "start a cluster in DIR and return when it is usable"),
        ("down", down, "end it"),
        ("stop-apiserver", ask, "stop only the API server; its data stays"),
        ("kill-apiserver", ask, "the same by SIGKILL"),
        ("start-apiserver", ask, "start it again, on the same port and data"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(function=function)
        command.add_argument(
            "--dir", required=True, type=lambda path: Path(path).resolve(), help="folder of the rig"
        )
        command.add_argument(
            "--timeout", type=int, default=120, metavar="SECONDS", help="to become ready (120)"
        )
        if name == "up":
            command.add_argument(
                "--foreground",
                action="store_true",
                help="stay, until a signal, the end of the parent or of a piped stdin",
            )
            command.add_argument(
                "--bare", action="store_true", help="etcd and the API server alone: no controllers"
            )
            command.add_argument(
                "--run-pods",
                action="append",
                default=[],
                type=image_and_stage,
                metavar="IMAGE=STAGE",
                help="run pods of this image as processes, with the programs of STAGE/bin",
            )
            command.add_argument("--detached", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    try:
        arguments.function(arguments)
    except RigError as error:
        sys.exit(f"rig: {error}")


if __name__ == "__main__":
    main()
