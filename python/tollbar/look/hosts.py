# SPDX-License-Identifier: Apache-2.0
"""Asks many hosts at a time for facts: a command on each of them looks, and tells what it has seen on its stdout.

All look a second time when each has looked once, so that there is a moment between the looks which all of them have in
common: whoever has waited from the first to the last look of its host has waited then."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, cast

from tollbar import __version__
from tollbar.look import helper, travelling
from tollbar.look.facts import Facts
from tollbar.look.gathered import Secret
from tollbar.look.travelling import Coming, NoFacts
from tollbar.machine import hostnames

#: For the first look of all hosts; whoever has not looked by then is left out.
READY_S = 30.0
#: For the second looks, which are ended then on each host.
_ANSWER_S = helper.LIMIT_S + 10.0
_ENDING_S = 5.0
_MOST_SAID = 4000  #: of what somebody says besides
#: The hosts on which a command has ended, as srun and clush say.
_EXITED = re.compile(r"(\S+): (?:tasks? [\d,-]+: )?exited with exit code", re.IGNORECASE)
#: Lines of theirs about an end, whatever the reason was.
_IS_END = re.compile(
    r"tasks? [\d,-]+: (Exited|Killed|Terminated)|Job step aborted|\*\*\* STEP |exited with exit code \d+$"
)


@dataclass(frozen=True)
class Way:
    """A command that reaches some hosts: it passes its stdin on to each of them, and lines of theirs to its stdout."""

    hosts: Sequence[str]
    command: Callable[[Sequence[str]], Sequence[str]]  #: to those of the hosts
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


@dataclass(frozen=True)
class Answers:
    facts: tuple[Facts, ...]
    silent: dict[str, str]  #: hosts without facts, and why


@dataclass
class _Started:
    way: Way
    process: subprocess.Popen[bytes]
    begun: dict[IO[bytes], bytes] = field(default_factory=dict)  #: lines that have no end yet
    printed: list[str] = field(default_factory=list)  #: besides, on its stdout
    complained: list[str] = field(default_factory=list)  #: on its stderr

    @property
    def said(self) -> list[str]:
        """All that it says besides; the two come by ways of their own, and a reason is on stderr where one is."""
        return [*self.printed, *self.complained]

    def of(self, host: str) -> list[str]:
        """The lines about a host, but for its end."""
        name = re.compile(rf"\b{re.escape(host)}\b")
        return [text for text in self.said if name.search(text) and not _IS_END.search(text)]

    def tell(self, text: str) -> None:
        with contextlib.suppress(OSError):  # it has ended
            if self.process.stdin:
                self.process.stdin.write(f"{text}\n".encode())
                self.process.stdin.flush()


def ask(ways: Sequence[Way], question: Mapping[str, Any], ready_s: float = READY_S) -> Answers:
    """The facts of all hosts that the ways lead to. Raises OSError where a way's command cannot be run."""
    with _Asking(ways, question) as asking:
        is_late = not asking.wait(lambda one: one.is_ready, ready_s)
        if asking.start_again():
            is_late = not asking.wait(lambda one: one.is_ready, ready_s)
        asking.tell("look")
        asking.wait(lambda one: not one.is_ready, _ANSWER_S)
        return asking.answers(ready_s if is_late else None)


