# SPDX-License-Identifier: Apache-2.0
"""The library as Python sees it."""

import inspect
import sys
import threading
from collections.abc import Callable

import pytest
import tollbar
from tollbar import _native

LOGP = tollbar.LogP(L=10, o=5, g=3)


def test_a_plan_knows_its_name_ranks_and_words():
    plan = tollbar.plan("dissemination", 4)
    assert (plan.name, plan.ranks) == ("dissemination", 4)
    assert plan.program(1) == ["!2", "?0", "!3", "?3"]
    assert plan.text.splitlines()[1] == "1: !2 ?0 !3 ?3"
    assert repr(plan) == "<Plan dissemination, 4 ranks>"


def test_roles_have_letters():
    plan = tollbar.plan("combination:2", 4)
    assert plan.roles == ["a", "b"]
    assert plan.program("b") == ["?1", "?3", "!a", "?a", "!1", "!3"]
    assert plan.program(0) == ["!a", "?a"]
    assert plan.text.splitlines()[4] == "a: ?0 ?2 !b ?b !0 !2"
    assert repr(plan) == "<Plan combination:2, 4 ranks, 2 roles>"
    with pytest.raises(ValueError, match="role c is not one of the 2 of 'combination:2'"):
        plan.program("c")
    assert tollbar.plan("mcs", 4).roles == []


def test_a_role_is_named_by_its_letter_wherever_a_member_is_named():
    plan = tollbar.plan("turnstile", 2)
    told = [(m.from_rank, m.to_rank, m.received_us) for m in tollbar.messages(plan, LOGP)]
    assert told == [(0, "a", 20), (1, "a", 25), ("a", 0, 45), ("a", 1, 45)]
    assert tollbar.unheard(plan, 0, 1) == [1]
    assert tollbar.unheard(plan, "a", 1) == [1]
    verdict = tollbar.verify(tollbar.parse_plan("busy", "0: !a !1 ?1 ?a\n1: !0 ?0\na: ?0 !0\n"))
    assert (verdict.fault, verdict.from_rank, verdict.to_rank) == ("unplayed", "a", "a")


def test_ranks_may_live_in_groups():
    plan = tollbar.plan("turnstile/central", [[0, 2], [1, 3]])
    assert plan.text.splitlines()[4] == "a: ?0 ?2 ?b !b !0 !2"
    with pytest.raises(ValueError, match="there are no nodes here"):
        tollbar.plan("turnstile/central", 4)


def test_what_a_plan_is_for_is_told_by_its_spelling():
    assert tollbar.runs_on("turnstile@4/card:gather") == "NICs"
    assert tollbar.runs_on("mcs@4/switch") == "a switch that counts"
    assert tollbar.runs_on("turnstile@4/dissemination") == ""


def test_words_can_be_read_back():
    plan = tollbar.plan("mcs", 9)
    assert tollbar.parse_plan("again", plan.text).text == plan.text


def test_combining_by_hand_equals_the_two_level_spelling():
    outer = tollbar.plan("dissemination", 3)
    assert tollbar.combine(8, "mcs", 3, outer).text == tollbar.plan("mcs@3/dissemination", 8).text


def test_only_rooted_plans_can_be_inside():
    assert tollbar.is_rooted(tollbar.plan("mcs", 8))
    assert not tollbar.is_rooted(tollbar.plan("butterfly", 8))
    with pytest.raises(ValueError, match="'butterfly' cannot stand inside"):
        tollbar.combine(8, "butterfly", 4, tollbar.plan("mcs", 2))


def test_a_verdict_names_the_first_pair_at_fault():
    verdict = tollbar.verify(tollbar.parse_plan("half", "0: !1\n1: ?0\n"))
    assert not verdict
    assert not verdict.holds
    assert (verdict.fault, verdict.from_rank, verdict.to_rank) == ("unheard", 1, 0)
    assert verdict.explanation == "rank 0 can leave although rank 1 has not entered"


def test_a_plan_that_holds_has_no_pair_at_fault():
    verdict = tollbar.verify(tollbar.plan("bst", 6))
    assert (verdict.fault, verdict.from_rank, verdict.to_rank) == (None, None, None)
    assert verdict.operations > 0


def test_the_price_is_that_of_the_golden_readme():
    price = tollbar.price(tollbar.plan("mcs", 8), LOGP)
    assert (price.last_us, price.first_us, price.messages) == (110, 60, 14)
    assert max(price.completion_us) == 110
    assert price.mean_us == pytest.approx(sum(price.completion_us) / 8)


def test_every_message_is_known_with_its_times():
    plan = tollbar.plan("dissemination", 2)
    told = tollbar.messages(plan, LOGP)
    assert [(m.from_rank, m.to_rank, m.sent_us, m.arrived_us, m.received_us) for m in told] == [
        (1, 0, 0, 15, 20),
        (0, 1, 0, 15, 20),
    ]


def test_late_ranks_are_a_mapping():
    plan = tollbar.plan("central", 4)
    assert tollbar.price(plan, LOGP, late={2: 40}).last_us > tollbar.price(plan, LOGP).last_us


