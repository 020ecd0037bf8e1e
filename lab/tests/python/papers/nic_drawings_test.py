# SPDX-License-Identifier: Apache-2.0
"""Figures 1, 2 and 6 of the NIC paper: messages between hosts and NICs, time lines, and the NIC that still sends."""

from xml.etree import ElementTree

import pytest
import tollbar
import tollbar_lab
from tollbar_lab.papers import nic, nic_drawings
from tollbar_lab.papers.stored import Stored


@pytest.fixture(scope="module")
def exhibits():
    return {each.number: each for each in nic_drawings.exhibits()}


def most_sending(card: str, share: float) -> tollbar_lab.NicParts:
    """The NIC with the longest Xmit that its other times allow."""
    parts = tollbar_lab.nic_parts(card, share)
    names = ("send_us", "sdma_us", "network_us", "recv_us", "rdma_us", "hrecv_us", "mpi_us")
    return tollbar_lab.NicParts(**{name: getattr(parts, name) for name in names}, xmit_us=parts.nic_step_us)


def loop_us(parts: tollbar_lab.NicParts, compute_us: float, late_us: float = 0.0) -> float:
    """A loop of computing and a host-based barrier of eight nodes, of which one begins late."""
    plan, late = tollbar.plan("pairwise", 8), [late_us] + [0.0] * 7
    outcome = tollbar_lab.simulate_nic(plan, "host", parts, compute_us=[compute_us], runs=20, late_us=late)
    return (outcome.last_us - late_us) / 20


def test_figure_1_draws_the_messages_up_and_down_of_both_barriers(exhibits):
    # Four nodes send two messages each; a host-based one goes down and up again.
    assert nic_drawings.hops("HB") == {"down": 8, "across": 8, "up": 8}
    assert nic_drawings.hops("NB") == {"down": 4, "across": 8, "up": 4}
    drawn = ElementTree.fromstring(exhibits["Figure 1"].drawing)
    arrows = [path for path in drawn.iter("{http://www.w3.org/2000/svg}path") if "marker-end" in path.attrib]
    assert len(arrows) == sum(sum(nic_drawings.hops(barrier).values()) for barrier in ("HB", "NB"))
    words = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {word for word in words if "host " in word} == {f"host {node}" for node in range(4)}
    assert {word for word in words if "NIC " in word} == {f"NIC {node}" for node in range(4)}


def test_figure_2_has_three_steps_of_one_of_eight_nodes(exhibits):
    points = exhibits["Figure 2"].points
    stages = [point.series for point in points]
    for stage in ("Send", "SDMA", "Xmit", "Recv", "RDMA", "HRecv"):
        assert stages.count(f"HB {stage}") == 3
    assert [stages.count(f"NB {stage}") for stage in ("Send", "SDMA", "Xmit", "Recv", "RDMA", "HRecv")] == [
        1,
        0,
        3,
        3,
        1,
        1,
    ]
    ends = [max(point.x + point.model for point in points if point.series.startswith(way)) for way in ("HB", "NB")]
    assert ends == pytest.approx([nic.latency_us("lanai4.3", way, 8) for way in ("HB", "NB")])


def test_a_nic_notifies_its_host_before_its_last_message_has_left():
    """Node 0 of three exchanges with node 1, and has a last message for node 2, which is above the power of two."""
    parts = tollbar_lab.nic_parts("lanai4.3")
    spans = tollbar_lab.simulate_nic(tollbar.plan("pairwise", 3), "nic", parts, most_spans=100).history
    (last,) = [span for span in spans if (span.rank, span.stage, span.peer) == (0, "xmit", 2)]
    (notice,) = [span for span in spans if (span.rank, span.stage) == (0, "rdma")]
    assert notice.from_us <= last.from_us


@pytest.mark.parametrize("card", ["lanai4.3", "lanai7.2"])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("late_us", [0.0, 5.0])
def test_a_loop_takes_its_computing_longer_however_long_the_nic_sends(card, share, late_us):
    parts = most_sending(card, share)
    bare_us = loop_us(parts, 0, late_us)
    for compute_us in (1, 8, 17, 60):
        assert loop_us(parts, compute_us, late_us) == pytest.approx(bare_us + compute_us)


def test_a_nic_would_have_to_send_for_longer_than_a_step_to_give_the_flat_spots():
    for card, flat_us in (("lanai4.3", 17), ("lanai7.2", 8)):
        step_us = tollbar_lab.nic_parts(card).host_step_us
        assert nic.needed_xmit_us(card) == pytest.approx(step_us + flat_us)
        for share in (0.0, 1.0):
            assert tollbar_lab.nic_parts(card, share).nic_step_us <= nic.longest_xmit_us(card) + 1e-9 < step_us
    six = next(each for each in nic.exhibits(Stored(nothing=True)) if each.number == "Figure 6")
    assert "71.2 us where it is at most 26.3 us (lanai4.3) and 42.3 us" in six.sentence
