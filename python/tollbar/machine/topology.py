# SPDX-License-Identifier: Apache-2.0
"""Where cores lie, from hwloc's descriptions: XML (`lstopo --of xml FILE`) or its synthetic strings.

"pack:2 l3:8 core:8 pu:2" is two packages of eight L3 caches, eight cores at each, two threads a core. A
cluster is what shares the last-level cache; a core counts once, whatever its threads.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from pathlib import Path

#: (cluster, socket) of each core, both numbered from 0.
Cores = list[tuple[int, int]]
#: The same with the number of the core's first CPU before it.
Cpus = list[tuple[int, tuple[int, int]]]

_PACKAGES = {"pack", "package", "socket"}
_CORES = {"core"}
_THREADS = {"pu"}
_CACHE = re.compile(r"l([2-5])(d|u)?(cache)?")
_OTHERS = {"machine", "numa", "numanode", "node", "group", "die", "l1", "l1d", "l1i", "l1dcache", "l1icache"}


class Unreadable(ValueError):
    """What a user gave is no description of a machine."""


def cores(text: str) -> Cores:
    """The cores of an XML file of hwloc, named by its path, or of a synthetic string."""
    if Path(text).is_file():
        return from_xml(Path(text).read_text(encoding="utf-8"))
    return from_synthetic(text)


def from_synthetic(text: str) -> Cores:
    """Raises Unreadable that names the level which is wrong."""
    levels: list[tuple[str, int]] = []
    for word in re.sub(r"\([^)]*\)|\[[^\]]*\]", "", text).split():
        found = re.fullmatch(r"([A-Za-z][A-Za-z0-9]*):([0-9]+)", word)
        if not found or _kind(found[1]) is None:
            raise Unreadable(
                f"'{word}' in '{text}' is not a level TYPE:COUNT such as pack:2, l3:8, core:8 or pu:2, "
                "and no such file exists"
            )
        levels.append((_kind(found[1]), int(found[2])))
    if not levels or not any(kind in ("core", "pu") for kind, _ in levels):
        raise Unreadable(f"'{text}' has no core:COUNT and no pu:COUNT")
    last = max((kind for kind, _ in levels if kind.startswith("l")), default="")
    leaf = "core" if any(kind == "core" for kind, _ in levels) else "pu"
    found: Cores = []
    _expand(levels, leaf, last, [0, 0], found)
    return _numbered(found)


def _kind(name: str) -> str | None:
    name = name.lower()
    if name in _PACKAGES:
        return "package"
    if name in _CORES:
        return "core"
    if name in _THREADS:
        return "pu"
    if cache := _CACHE.fullmatch(name):
        return f"l{cache[1]}"
    return "other" if name in _OTHERS else None


def _expand(levels: list[tuple[str, int]], leaf: str, cache: str, at: list[int], found: Cores) -> None:
    """at: how many packages and last-level caches there were so far."""
    (kind, count), below = levels[0], levels[1:]
    if count > 1024 or len(found) > 65536:
        raise Unreadable(f"{count} objects of a level are too many")
    for _ in range(count):
        at[0] += kind == "package"
        at[1] += kind == cache
        if kind == leaf:
            found.append((at[1] if cache else -at[0], at[0]))
        elif below:
            _expand(below, leaf, cache, at, found)


def from_xml(text: str) -> Cores:
    """Only processors that the description allows. Raises Unreadable."""
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise Unreadable(f"this is no XML of hwloc: {error}") from None
    machine = root.find("object")
    if root.tag != "topology" or machine is None:
        raise Unreadable("this is no XML of hwloc: it has no topology with an object in it")
    allowed = _bits(machine.get("allowed_cpuset") or machine.get("cpuset") or "")
    found: Cores = []
    seen: set[object] = set()
    for unit in _units(machine, (-1, -1, None)):
        processor, cluster, socket, core = unit
        if core in seen or not allowed >> processor & 1:
            continue
        seen.add(core)
        found.append((cluster, socket))
    if not found:
        raise Unreadable("the description allows no processor")
    return _numbered(found)


def _units(
    inside: ET.Element, place: tuple[object, object, object]
) -> Iterator[tuple[int, object, object, object]]:
    """Of each processing unit its number, and what it lies in: last-level cache, package, core."""
    cluster, socket, core = place
    kind = inside.get("type", "")
    if kind == "Package":
        socket = inside
    if kind == "Core":
        core = inside
    if re.fullmatch("L[2-5]Cache", kind) and (
        not isinstance(cluster, ET.Element) or kind > cluster.get("type", "")
    ):
        cluster = inside
    if kind == "PU":
        number = int(inside.get("os_index", "0"))
        yield (
            number,
            cluster if isinstance(cluster, ET.Element) else socket,
            socket,
            number if core is None else core,
        )
    for child in inside.findall("object"):
        yield from _units(child, (cluster, socket, core))


def from_kernel(root: str, allowed: Iterable[int]) -> Cpus:
    """The cores of CPUs that are allowed, neighbours side by side, from root/sys."""
    folder = Path(root) / "sys/devices/system/cpu"
    seen: dict[tuple[int, int, int], int] = {}
    for cpu in sorted(allowed):
        own = folder / f"cpu{cpu}"
        levels = {_number(index / "level"): index for index in own.glob("cache/index*")}
        cache = _number(levels[max(levels)] / "shared_cpu_list", cpu) if levels else 0
        package = _number(own / "topology/physical_package_id")
        core = _number(own / "topology/thread_siblings_list", cpu)
        seen.setdefault((package, cache, core), cpu)
    ordered = sorted(seen)
    places = _numbered([((package, cache), package) for package, cache, _ in ordered])
    return [(seen[key], place) for key, place in zip(ordered, places, strict=True)]


def _number(file: Path, otherwise: int = 0) -> int:
    """The first number in it."""
    try:
        found = re.match(r"\d+", file.read_text())
    except OSError:
        found = None
    return int(found[0]) if found else otherwise


def _bits(cpuset: str) -> int:
    """hwloc writes 32 bits a word, the highest first; 0xf...f stands for all above."""
    if not cpuset:
        return -1
    bits = 0
    for number, word in enumerate(cpuset.split(",")):
        if word == "0xf...f":
            bits = -1
            continue
        bits = bits << 32 | int(word or "0", 16) if number else int(word or "0", 16)
    return bits


def _numbered(found: list[tuple[object, object]]) -> Cores:
    clusters: dict[object, int] = {}
    sockets: dict[object, int] = {}
    return [
        (clusters.setdefault(cluster, len(clusters)), sockets.setdefault(socket, len(sockets)))
        for cluster, socket in found
    ]