def test_unheard_shrinks_step_by_step():
    plan = tollbar.plan("dissemination", 4)
    assert tollbar.unheard(plan, 0, 0) == [1, 2, 3]
    assert tollbar.unheard(plan, 0, 2) == [1, 2]
    assert tollbar.unheard(plan, 0, 4) == []


def test_logp_is_read_and_shown():
    logp = tollbar.LogP.parse("10,5,0.25")
    assert (logp.L, logp.o, logp.g) == (10, 5, 0.25)
    assert repr(logp) == "LogP(L=10, o=5, g=0.25)"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: tollbar.plan("nosuch", 4),
        lambda: tollbar.plan("mcs:x,2", 4),
        lambda: tollbar.plan("mcs", 0),
        lambda: tollbar.plan("mcs", -3),
        lambda: tollbar.plan("mcs", tollbar.max_ranks + 1),
        lambda: tollbar.plan("mcs", 4).program(4),
        lambda: tollbar.plan("mcs", 4).program(-1),
        lambda: tollbar.parse_plan("bad", "0: 1!\n"),
        lambda: tollbar.parse_plan("empty", ""),
        lambda: tollbar.LogP(-1, 0, 0),
        lambda: tollbar.LogP(float("nan"), 0, 0),
        lambda: tollbar.LogP.parse("1,2,"),
        lambda: tollbar.LogP.parse("1;2;3"),
        lambda: tollbar.LogP.parse(""),
        lambda: tollbar.price(tollbar.plan("mcs", 4), LOGP, late={4: 1}),
        lambda: tollbar.price(tollbar.parse_plan("stuck", "0: ?1\n1: ?0\n"), LOGP),
        lambda: tollbar.unheard(tollbar.plan("mcs", 4), 4, 0),
        lambda: tollbar.unheard(tollbar.plan("mcs", 4), 0, -1),
        lambda: tollbar.unheard(tollbar.plan("mcs", 4), 0, 99),
    ],
)
def test_a_wrong_argument_is_a_value_error_that_says_so(wrong):
    with pytest.raises(ValueError, match=r".+"):
        wrong()


def runs_beside(call: Callable[[], object]) -> bool:
    """Whether this thread got on while another one was in a call that takes milliseconds."""
    inside, seen = threading.Event(), []
    worker = threading.Thread(target=lambda: (inside.set(), call(), seen.append("answer")))
    worker.start()
    inside.wait()
    while worker.is_alive() and "us" not in seen:
        seen.append("us")
    worker.join()
    return seen[0] == "us"


def test_other_threads_run_while_a_long_answer_is_computed():
    plan, before = tollbar.plan("dissemination", 4096), sys.getswitchinterval()
    sys.setswitchinterval(1000)  # so that a thread runs only once another one lets go of the interpreter by itself
    try:
        assert not any(runs_beside(lambda: sum(range(1_000_000))) for _ in range(10))
        # Now and then the CPUs are others' for as long as the call takes.
        assert any(runs_beside(lambda: tollbar.verify(plan)) for _ in range(50))
    finally:
        sys.setswitchinterval(before)


def test_everything_has_a_docstring():
    for name in set(tollbar.__all__) - {"__version__", "max_ranks"}:
        thing = getattr(tollbar, name)
        assert inspect.getdoc(thing), name
        if inspect.isclass(thing):
            for member in [member for member in vars(thing) if not member.startswith("_")]:
                assert inspect.getdoc(getattr(thing, member)), f"{name}.{member}"


def test_the_tuning_file_has_one_grammar():
    made = tollbar._native.TuningEntry
    pairs = {"ranks": "8", "cpus": "2", "pinned": "no", "plan": "mcs", "wait": "auto"}
    entry, again = made("threads", pairs), made.parse(made("threads", pairs).line)
    assert (entry, hash(entry)) == (again, hash(again))
    other = made("threads", pairs | {"plan": "bst"})
    assert (entry != other, entry.situation) == (True, other.situation)
    with pytest.raises(ValueError, match="'maybe' is neither no nor yes"):
        made("threads", pairs | {"pinned": "maybe"})
    with pytest.raises(ValueError, match="has a pair that holds a blank"):
        made("threads", pairs | {"plan": "mcs wait=park"})


def test_a_daemon_that_is_not_there_is_said(tmp_path):
    with pytest.raises(RuntimeError, match=r"no daemon at .*nobody: No such file"):
        tollbar._native.ask_nicd(str(tmp_path / "nobody"), "status")
    with pytest.raises(ValueError, match="'jump' is neither status nor stop"):
        tollbar._native.ask_nicd(str(tmp_path / "nobody"), "jump")


def test_a_file_of_another_kind_says_nothing_of_any_rank(tmp_path):
    other = tmp_path / "calls"
    for text in ("", "a few words"):
        other.write_text(text)
        with pytest.raises(RuntimeError, match="calls"):
            _native.waits_in(str(other), 0.01)
        with pytest.raises(RuntimeError, match="calls"):
            _native.rows_in(str(other), 0.01, lambda: pytest.fail("it has looked"))
    with pytest.raises(RuntimeError, match="nowhere"):
        _native.waits_in(str(tmp_path / "nowhere"), 0.01)