class _Asking:
    def __init__(self, ways: Sequence[Way], question: Mapping[str, Any]) -> None:
        self._secret = Secret(accounts=False)
        self._question = json.dumps({**question, "key": self._secret.key, "version": __version__})
        self._ways = ways
        self._selector = selectors.DefaultSelector()
        self._started: list[_Started] = []
        self._why_silent: dict[str, str] = {}
        self._over: set[str] = set()  #: hosts on which the command has ended
        self.coming: dict[str, Coming] = {host: Coming() for way in ways for host in way.hosts}

    def __enter__(self) -> _Asking:
        try:
            for way in self._ways:
                self._start(way)
        except OSError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Ends what goes on still: nobody listens to it."""
        self._selector.close()
        for one in self._started:
            with contextlib.suppress(OSError):
                if one.process.stdin:
                    one.process.stdin.close()
            if any(not self.coming[host].what for host in one.way.hosts):
                one.process.terminate()
        end = time.monotonic() + _ENDING_S
        for one in self._started:
            for ending in (one.process.terminate, one.process.kill):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    one.process.wait(max(0.1, end - time.monotonic()))
                    break
                ending()
            one.process.wait()
            for stream in (one.process.stdout, one.process.stderr):
                if stream:
                    stream.close()

    def _start(self, way: Way) -> None:
        pipe = subprocess.PIPE
        words = way.command(way.hosts)
        process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, env=dict(way.environment))
        started = _Started(way, process)
        self._started.append(started)
        for stream in (process.stdout, process.stderr):
            if stream:
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, selectors.EVENT_READ, started)
        started.tell(self._question)

    def start_again(self) -> bool:
        """Starts commands again that have ended because of one of their hosts, as srun does where a host does not
        respond, without those that they have named as the reason; whether there are such."""
        alive = [key.data for key in self._selector.get_map().values()]
        is_any = False
        for one in [one for one in self._started if one not in alive]:
            silent = [host for host in one.way.hosts if not self.coming[host].what]
            blamed = [host for host in silent if one.of(host)]
            self._why_silent |= {host: self._why(host, one) for host in blamed}
            if blamed and len(blamed) < len(silent):
                left = [host for host in silent if host not in blamed]
                self.coming |= {host: Coming() for host in left}
                self._over.difference_update(left)
                self._start(dataclasses.replace(one.way, hosts=left))
                is_any = True
        return is_any

    def tell(self, text: str) -> None:
        for one in self._started:
            one.tell(text)

    def wait(self, is_done: Callable[[Coming], bool], seconds: float) -> bool:
        """Waits until it is done with each host that has not ended, or the commands have; False where it has lasted too
        long."""
        end = time.monotonic() + seconds
        while self._selector.get_map() and time.monotonic() < end:
            left = self.coming.keys() - self._over - self._why_silent.keys()
            if all(self.coming[host].what or is_done(self.coming[host]) for host in left):
                return True
            for key, _ in self._selector.select(max(0.0, end - time.monotonic())):
                self._read(key.data, cast(IO[bytes], key.fileobj))
        return not self._selector.get_map()

    def _read(self, started: _Started, stream: IO[bytes]) -> None:
        got = stream.read(1 << 20)
        if got is None:
            return
        *lines, rest = (started.begun.get(stream, b"") + got).split(b"\n")
        if not got:
            self._selector.unregister(stream)
            if all(key.data is not started for key in self._selector.get_map().values()):
                self._over.update(started.way.hosts)
            lines.append(rest)
            rest = b""
        for line in lines:
            self._take(started, line, started.printed if stream is started.process.stdout else started.complained)
        started.begun[stream] = rest[-_MOST_SAID:]

    def _take(self, started: _Started, line: bytes, others: list[str]) -> None:
        """Takes a line of the host; of `others` it becomes one where it is none of ours."""
        sealed = self._secret.unseal(line)
        if sealed is None:
            text = line.decode(errors="replace").strip()
            if text and sum(map(len, others)) < _MOST_SAID:
                others.append(text[:_MOST_SAID])
            if (ended := _EXITED.search(text)) and len(ended[1]) < _MOST_SAID:
                with contextlib.suppress(ValueError):
                    self._over.update(hostnames.expanded(ended[1]))
            return
        host = self._host_of(started.way, line, sealed.text)
        if host not in started.way.hosts or host in self._why_silent:
            return
        try:
            self.coming[host].add(sealed)
        except NoFacts as error:
            self._why_silent[host] = f"what it tells cannot be read: {error}"

    def _host_of(self, way: Way, line: bytes, own: str) -> str:
        """The host by the name that it has here, which its `own` one need not be."""
        tag = line.partition(b": ")[0].decode(errors="replace")
        return way.hosts[0] if len(way.hosts) == 1 else tag if tag in self.coming else own

    def answers(self, late_s: float | None) -> Answers:
        """`late_s`: for how long those were waited for that have not answered."""
        facts, silent = [], {}
        for host, one in self.coming.items():
            try:
                if host in self._why_silent:
                    silent[host] = self._why_silent[host]
                elif one.what == travelling.ANSWER:
                    facts.append(travelling.unpacked(one.content.encode()).on(host))
                else:
                    silent[host] = self._reason(host, one, late_s)
            except NoFacts as error:
                silent[host] = f"what it tells cannot be read: {error}"
        return Answers(tuple(facts), silent)

    def _reason(self, host: str, one: Coming, late_s: float | None) -> str:
        if one.what == travelling.VERSION:
            return f"it has tollbar {one.content}, and this is {__version__}"
        if one.what == travelling.REFUSED:
            return one.content.replace("\N{NO-BREAK SPACE}", " ")
        started = next(started for started in reversed(self._started) if host in started.way.hosts)
        return self._why(host, started, late_s)

    @staticmethod
    def _why(host: str, started: _Started, late_s: float | None = None) -> str:
        """The reason by what the command that leads there has said of this host, or else of all."""
        own = started.of(host) or [text for text in started.said if not _IS_END.search(text)] or started.said
        return "no answer" + (f" for {late_s:g} s" if late_s is not None else "") + (f": {own[-1]}" if own else "")
