# SPDX-License-Identifier: Apache-2.0
"""Facts as they travel from a host to another one: sealed lines, in each of which is a part of them."""

from __future__ import annotations

import ast
import base64
import dataclasses
import functools
import json
import sys
import typing
import zlib
from dataclasses import dataclass, field
from typing import Any

from tollbar.backports import zip_equal
from tollbar.look.facts import Facts
from tollbar.look.gathered import SealedLine, Secret

#: The letters of a part: srun passes on lines of 1024, with the number of a task before them.
_MOST = 700
MOST_BYTES = 8 << 20  #: of the facts of a host, packed
_MOST_UNPACKED = 128 << 20
READY, ANSWER, REFUSED, VERSION = "ready", "answer", "refused", "version"


class NoFacts(ValueError):
    """The facts of a host cannot be read."""


def packed(facts: Facts) -> bytes:
    return base64.b64encode(zlib.compress(json.dumps(dataclasses.asdict(facts)).encode(), 1))


def unpacked(text: bytes) -> Facts:
    """Raises NoFacts."""
    try:
        unpacking = zlib.decompressobj()
        whole = unpacking.decompress(base64.b64decode(text, validate=True), _MOST_UNPACKED)
        if not unpacking.eof:
            raise NoFacts("too many, or cut off")
        return _made(Facts, json.loads(whole))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, zlib.error) as error:
        raise NoFacts(str(error)) from None


def _made(kind: Any, value: Any) -> Any:
    """The value of that type which JSON has as such a value."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        kinds = _kinds(kind)
        return kind(**{name: _made(kinds[name], part) for name, part in value.items()})
    origin, of = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        parts = [of[0]] * len(value) if of[1:] == (...,) else of
        return tuple(_made(one, part) for one, part in zip_equal(parts, value))
    if origin is dict:
        return {_made(of[0], of[0](name)): _made(of[1], part) for name, part in value.items()}
    if origin is typing.Union:
        return None if value is None else _made(next(one for one in of if one is not type(None)), value)
    if not isinstance(value, (int, float) if kind is float else kind):
        raise NoFacts(f"{value!r} is no {kind.__name__}")
    return value


class _Unions(ast.NodeTransformer):
    """`one | other` as Union[one, other], for Python 3.9 has no values of the former."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.Subscript:
        parts = ast.Tuple([self.visit(node.left), self.visit(node.right)], ast.Load())
        return ast.Subscript(ast.Name("Union", ast.Load()), parts, ast.Load())


@functools.cache
def _kinds(kind: type) -> dict[str, Any]:
    """The types of a dataclass's fields, as typing.get_type_hints has them from Python 3.10 on."""
    names = {**vars(sys.modules[kind.__module__]), "Union": typing.Union}
    written = {field.name: ast.parse(str(field.type), mode="eval") for field in dataclasses.fields(kind)}
    read = {name: ast.fix_missing_locations(_Unions().visit(one)) for name, one in written.items()}
    return {name: eval(compile(one, kind.__name__, "eval"), names) for name, one in read.items()}


def lines(secret: Secret, host: str, what: str, content: str = "") -> list[str]:
    """The sealed lines of a message: `what` it is, and its content without blanks."""
    parts = [content[at : at + _MOST] for at in range(0, len(content), _MOST)] or [""]
    return [secret.sealed(host, f"{what} {number} {len(parts)} {part}") for number, part in enumerate(parts)]


@dataclass
class Coming:
    """A host of which lines come."""

    is_ready: bool = False
    what: str = ""  #: of its last message, once it is whole
    content: str = ""
    _parts: list[str] = field(default_factory=list)
    _size: int = 0

    def add(self, line: SealedLine) -> None:
        """Takes a line. Raises NoFacts of one that does not follow."""
        try:
            what, number, of, part = line.facts.split(" ", 3)
            if int(number) != len(self._parts) or self._size > MOST_BYTES:
                raise NoFacts("parts are missing, or there are too many")
            self._parts.append(part)
            self._size += len(part)
            if len(self._parts) < int(of):
                return
        except ValueError as error:
            raise NoFacts(str(error)) from None
        content, self._parts, self._size = "".join(self._parts), [], 0
        if what == READY:
            self.is_ready = True
        else:
            self.what, self.content = what, content
