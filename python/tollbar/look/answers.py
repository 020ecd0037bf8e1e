# SPDX-License-Identifier: Apache-2.0
"""Looks that an ancestor makes for others: a kernel that forbids looking at any process may still allow it at those
that it has started itself."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from tollbar.look import helper, processes, sight
from tollbar.machine import child

_LIMIT_S = 60.0
_MOST_BYTES = 1 << 24
_CREDENTIALS = struct.Struct("3i")  #: process, user, group


def _address(process: int) -> str:
    return f"\0tollbar.{process}.who"


def _peer(connection: socket.socket) -> tuple[int, int]:
    """The process at the other end and its user, by the kernel."""
    held = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    process, user, _ = _CREDENTIALS.unpack(held)
    return process, user


class Answering:
    """While it is entered, a thread looks at processes below this one when this user, or root, asks for it."""

    def __enter__(self) -> Answering:
        self._listening = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(OSError):  # somebody has taken the name: nobody is answered
            self._listening.bind(_address(os.getpid()))
            self._listening.listen()
            threading.Thread(target=self._answer_all, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # ends an accept() that closing leaves waiting
        self._listening.close()

    def _answer_all(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError, ValueError):
                connection.settimeout(_LIMIT_S)
                if _peer(connection)[1] in (0, os.geteuid()):
                    connection.sendall(json.dumps(_answer(json.loads(_request(connection)))).encode())


def _request(connection: socket.socket) -> bytes:
    """The whole list that somebody sends, in however many parts it comes."""
    request = b""
    while not request.endswith(b"]") and len(request) < _MOST_BYTES:
        part = connection.recv(65536)
        if not part:
            break
        request += part
    return request


def _answer(numbers: Sequence[Any]) -> Mapping[str, Any]:
    there = processes.everything()
    wanted = set(numbers)
    own = [process for process in processes.below(os.getpid(), there) if process in wanted]
    if all(map(processes.refusal, own)):
        return {}
    rank_of = processes.ranks(own, there)
    try:
        with child.others:
            return {"document": helper.look(list(rank_of) or own), "ranks": list(rank_of.items())}
    except helper.LookError as error:
        return {"error": str(error)}


def ask(
    numbers: Sequence[int], there: dict[int, processes.Process]
) -> tuple[sight.Sight, dict[int, tuple[int, int | None]]] | None:
    """The sight of them from the nearest ancestor of the first that answers, and their ranks; None: no one answers."""
    for ancestor in processes.upwards(numbers[0], there):
        with socket.socket(socket.AF_UNIX) as connection, contextlib.suppress(OSError, ValueError):
            connection.settimeout(_LIMIT_S)
            connection.connect(_address(ancestor))
            if _peer(connection) != (ancestor, os.geteuid()):
                continue  # another user's, or not the process whose name it has
            connection.sendall(json.dumps(list(numbers)).encode())
            answer = json.load(connection.makefile("rb"))
            if "error" in answer:
                raise helper.LookError(answer["error"])
            if "document" not in answer:  # it may not look either
                continue
            rank_of = {process: (rank, size) for process, (rank, size) in answer["ranks"]}
            return sight.read(answer["document"]), rank_of
    return None
