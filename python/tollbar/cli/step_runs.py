# SPDX-License-Identifier: Apache-2.0
"""A `tollbar run` of each rank of a step of Slurm: together they are one run, whose keeper and conclusions are those of
rank 0's."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from tollbar.look import gathered
from tollbar.machine import keeper, runs, steps


@dataclass(frozen=True)
class Company:
    """The other runs of its step, as far as a run has to do with them."""

    kept: keeper.Keeper | None = None  #: this run's own
    joined: runs.Joining | None = None  #: rank 0's run, which that of another rank has joined
    secret: gathered.Secret | None = None  #: of the ranks that report to this run, or through it to rank 0's
    variables: Mapping[str, str] = field(default_factory=dict)  #: for the program
    problem: str = ""  #: why this run is alone in a step


def alone(kept: keeper.Keeper | None, secret: gathered.Secret | None) -> Company:
    """A run that is the only one of its step, or of none."""
    return Company(kept, None, secret, _variables(kept.value if kept else "", secret))


@contextlib.contextmanager
def company(place: steps.Place, secret: gathered.Secret | None, acts_alone: bool) -> Iterator[Company]:
    """The company of a run at that place, with that new secret where it watches; rank 0's can be found until the end of
    the block. Another one waits for rank 0's, no longer than steps.PATIENCE_S. One that stays alone has the secret
    where it is to act on hangs."""
    with contextlib.ExitStack() as ending:
        others = (_first if place.rank == 0 else _other)(place, secret, ending)
        if others.problem and acts_alone and secret:
            others = replace(others, secret=secret, variables={**others.variables, secret.VARIABLE: secret.value})
        yield others


def _first(place: steps.Place, secret: gathered.Secret | None, ending: contextlib.ExitStack) -> Company:
    published = ending.enter_context(contextlib.ExitStack())
    try:
        kept = keeper.Keeper(place.address)
        published.enter_context(steps.publish(place, f"{kept.value}\n{secret.value if secret else ''}\n"))
        kept.call_later(steps.NEEDED_S, published.close)
    except OSError as error:
        return Company(problem=f"runs of other ranks cannot find this one: {error.strerror or error}")
    return alone(kept, secret)


def _other(place: steps.Place, own: gathered.Secret | None, ending: contextlib.ExitStack) -> Company:
    text = steps.learned(place)
    if text is None:
        return Company(problem=f"rank 0 has no `tollbar run`, or none that was found in {steps.PATIENCE_S:g} s")
    value, _, run = text.partition("\n")
    secret = gathered.Secret.read(run.strip())
    if own is None:
        return Company(variables=_variables(value, None))
    if secret is None:
        return Company(variables=_variables(value, None), problem="rank 0's run watches no calls")
    try:
        joined = runs.Joining(value)
    except (OSError, ValueError) as error:
        return Company(variables=_variables(value, None), problem=f"rank 0's run cannot be joined: {error}")
    ending.callback(joined.close)
    return Company(None, joined, secret, _variables(value, secret))


def _variables(value: str, secret: gathered.Secret | None) -> dict[str, str]:
    """For the program, by the value of a keeper, if there is one."""
    return ({keeper.Keeper.VARIABLE: value} if value else {}) | ({secret.VARIABLE: secret.value} if secret else {})
