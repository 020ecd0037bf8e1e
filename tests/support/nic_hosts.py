# SPDX-License-Identifier: Apache-2.0
"""Hosts out of network namespaces, the daemons and members on them. Needs root and BPF."""

import json
import os
import secrets
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tollbar.machine import nic_daemon, paths

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCES = ROOT / "tests" / "nicd"
HOSTS = 4
NOBODY = 65534
PATIENCE_MS = 60_000  # only turns a hang into a failure
NAMED_WITHIN_MS = 500  # who is missing, once whoever waits in vain is told to give up


def hosts(*words: object) -> str:
    command = [ROOT / "scripts" / "hosts", "--id", f"c{os.getpid() % 0xFFFFF:x}", *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


class Network:
    """Hosts with addresses; the daemons and members on them."""

    def __init__(self, folder: Path, program: Path):
        self.folder, self.program = folder, program
        hosts("up", HOSTS)
        self.names, self.addresses = zip(*(line.split() for line in hosts("list").splitlines()), strict=True)
        self.daemons = [self.daemon(host) for host in range(HOSTS)]

    def inside(self, host: int) -> list[str]:
        return ["ip", "netns", "exec", self.names[host]]

    def socket(self, host: int) -> str:
        return str(self.folder / f"daemon{host}")

    def daemon(self, host: int, *options: str, files: int | None = None) -> subprocess.Popen:
        """`files`: how many it may open."""
        limited = ["prlimit", f"--nofile={files}"] if files else []
        command = [
            *limited,
            paths.program("tollbar-nicd"),
            "--interface",
            "eth0",
            "--socket",
            self.socket(host),
            *options,
        ]
        process = subprocess.Popen([*self.inside(host), *map(str, command)], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        return process

    def restart_daemon(self, host: int, *options: str, files: int | None = None) -> None:
        self.daemons[host].kill()
        self.daemons[host].wait()
        self.daemons[host] = self.daemon(host, *options, files=files)

    def member(self, rank: int, key: str, plan: str = "pairwise", episodes: int = 50, user: int = 0,
               group: int = 1, stay: bool = False,
               on_nic: bool | None = True, in_vain: bool = False,
               daemon: str | None = None) -> subprocess.Popen:  # fmt: skip
        """On its NIC (nothing else will do: True; or else over UDP: None), or over UDP (False). One that waits in vain
        gives up when it is asked what it `said`."""
        board = self.folder / f"board{key}"
        if not board.exists():
            board.write_bytes(bytes(8192))
            board.chmod(0o666)
        patience_ms = NAMED_WITHIN_MS if in_vain else PATIENCE_MS
        words = [board, key, group, rank, plan, episodes, 0, patience_ms, *self.addresses]
        listens = "none" if on_nic is False else daemon or self.socket(rank)
        environment = {**os.environ, "TOLLBAR_NICD": listens}
        if on_nic:
            environment["ONLY_NIC"] = "1"
        if stay:
            environment["STAY"] = "1"
        if in_vain:
            environment["UNTIL_TOLD"] = "1"
        return subprocess.Popen(
            [*self.inside(rank), "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
             *(["--bounding-set=-all"] if user else []), str(self.program), *map(str, words)],
            stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    def status(self, host: int) -> dict:
        return nic_daemon.status(self.socket(host))

    def episode(self, host: int, member: subprocess.Popen) -> int:
        """The last one that the daemon knows of the member's group; 0 before it knows the group."""
        groups = self.status(host)["groups"]
        return next((group["episode"] for group in groups if group["process"] == member.pid), 0)

    def wait_for_episode(self, host: int, episode: int) -> None:
        until = time.monotonic() + PATIENCE_MS / 1000
        while time.monotonic() < until:
            if any(group["episode"] >= episode for group in self.status(host)["groups"]):
                return
            time.sleep(0.01)
        raise AssertionError(f"host {host} does not reach episode {episode}")


def new_key() -> str:
    return f"{secrets.randbits(63) | 1:x}"


def said(process: subprocess.Popen) -> dict:
    """Its answer, now that it is told that nobody else will come."""
    out, _ = process.communicate(timeout=120)
    return json.loads(out)


def _compiled(source: Path, program: Path, *words: str | Path) -> Path:
    command = ["cc", "-O2", "-Wall", "-Wextra", "-Werror", *map(str, words[:1]), source, "-o", program]
    subprocess.run([*command, *map(str, words[1:])], check=True)
    return program


@contextmanager
def network() -> Iterator[Network]:
    """Hosts, and a daemon on each, until the end of the block.

    Their folder is one that other users may enter. Pytest closes its own to them whenever it is started.
    """
    with tempfile.TemporaryDirectory(prefix="tollbar-nics-") as folder:
        Path(folder).chmod(0o755)
        with _network_in(Path(folder)) as made:
            yield made


@contextmanager
def _network_in(folder: Path) -> Iterator[Network]:
    static = Path(paths.library()).parent / "libtollbar.a"
    libraries = (static, "-lstdc++", "-lm", "-lpthread")
    program = _compiled(SOURCES / "member.c", folder / "member", f"-I{ROOT / 'include'}", *libraries)
    _compiled(SOURCES / "forger.c", folder / "forger", f"-I{ROOT / 'src'}")
    try:
        made = Network(folder, program)
        yield made
        for daemon in made.daemons:
            daemon.kill()
    finally:
        hosts("down")
