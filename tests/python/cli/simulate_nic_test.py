# SPDX-License-Identifier: Apache-2.0
"""tollbar simulate nic."""

import pytest
import tollbar as library

COLUMNS = (
    "plan,card,nodes,steps,application,compute_us,variation,efficiency,host_us,nic_us,factor,saved_us,"
    "host_efficiency,nic_efficiency,host_compute_us,nic_compute_us,host_loop_us,nic_loop_us,"
    "nic_low_us,nic_high_us,factor_low,factor_high"
)


def simulate(tollbar, *arguments):
    return tollbar("simulate", "nic", *arguments, "--csv").csv


def refusal(tollbar, *arguments):
    return tollbar("simulate", "nic", *arguments).refusal


def test_the_presets_give_what_the_paper_prints(tollbar):
    (slow,) = simulate(tollbar, "--card", "lanai4.3", "--nodes", 16)
    (fast,) = simulate(tollbar, "--card", "lanai7.2", "--nodes", 8)
    for row, host_us, nic_us, factor in [(slow, 216.70, 105.37, 2.057), (fast, 102.86, 46.41, 2.216)]:
        assert float(row["host_us"]) == pytest.approx(host_us, abs=0.05)
        assert float(row["nic_us"]) == pytest.approx(nic_us, abs=0.05)
        assert float(row["factor"]) == pytest.approx(factor, abs=0.005)


def test_the_columns_are_stable(tollbar):
    assert ",".join(simulate(tollbar)[0]) == COLUMNS


def test_a_row_for_each_plan_card_size_and_time(tollbar):
    rows = simulate(tollbar, "mcs", "bst", "--nodes", "4..5,8", "--compute-us", "1,2")
    assert len(rows) == 2 * 2 * 3 * 2
    assert {row["card"] for row in rows} == set(library.nic_cards())


def test_without_mpi_only_the_nic_based_barrier_is_shorter(tollbar):
    (with_mpi,) = simulate(tollbar, "--card", "lanai4.3", "--nodes", 16)
    (below,) = simulate(tollbar, "--card", "lanai4.3", "--nodes", 16, "--without-mpi")
    assert float(below["nic_us"]) == pytest.approx(102.15, abs=0.02)
    assert below["host_us"] == with_mpi["host_us"]


def test_an_efficiency_gives_the_computing_time_and_the_loop(tollbar):
    half, most = simulate(tollbar, "--card", "lanai4.3", "--nodes", 16, "--efficiency", "0.5,0.9")
    assert float(most["host_compute_us"]) == pytest.approx(9 * float(half["host_compute_us"]))
    assert float(most["nic_loop_us"]) == pytest.approx(5 * float(half["nic_loop_us"]))
    assert float(half["host_compute_us"]) == pytest.approx(float(half["host_us"]))


def test_varying_arrival_lessens_what_the_card_saves(tollbar):
    rows = simulate(
        tollbar, "--card", "lanai4.3", "--nodes", 16, "--compute-us", "1024", "--variation", "0,0.1,0.2",
        "--loops", 300,
    )  # fmt: skip
    saved = [float(row["saved_us"]) for row in rows]
    assert saved[0] > saved[1] > saved[2] > 0


def test_the_same_seed_gives_the_same_row(tollbar):
    arguments = ("--compute-us", 100, "--variation", 0.3, "--loops", 20)
    assert simulate(tollbar, *arguments) == simulate(tollbar, *arguments)
    assert simulate(tollbar, *arguments) != simulate(tollbar, *arguments, "--seed", 2)


def test_applications_without_variation_give_the_additive_factors(tollbar):
    rows = simulate(tollbar, "--card", "lanai7.2", "--application", "360us,2100us,9450us", "--variation", 0)
    assert [float(row["compute_us"]) for row in rows] == [360, 2100, 9450]
    factors = [1.62, 1.37, 1.06]
    assert [float(row["factor"]) for row in rows] == pytest.approx(factors, abs=0.01)
    (varied,) = simulate(tollbar, "--card", "lanai7.2", "--application", "9450us", "--loops", 50)
    assert varied["variation"] == "0.1"


