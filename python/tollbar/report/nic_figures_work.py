# SPDX-License-Identifier: Apache-2.0
"""Figures 8 to 10 of the NIC paper from what was measured here: hosts that come at different times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import tollbar
from tollbar.data.workloads import Run, Workloads
from tollbar.report import nic_measured, plots
from tollbar.report.curves import Figure, drawn
from tollbar.report.nic_figures import COLOURS, dashed, modelled, nearest, of_runs
from tollbar.report.nic_measured import CARD, GM_CARD, HOST, LABELS, LEVELS, WAYS, Hosts
from tollbar.report.plots import Line

_COARSE_US = (64, 256, 1024, 4096)
_MOST_VARIED = "0.2"


def of_arrival(hosts: Hosts, work: Mapping[int, Workloads]) -> list[Figure]:
    """Figures 8 and 9, and the factor beside the difference."""
    if not work:
        return []
    number = nearest(work, 16)
    found, x = work[number], "µs of computing"
    runs = {way: _coarse(found, way, _MOST_VARIED) for way in WAYS}
    if loops := [line for way in WAYS for line in of_runs(way, runs[way])]:
        loops += _foretold(hosts, number, {way: _names(runs[way], _MOST_VARIED) for way in (HOST, CARD)})
    saved = _saved(found)
    factors = _gained(found) if saved else []
    saved += _saved_by_model(hosts, number, found) if saved else []
    varied = f"Computing that varies by 20 %, and a barrier, {number} hosts (Fig. 8)"
    shorter = f"By how much a loop is shorter on the card, {number} hosts (Fig. 9)"
    factor = f"A loop with the host's barrier over one with the card's, {number} hosts"
    return [
        *drawn("nic-8", varied, loops, plots.over_plain, x, "µs a loop", "log", yscale="log"),
        *drawn("nic-9", shorter, saved, plots.over_plain, x, "µs", "log"),
        *drawn("nic-9-factor", factor, factors, plots.over_plain, x, "times", "log"),
    ]


def of_applications(hosts: Hosts, work: Mapping[int, Workloads]) -> list[Figure]:
    """Figure 10: time, factor and efficiency."""
    if not work:
        return []
    number = nearest(work, 8)
    sums = _sums(work[number])
    runs = {way: _runs(work[number], sums, way) for way in WAYS}
    times = [line for way in WAYS for line in of_runs(way, runs[way])]
    if not times:
        return []
    shares = [
        Line(LABELS.get(way, way), list(each), [run.efficiency for run in each.values()],
             colour=COLOURS[way], dashed=dashed(way))
        for way, each in runs.items()
        if len(each) > 1
    ]  # fmt: skip
    named = {us: name for name, us in sums.items()}
    foretold = {line.colour: line for line in _foretold(hosts, number, {HOST: named, CARD: named})}
    for way in (HOST, CARD):
        if line := foretold.get(COLOURS[way]):
            times.append(line)
            us = zip(line.x, line.middle, strict=True)
            shares.append(modelled(way, {computing: computing / run_us for computing, run_us in us}))
    factors = _gained_applications(work[number], sums, foretold)
    about, x = f"The three applications, {number} hosts", "µs of computing in all"
    run = f"{about}: a run (Fig. 10a)"
    factor = f"{about}: the host's run over the card's (Fig. 10b)"
    share = f"{about}: share of a run that is computing (Fig. 10c)"
    return [
        *drawn("nic-10a", run, times, plots.over_plain, x, "µs a run", "log", yscale="log"),
        *drawn("nic-10b", factor, factors, plots.over_plain, x, "times", "log"),
        *drawn("nic-10c", share, shares, plots.over_plain, x, "share", "log"),
    ]  # fmt: skip


def _sums(found: Workloads) -> dict[str, float]:
    """The applications that were measured, the shortest first, with what they compute."""
    sums = {name: float(sum(us)) for name, us in tollbar.nic_applications().items() if name in found}
    return dict(sorted(sums.items(), key=lambda item: item[1]))


def _coarse(found: Workloads, way: str, share: str) -> dict[float, Run]:
    """Loops whose computing varies by that share."""
    names = _names(_COARSE_US, share)
    return {us: run for us, name in names.items() if (run := nic_measured.run_of(found, name, way))}


def _names(computing_us: Iterable[float], share: str) -> dict[float, str]:
    return {us: f"{us:g}~{share}" if share else f"{us:g}" for us in map(float, computing_us)}


def _runs(found: Workloads, sums: Mapping[str, float], way: str) -> dict[float, Run]:
    runs = {us: nic_measured.run_of(found, name, way) for name, us in sums.items()}
    return {us: run for us, run in runs.items() if run}


def _foretold(hosts: Hosts, number: int, workloads: Mapping[str, Mapping[float, str]]) -> list[Line]:
    """The model at each x, whose workload is named."""
    lines = []
    for way, names in workloads.items():
        us = {x: run_us for x, name in names.items() if (run_us := hosts.modelled_run_us(way, number, name))}
        lines += [modelled(way, us)] if len(us) > 1 else []
    return lines


def _saved_by_model(hosts: Hosts, number: int, found: Workloads) -> list[Line]:
    lines = []
    for colour, (share, text) in enumerate(_shares(found).items()):
        names = _names(_COARSE_US, share)
        host, card = (
            [us for name in names.values() if (us := hosts.modelled_run_us(way, number, name))]
            for way in (HOST, CARD)
        )
        less = [one - other for one, other in zip(host, card, strict=True)]
        if less:
            lines.append(Line(f"{text} by the model", list(names), less, colour=colour, predicted=True))
    return lines


def _shares(found: Workloads) -> dict[str, str]:
    """By how much times vary -> the words of a legend."""
    met = {name.partition("~")[2] for name in found if name.partition("~")[0] in map(str, _COARSE_US)}
    return {share: f"± {float(share or 0):.0%}" for share in sorted(met, key=lambda each: float(each or 0))}


def _saved(found: Workloads) -> list[Line]:
    lines = []
    for colour, (share, text) in enumerate(_shares(found).items()):
        host, card = (_coarse(found, way, share) for way in (HOST, CARD))
        both = [us for us in host if us in card]
        less = [(host[us].run.value - card[us].run.value) / 1e3 for us in both]
        lines += [Line(text, both, less, colour=colour)] if len(both) > 1 else []
    return lines


def _gained(found: Workloads) -> list[Line]:
    lines = []
    for colour, (share, text) in enumerate(_shares(found).items()):
        names = _names(_COARSE_US, share)
        gains = {us: gain.value for us, name in names.items() if (gain := nic_measured.gain(found, name))}
        lines += [Line(text, list(gains), list(gains.values()), colour=colour)] if len(gains) > 1 else []
    return lines


def _gained_applications(
    found: Workloads, sums: Mapping[str, float], foretold: Mapping[int, Line]
) -> list[Line]:
    lines = []
    for level, card in zip(LEVELS, (CARD, GM_CARD), strict=True):
        each = {us: nic_measured.gain(found, name, level) for name, us in sums.items()}
        gains = {us: gain.value for us, gain in each.items() if gain}
        if len(gains) > 1:
            shown = {"colour": COLOURS[card], "dashed": dashed(card)}
            text = f"HB over {level[1]}"
            lines.append(Line(text, list(gains), list(gains.values()), **shown))
    host, card = (foretold.get(COLOURS[way]) for way in (HOST, CARD))
    if lines and host and card:
        ratios = [one / other for one, other in zip(host.middle, card.middle, strict=True)]
        lines.append(Line("by the model", list(host.x), ratios, colour=COLOURS[CARD], predicted=True))
    return lines
