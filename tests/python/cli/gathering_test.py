# SPDX-License-Identifier: Apache-2.0
"""tollbar run and what ranks write on stderr: it believes what they seal, shows what their program writes, and neither
is in the way of the other."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tollbar.cli import on_hang

LIMIT_S = 120
SUPPORT = Path(__file__).resolve().parents[2] / "support"

#: In place of a launcher: two hosts of a job, beside a program that does what it can to be heard or to be in the way.
HOSTILE = r"""
import itertools, os, sys, time
sys.path.insert(0, sys.argv[2])
from rows import Comm, Rank, lines, sealed
value = os.environ["_TOLLBAR_RUN"]
key = int(value[:16], 16), int(value[16:32], 16)
def write(text):
    for part in [text[at:at + 65536] for at in range(0, len(text), 65536)]: os.write(2, part)
def tell(host, *ranks):
    for line in lines(host, *ranks, turn=round): write(sealed(key, line))
def of(number, calls, name="w", id=5, size=4, call="MPI_Allreduce", **how):
    return Rank(number, [Comm(calls, call, name, id, size)], site="./x", process=5 + number, **how)
call = "w (4 ranks), MPI_Allreduce 7 at ./x+0x1: rank {} on {} has waited {} s: {}2 of its ranks are not watched here"
for round in range(1, 6) if sys.argv[1] == "forges" else itertools.count(1):
    waited = 0.4 * round
    lie = "rank 66 (host n1, process 7) has not come: it is x; "
    forged = b"tollbar: " + call.format(0, "n1", waited, lie).encode()
    write(forged + b"\n" + forged + b" [~at 1 7 0 0123456789abcdef]\n" + b"tollbar: {" * 200000)
    write(b"\n" + b"tollbar: \xff [~account 0123456789abcdef]\n" + forged + b"\n")
    if sys.argv[1] != "forges":
        tell("n1", of(0, 7, waited_s=waited), of(1, 7))
        tell("n2", of(2, 7, waited_s=waited), of(3, 6, call="MPI_Bcast", doing="stopped"))
    if sys.argv[1] == "later" and round > 2:
        tell("n3", of(4, 3, "v", 6, 2, "MPI_Bcast", waited_s=0.4), of(5, 2, "v", 6, 2, "MPI_Bcast"))
    time.sleep(0.4)
"""
SUPERVISE = """
import sys
from tollbar.cli import on_hang
from tollbar.look import gathered
secret = gathered.Secret(accounts=False)
words = [sys.executable, "-c", *sys.argv[1:]]
code, account = on_hang.supervise(words, {secret.VARIABLE: secret.value}, 0.4, "kill", on_hang.Kind(True, True), secret)
print(account)
sys.exit(code)
"""


def hostile(how: str) -> tuple[int, str, list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", SUPERVISE, HOSTILE, how, SUPPORT], capture_output=True, timeout=LIMIT_S, check=False
    )
    # A line of ours may come behind what the program has begun to write.
    ours = re.findall(r"tollbar(?: run)?: .*", done.stderr.decode(errors="replace"))
    return done.returncode, done.stdout.decode(), ours


def test_who_has_not_the_secret_of_a_run_makes_no_sentence_of_it_and_ends_no_job():
    code, account, ours = hostile("forges")
    assert (code, account, [line for line in ours if line.startswith("tollbar run")]) == (0, "[]\n", [])


def test_who_writes_without_end_keeps_no_report_of_ranks_from_being_heard():
    code, account, ours = hostile("hangs")
    missing = "rank 3 (host n2, process 8) has not come: it is outside the MPI, stopped, after MPI_Bcast 6 of w at ./x"
    sentence = rf"w \(4 ranks\), MPI_Allreduce 7 at ./x: rank 0 on n1 has waited [\d.]+ s: {re.escape(missing)}"
    assert (code, account) == (on_hang.HUNG, "[]\n"), ours
    assert re.search(rf"^tollbar: {sentence}$", "\n".join(ours), re.MULTILINE), ours
    assert re.search(rf"^tollbar run: hangs: {sentence}$", "\n".join(ours), re.MULTILINE), ours


PROGRESS = r"""
import os, sys
sys.path.insert(0, sys.argv[1])
from rows import Rank, lines, sealed
value = os.environ["_TOLLBAR_RUN"]
key = int(value[:16], 16), int(value[16:32], 16)
for turn in range(20):
    for line in lines("n1", Rank(0), Rank(1), turn=turn):
        os.write(2, b"[1,0]<stderr>:" + sealed(key, line))
        os.write(2, b"\r%d%%" % turn)
        if turn % 2: sys.stdin.read() or __import__("time").sleep(0.01)
        os.write(2, sealed(key, line))
"""


def test_a_program_s_line_without_an_end_is_shown_and_nothing_that_ranks_tell():
    words = [sys.executable, "-c", SUPERVISE, PROGRESS, SUPPORT]
    done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, timeout=LIMIT_S, check=False)
    assert re.fullmatch(rb"(\r\d+%)+", done.stderr), done.stderr
    assert set(re.findall(rb"\d+", done.stderr)) == {b"%d" % turn for turn in range(20)}


def test_a_wait_that_began_later_is_of_the_same_hang():
    code, _, ours = hostile("later")
    hangs = "\n".join(line for line in ours if line.startswith("tollbar run: hangs: "))
    assert code == on_hang.HUNG, ours
    assert "w (4 ranks), MPI_Allreduce 7" in hangs
    assert "v (2 ranks), MPI_Bcast 3" in hangs


REPORTS = r"""
import os, sys, time
sys.path.insert(0, sys.argv[2])
from rows import sealed
from tollbar.look import gathered
value = os.environ["_TOLLBAR_RUN"]
key = int(value[:16], 16), int(value[16:32], 16)
for turn in range(1, 6 if sys.argv[1] != "sealed" else 1000):
    text = f"a barrier: thread 7 has waited {0.4 * turn:.1f} s: 1 of 2 threads have not arrived, thread 7 has"
    version = 99 if sys.argv[1] == "other" else 1
    line = sealed(key, gathered.SealedLine(text, f"missing {version} {0.4 * turn:.1f} 1 - 7 by 1 thread 7\ta barrier"))
    os.write(2, f"tollbar: {text}\n".encode() if sys.argv[1] == "plain" else line)
    time.sleep(0.4)
"""


def reports(how: str) -> tuple[int, list[str]]:
    words = [sys.executable, "-c", SUPERVISE, REPORTS, how, SUPPORT]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    return done.returncode, done.stderr.splitlines()


def test_a_barrier_inside_a_watched_rank_ends_the_job_too_when_its_report_bears_the_seal():
    code, said = reports("sealed")
    sentence = r"a barrier: thread 7 has waited [\d.]+ s: 1 of 2 threads have not arrived, thread 7 has"
    assert code == on_hang.HUNG, said
    assert re.fullmatch(f"tollbar: {sentence}", said[0])  # without its facts
    assert any(re.fullmatch(f"tollbar run: hangs: {sentence}", line) for line in said), said


def test_a_report_without_the_seal_is_shown_and_not_believed():
    code, said = reports("plain")
    assert (code, len(said)) == (0, 5), said


def test_a_report_of_another_version_is_shown_and_refused_with_one_line():
    code, said = reports("other")
    refused = [line for line in said if line.startswith("tollbar run: ")]
    assert (code, len(said)) == (0, 6), said
    assert refused == ["tollbar run: ranks tell what another version of tollbar has to read"]
