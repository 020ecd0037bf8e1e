# SPDX-License-Identifier: Apache-2.0
"""LogP parameters from measured barriers: Table 1 of Hoefler et al., and data made from known parameters."""

import csv
from pathlib import Path

import numpy as np
import pytest
import tollbar
from tollbar_lab.models.logp_fit import MODELS, Measured, Prices, fit, occupancy_alone

#: Table 1 as printed; "Open MPI" is the binomial tree there, and the combining tree has groups of four.
TABLE_1 = Path(__file__).parents[4] / "tests" / "golden" / "logp_table1.csv"


def table_1(*plans):
    with TABLE_1.open() as file:
        rows = [Measured(row["plan"], int(row["ranks"]), float(row["us"])) for row in csv.DictReader(file)]
    return [row for row in rows if row.plan in plans]


LOGARITHMIC = table_1("combining:4", "tournament", "dissemination", "bst")


def made(logp, *plans, sizes=(2, 3, 8, 13, 64)):
    return [
        Measured(plan, ranks, tollbar.price(tollbar.plan(plan, ranks), logp).last_us)
        for plan in plans
        for ranks in sizes
    ]


def estimates(found):
    return {estimate.quantity.name: estimate for estimate in found.estimates}


def largest_residual(found, rows):
    return float(np.max(np.abs(Prices(rows, found.model).residuals(found.values))))


@pytest.mark.parametrize("name", ["t,f", "L,o,g"])
def test_one_fitted_set_prices_the_logarithmic_rows_of_table_1_within_7_percent(name):
    assert len(LOGARITHMIC) == 8
    found = fit(LOGARITHMIC, MODELS[name])
    assert largest_residual(found, LOGARITHMIC) < 0.07
    assert found.rms == pytest.approx(0.035, abs=0.001)


def test_the_central_rows_of_table_1_are_a_misfit():
    found = fit(LOGARITHMIC, MODELS["t,f"])
    off = Prices(table_1("central"), found.model).residuals(found.values)
    assert off[0] > 7
    assert off[1] > 15
    f_us, left = occupancy_alone(table_1("central"), path_us=found.values[0])
    assert f_us < found.values[1] / 10  # a message costs the root far less than it costs the path
    assert left > 0.25  # and even so the two rows do not lie on the model's line


def test_one_number_is_enough_where_no_rank_is_hot():
    rows = [row for row in LOGARITHMIC if row.plan != "combining:4"]
    found = fit(rows, MODELS["t"])
    assert found.values[0] == pytest.approx(261, abs=1)
    assert largest_residual(found, rows) < 0.06


def test_table_1_ranks_dissemination_first_and_central_last_in_the_fit_too():
    logp = fit(LOGARITHMIC, MODELS["t,f"]).logp
    for ranks in (128, 256):
        price = {
            plan: tollbar.price(tollbar.plan(plan, ranks), logp).last_us
            for plan in ("dissemination", "bst", "tournament", "combining:4", "central")
        }
        assert min(price, key=price.get) == "dissemination"
        assert max(price, key=price.get) == "central"


def test_table_1_tells_the_path_and_the_gap_but_not_what_the_path_is_made_of():
    found = fit(LOGARITHMIC, MODELS["L,o,g"])
    told = estimates(found)
    assert found.rank == 2
    assert {name for name, estimate in told.items() if not estimate.identified} == {"L", "o"}
    path = told["2o+L"]
    assert path.low_us < path.us < path.high_us
    assert (told["L"].low_us, told["L"].high_us) == (0, pytest.approx(path.us, rel=1e-5))
    assert told["o"].high_us == pytest.approx(path.us / 2, rel=1e-5)


@pytest.mark.parametrize("logp", [tollbar.LogP(10, 5, 3), tollbar.LogP(20, 1, 8)])
def test_parameters_that_made_the_data_are_found_or_called_unidentified(logp):
    found = fit(made(logp, "central", "mcs", "combining:4", "dissemination"), MODELS["L,o,g"])
    assert found.rms < 1e-6
    for name, estimate in estimates(found).items():
        truth = {"2o+L": 2 * logp.o + logp.L, "max(o,g)": max(logp.o, logp.g)}.get(name)
        truth = getattr(logp, name) if truth is None else truth
        if estimate.identified:
            assert estimate.us == pytest.approx(truth, rel=1e-4)
        else:
            assert estimate.low_us <= truth * (1 + 1e-4)
            assert estimate.high_us is None or estimate.high_us >= truth * (1 - 1e-4)


def test_a_gap_below_the_overhead_cannot_be_told():
    found = fit(made(tollbar.LogP(10, 5, 3), "central", "dissemination:3"), MODELS["L,o,g"])
    assert not estimates(found)["g"].identified
    assert estimates(found)["max(o,g)"].identified


def test_exchanges_cannot_tell_what_a_hot_rank_costs():
    found = fit(made(tollbar.LogP(10, 5, 3), "dissemination"), MODELS["t,f"])
    assert estimates(found)["t"].us == pytest.approx(20)
    assert estimates(found)["t"].identified
    assert not estimates(found)["f"].identified


def test_one_row_tells_one_number_and_no_interval():
    found = fit([Measured("dissemination", 2, 20.0)], MODELS["L,o,g"])
    told = estimates(found)
    assert found.rank == 1
    assert (told["2o+L"].identified, told["2o+L"].us) == (True, pytest.approx(20))
    assert told["2o+L"].low_us is None
    assert (told["g"].identified, told["g"].high_us) == (False, None)


def test_intervals_of_noisy_data_mostly_hold_the_truth():
    rows = made(tollbar.LogP(20, 0, 6), "central", "mcs", "bst", "dissemination", sizes=range(2, 12))
    held = {"t": 0, "f": 0}
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(1, 0.02, len(rows))
        noisy = [Measured(row.plan, row.ranks, row.us * each) for row, each in zip(rows, noise, strict=True)]
        told = estimates(fit(noisy, MODELS["t,f"]))
        for name, truth in (("t", 20), ("f", 6)):
            held[name] += told[name].low_us < truth < told[name].high_us
            assert told[name].high_us - told[name].low_us < 0.2 * truth
    assert min(held.values()) >= 16  # 19 of 20 are expected