def test_an_interval_surrounds_the_preset_and_ends_at_the_bounds(tollbar):
    (row,) = simulate(tollbar, "--card", "lanai4.3", "--nodes", 1024, "--interval")
    assert float(row["nic_low_us"]) < float(row["nic_us"]) < float(row["nic_high_us"])
    assert float(row["nic_low_us"]) == pytest.approx(37.11 + 10 * 17.065, abs=0.02)
    assert float(row["nic_high_us"]) == pytest.approx(10 * 26.3425, abs=0.02)


def test_the_ranges_say_that_only_the_host_based_step_is_identifiable(tollbar):
    rows = simulate(tollbar, "--ranges", "--card", "lanai4.3")
    assert {row["term"]: row["identifiable"] for row in rows} == {
        "H": "true", "a": "false", "b": "false", "SDMA": "false", "limit_factor": "false",
    }  # fmt: skip
    low, high = next((float(row["low"]), float(row["high"])) for row in rows if row["term"] == "b")
    assert (low, high) == pytest.approx((17.065, 26.343), abs=0.02)


def test_both_cards_together_say_more_of_the_slower_one(tollbar):
    rows = simulate(tollbar, "--ranges", "--ratio", 2)
    found = {row["term"]: (float(row["low"]), float(row["high"])) for row in rows}
    assert {row["card"] for row in rows} == {"lanai4.3"}
    assert found["a"] == pytest.approx((11.034, 27.227), abs=0.02)
    assert found["b"] == pytest.approx((19.536, 23.584), abs=0.02)
    assert found["SDMA"] == pytest.approx((0, 16.193), abs=0.02)


def test_a_card_of_ones_own(tollbar):
    (row,) = simulate(tollbar, "--parts", "send=1,sdma=2,network=3,recv=4,rdma=5,hrecv=6", "--nodes", 4)
    assert row["card"] == "parts"
    assert (float(row["host_us"]), float(row["nic_us"])) == (2 * 21, 12 + 2 * 7)


def write(folder, *rows):
    path = folder / "latencies.csv"
    path.write_text("\n".join(("nodes,host_us,nic_us", *rows)) + "\n")
    return path


def test_a_fit_finds_the_parameters_behind_latencies_at_several_sizes(tollbar, tmp_path):
    path = write(tmp_path, "2,21,19", "4,42,26", "8,63,33", "16,84,40")
    rows = {(row["kind"], row["name"], row["nodes"]): row for row in simulate(tollbar, "--fit", path)}
    for name, us in {"H": 21, "a": 12, "b": 7, "SDMA": 2}.items():
        row = rows["parameter", name, ""]
        assert (float(row["us"]), row["identifiable"]) == (pytest.approx(us), "true")
    assert len(rows) == 4 + 2 * 4
    for (kind, *_), row in rows.items():
        assert kind == "parameter" or abs(float(row["off_pct"])) < 1e-9


def test_a_fit_shows_what_does_not_fit(tollbar, tmp_path):
    path = write(tmp_path, "2,21,19", "4,42,26", "8,80,33")
    off = [float(row["off_pct"]) for row in simulate(tollbar, "--fit", path) if row["name"] == "host"]
    assert off[0] > 1
    assert off[2] < -1


def test_a_fit_of_one_size_gives_the_bounds(tollbar, tmp_path):
    rows = simulate(tollbar, "--fit", write(tmp_path, "16,216.70,105.37"))
    found = {row["name"]: row for row in rows if row["kind"] == "parameter"}
    assert {name: row["identifiable"] for name, row in found.items()} == {
        "H": "true", "a": "false", "b": "false", "SDMA": "false",
    }  # fmt: skip
    assert float(found["a"]["high_us"]) == pytest.approx(37.110, abs=0.02)
    assert [float(row["off_pct"]) for row in rows if row["kind"] == "latency"] == pytest.approx([0, 0])


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ((), "line 2: there is no row"),
        (("8,10",), "line 2: 2 fields, 3 are needed"),
        (("1,10,5",), "line 2, column nodes: from 2 to"),
        (("8,10,5", "8.5,10,5"), "line 3, column nodes: from 2 to"),
        (("8,fast,5",), "line 2, column host_us: 'fast' is not a number"),
        (("8,10,-5",), "line 2, column nic_us: a finite number above 0 is needed, not -5"),
        (("8,10,nan",), "line 2, column nic_us: a finite number above 0 is needed, not nan"),
        (("8,10,20",), "NIC-based is slower"),
    ],
)
def test_a_table_that_cannot_be_fitted_is_refused(tollbar, tmp_path, rows, named):
    assert named in refusal(tollbar, "--fit", write(tmp_path, *rows))


