# SPDX-License-Identifier: Apache-2.0
"""Many hosts are asked at a time; what one of them does cannot spoil what the others say."""

import json
import sys
import time

import pytest
from tollbar import __version__
from tollbar.look import facts, gathered, hosts, jobs, sight, travelling

MOMENT = sight.Moment("S", 7, (1, 2), 5, 12.5, None, (sight.Frame("main", "a.out", "a.c:3", 9, 0),), (), True, ())
THREAD = sight.Thread(41, 41, "a.out", MOMENT, MOMENT)
MEMBER = jobs.JobMember(3, 41, jobs.WAITS, "read() under main", (("main", "a.c:3"),), "read", thread=41)
SEEN = facts.Facts(sight.Sight((THREAD,), ()), {41: (3, None)}, jobs.Job((MEMBER,), True, 4), missed=("more",))

#: A host: it reads a question, says that it has looked, waits for the word, and answers as the test wants it.
HOST = """
import json, sys, time
from tollbar.look import facts, gathered, travelling
question = json.loads(sys.stdin.readline())
secret = gathered.Secret(accounts=False, key=tuple(question["key"]))
name, content = sys.argv[1:3]
def tell(what, content="", secret=secret):
    print(*travelling.lines(secret, name, what, content), sep="\\n", flush=True)
def ready():
    tell("ready")
    assert sys.stdin.readline() == "look\\n"
print("a line of a profile", flush=True)
"""
ANSWERS = "ready(); tell('answer', content)"


def asked(ready_s: float = 60.0, **scripts: str) -> hosts.Answers:
    """The answers of hosts, each a program of Python's behind HOST, in ways of their own."""
    content = travelling.packed(SEEN).decode()
    ways = [
        hosts.Way([name], lambda own, script=script: [sys.executable, "-c", HOST + script, *own, content])
        for name, script in scripts.items()
    ]
    return hosts.ask(ways, {"names": []}, ready_s)


def test_facts_travel_as_they_are():
    assert travelling.unpacked(travelling.packed(SEEN)) == SEEN


@pytest.mark.parametrize(
    "wrong",
    [{"host": 3}, {"rank_of": {"x": [0, 1]}}, {"seen": {"threads": [{}], "groups": []}}, {"more": 1}, {"job": None}],
)
def test_what_has_other_types_is_no_facts(wrong):
    import base64
    import dataclasses
    import zlib

    document = dataclasses.asdict(SEEN) | wrong
    with pytest.raises(travelling.NoFacts):
        travelling.unpacked(base64.b64encode(zlib.compress(json.dumps(document).encode())))


def test_all_hosts_look_again_when_each_has_looked():
    answers = asked(n1=f"time.sleep(1); {ANSWERS}", n2=ANSWERS)
    assert answers.silent == {}
    assert [own.host for own in answers.facts] == ["n1", "n2"]
    assert answers.facts[0] == SEEN.on("n1")


def test_a_host_that_does_not_answer_is_named_and_the_others_are_heard():
    began = time.monotonic()
    answers = asked(
        n1=ANSWERS, n2="sys.exit('no tollbar here')", n3="ready(); tell('version', '0.0.9')",
        n4="ready(); tell('refused', 'it\\u00a0may\\u00a0not')", n5="ready(); tell('answer', content[:50])",
    )  # fmt: skip
    assert [own.host for own in answers.facts] == ["n1"]
    assert answers.silent["n2"] == "no answer: no tollbar here"
    assert answers.silent["n3"] == f"it has tollbar 0.0.9, and this is {__version__}"
    assert answers.silent["n4"] == "it may not"
    assert answers.silent["n5"].startswith("what it tells cannot be read: ")
    assert time.monotonic() - began < 60


def test_a_host_that_is_late_is_left_out():
    answers = asked(ready_s=5.0, n1=ANSWERS, n2="time.sleep(600)")
    assert [own.host for own in answers.facts] == ["n1"]
    assert answers.silent == {"n2": "no answer for 5 s: a line of a profile"}


def test_lines_that_another_has_sealed_and_a_flood_are_not_believed():
    other = "ready(); tell('answer', content, gathered.Secret(accounts=False, key=(1, 2)))"
    flood = "ready()\nfor at in range(30_000): print(secret.sealed(name, f'answer {at} 99999 ' + 'x' * 700))"
    answers = asked(n1=ANSWERS, n2=other, n3=flood)
    assert [own.host for own in answers.facts] == ["n1"]
    assert answers.silent["n2"].startswith("no answer")
    assert answers.silent["n3"] == "what it tells cannot be read: parts are missing, or there are too many"


def test_a_host_speaks_for_itself_alone():
    answers = asked(n1="name = 'n2'; " + ANSWERS, n2="sys.exit('gone')")
    assert [own.host for own in answers.facts] == ["n1"]
    assert answers.silent == {"n2": "no answer: gone"}


def test_a_command_that_one_host_has_ended_is_started_again_for_the_others():
    """As srun does where a step is not launched on a host."""
    content = travelling.packed(SEEN).decode()
    all_at_once = HOST + "for one in sys.argv[3:]:\n    name = one; tell('ready')\nsys.stdin.readline()\n"
    all_at_once += "for one in sys.argv[3:]:\n    name = one; tell('answer', content)\n"

    def command(names):
        if "n2" in names:
            return [
                sys.executable,
                "-c",
                "import sys; sys.exit('srun: error: Task launch failed on node n2: no route')",
            ]
        return [sys.executable, "-c", all_at_once, "all", content, *names]

    answers = hosts.ask([hosts.Way(["n1", "n2", "n3"], command)], {})
    assert [own.host for own in answers.facts] == ["n1", "n3"]
    assert answers.silent == {"n2": "no answer: srun: error: Task launch failed on node n2: no route"}


def test_a_secret_seals_as_ranks_do():
    secret = gathered.Secret(accounts=False)
    line = secret.unseal(secret.sealed("n1", "ready 0 1 ").encode())
    assert (line.text, line.facts) == ("n1", "ready 0 1 ")