def test_a_file_that_is_no_table_is_refused(tollbar, tmp_path):
    path = tmp_path / "latencies.csv"
    path.write_text("nodes,us\n")
    assert "line 1: the columns nodes,host_us,nic_us are needed" in refusal(tollbar, "--fit", path)
    path.write_bytes(b"\xff\xfe\x00")
    assert "not a CSV file" in refusal(tollbar, "--fit", path)
    assert "missing.csv" in refusal(tollbar, "--fit", tmp_path / "missing.csv")
    assert "leave out plans" in refusal(tollbar, "mcs", "--fit", path)


def test_one_node_has_nothing_to_do(tollbar):
    (row,) = simulate(tollbar, "--card", "lanai4.3", "--nodes", 1)
    assert (float(row["host_us"]), float(row["nic_us"]), float(row["factor"])) == (0, 0, 1)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--card", "lanai9"), "a card is one of lanai4.3, lanai7.2, not 'lanai9'"),
        (("--application", "1us"), "an application is one of"),
        (("--parts", "send"), "'send': '' is not a time in microseconds"),
        (("--parts", "send=1,send=2"), "'send=2' is not PART=US"),
        (("--parts", "send=-1"), "Send is a time from 0 to 1e12 us, not -1"),
        (("--parts", "recv=nan"), "Recv is a time from 0 to 1e12 us, not nan"),
        (("--parts", "xmit=3,recv=2"), "Xmit of 3 us is longer than Network + Recv of 2 us"),
        (("--parts", "send=1", "--card", "lanai4.3"), "give one of them"),
        (("--parts", "send=1", "--interval"), "for cards by name"),
        (("--nodes", "0"), "a plan has 1 to"),
        (("--compute-us", "-3"), "a computing time is a time from 0 to 1e12 us, not -3"),
        (("--compute-us", "fast"), "'fast' is not a list of numbers"),
        (("--compute-us", "1", "--variation", "2"), "from 0 to 1, not 2"),
        (("--variation", "0.2"), "give --compute-us or --application"),
        (("--efficiency", "1"), "an efficiency is below 1"),
        (("--efficiency", "0.5", "--compute-us", "1"), "leave out --compute-us"),
        (("--loops", "0"), "--loops is at least 1, not 0"),
        (("--ratio", "2"), "--ratio is for --ranges"),
        (("--ranges", "--ratio", "1"), "by a ratio above 1"),
        (("--ranges", "--ratio", "2", "--card", "lanai4.3"), "--card SLOWER,FASTER"),
        (("--ranges", "--ratio", "2", "--card", "lanai7.2,lanai4.3"), "no non-negative parameters"),
        (("--seed", "-1"), "--seed is a number from 0 to 2^64 - 1, not -1"),
        (("nonsense",), "nonsense"),
    ],
)
def test_wrong_use_is_one_line_that_says_what_is_accepted(tollbar, arguments, named):
    assert named in refusal(tollbar, *arguments)


def test_an_interrupted_simulation_says_how_far_it_came(tollbar, monkeypatch):
    def interrupted(*_, watch, **__):
        watch(2e6, 1, 4)
        raise KeyboardInterrupt

    monkeypatch.setattr(library, "simulate_nic", interrupted)
    said = tollbar("simulate", "nic", "--card", "lanai4.3")
    assert said.code == 130
    assert "row 1 of 1: 2 s were simulated, 25.0% of the barriers passed" in said.err


def test_spans_and_steps_are_python_values():
    outcome = library.simulate_nic(
        library.plan("pairwise", 2), "nic", library.nic_card("lanai4.3"), most_spans=3
    )
    assert [span.stage for span in outcome.history] == ["send", "send", "xmit"]
    assert library.nic_steps(library.plan("pairwise", 7)) == (4, [4, 4, 4, 3, 2, 2, 2])
    with pytest.raises(ValueError, match="one of host, nic, not 'card'"):
        library.simulate_nic(library.plan("bst", 2), "card", library.NicCard())
    with pytest.raises(ValueError, match="at least 0, not -1"):
        library.simulate_nic(library.plan("bst", 2), "nic", library.NicCard(), runs=-1)
