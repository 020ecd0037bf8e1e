# SPDX-License-Identifier: Apache-2.0
"""tollbar run --on-hang: a job that hangs is ended or somebody is called; any other runs as without it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
import types

import pytest
from needs import left_out
from tollbar.cli import on_hang
from tollbar.look import helper
from tollbar.machine import paths

LIMIT_S = 120

#: One thread of three prints its number and comes to a pthread barrier when the program gets SIGUSR1.
LATE = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static pthread_barrier_t barrier;
static void* punctual(void* unused) { pthread_barrier_wait(&barrier); return unused; }
static void* late(void* set) {
    int got;
    printf("%d\n", gettid());
    fflush(stdout);
    sigwait(set, &got);
    pthread_barrier_wait(&barrier);
    return NULL;
}
int main(void) {
    pthread_t threads[3];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, i == 1 ? late : punctual, &set);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    puts("over");
    return 5;
}
"""

LOCKED = """
import threading
barrier = threading.Barrier(3)
threads = [threading.Thread(target=barrier.wait) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.fixture(scope="module")
def late(tmp_path_factory):
    if shutil.which("gcc") is None:
        left_out("no C compiler")
    if paths.find_library("libtollbar_pthread.so") is None:
        left_out("libtollbar_pthread.so is not built")
    folder = tmp_path_factory.mktemp("late")
    (folder / "late.c").write_text(LATE)
    subprocess.run(["gcc", "-pthread", folder / "late.c", "-o", folder / "late"], check=True)
    return folder / "late"


@pytest.fixture
def needs_look():
    if remedy := helper.available():
        left_out(f"{helper.PROGRAM} is not built: {remedy}")


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "tollbar", "run", *map(str, words)]


def run(*words: object, timeout: object = 1, wanted: str = "kill", **variables: str):
    return subprocess.run(
        command("--timeout", timeout, "--on-hang", wanted, "--", *words), capture_output=True, text=True,
        timeout=LIMIT_S, env={**os.environ, **variables}, check=False,
    )  # fmt: skip


ENDS = [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", -9), ("kill -USR1 $$", -signal.SIGUSR1)]


@pytest.mark.parametrize(("script", "code"), ENDS)
def test_the_exit_code_and_the_output_are_the_commands(script, code, needs_look):
    done = run("sh", "-c", f"echo said; echo complained >&2; {script}", timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (code, "said\n", "complained\n")


def test_without_a_time_out_it_is_wrong_use(tollbar, monkeypatch):
    monkeypatch.delenv("TOLLBAR_TIMEOUT", raising=False)
    said = tollbar("run", "--on-hang", "kill", "--door", "pthread", "--", "true")
    assert said.code == 2
    assert "--timeout S" in said.refusal


def test_a_program_that_hangs_is_ended_with_its_own_exit_code_and_the_late_thread_is_named(late, needs_look):
    done = run(late)
    assert (done.returncode, on_hang.HUNG) == (75, 75), done.stderr
    assert f"tollbar run: hangs: not there: thread {done.stdout.strip()} (asleep, sigwait() under late)" in done.stderr
    assert re.search(
        r"tollbar run: hangs: pthread_barrier_wait of .*: thread \d+ has waited .* 1 of 3 threads have not arrived",
        done.stderr,
    )


def test_a_command_is_called_with_what_is_known_and_the_job_may_go_on(late, tmp_path):
    called = tmp_path / "called"
    done = run(late, wanted=f"echo $1 >{called}; cat >>{called}; kill -USR1 $1")
    number, *sentences = called.read_text().splitlines()
    assert int(number) > 0
    assert "1 of 3 threads have not arrived" in sentences[0]
    assert done.stdout.endswith("over\n")
    assert done.returncode == 75, "it hung, and failed then"


def test_reports_are_read_from_the_file_that_the_user_wants_them_in(late, tmp_path):
    reports = tmp_path / "reports"
    done = run(late, TOLLBAR_REPORT=str(reports))
    assert done.returncode == 75
    assert "has waited" in reports.read_text()
    assert [line for line in done.stderr.splitlines() if line.startswith("tollbar: ")] == []


def test_threads_that_wait_for_each_others_locks_are_a_hang_though_nothing_reports(needs_look):
    done = run(sys.executable, "-c", LOCKED)
    assert done.returncode == 75, done.stderr
    assert "hangs: no thread is left that could wake another: thread" in done.stderr


def test_what_the_command_has_started_ends_with_it(late, tmp_path):
    left = tmp_path / "left"
    script = f"(trap '' TERM; setsid sleep 1000 & echo $! >{left}; wait) & exec {late}"
    assert run("sh", "-c", script).returncode == 75
    number = int(left.read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_reaches_the_command_which_decides(number):
    script = f"import signal, sys; signal.signal({int(number)}, lambda *_: sys.exit(9)); "
    script += "print('ready', flush=True); signal.pause()"
    words = ["--timeout", "60", "--on-hang", "kill", "--", sys.executable, "-c", script]
    with subprocess.Popen(command(*words), stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == "ready\n"
        running.send_signal(number)
        assert running.wait(LIMIT_S) == 9


def test_a_program_that_waits_for_the_outside_is_not_ended(needs_look):
    """Three threads wait for locks, and main for its input: looks see no hang as long as they please."""
    script = textwrap.dedent("""
        import sys, threading
        barrier = threading.Barrier(4)
        threads = [threading.Thread(target=barrier.wait) for _ in range(3)]
        for thread in threads: thread.start()
        sys.stdin.readline()
        barrier.wait()
    """)
    words = ["--timeout", "0.2", "--on-hang", "kill", "--", sys.executable, "-c", script]
    with subprocess.Popen(command(*words), stdin=subprocess.PIPE, text=True) as running:
        time.sleep(3)  # so that there are several looks; the verdict is the same after none
        running.communicate("\n", LIMIT_S)
        assert running.returncode == 0


def test_a_job_that_has_become_somebody_else_is_ended_too(late, tmp_path):
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root and setpriv, to become somebody else")
    program = shutil.copy(late, tmp_path / "late")
    for folder in [tmp_path, *tmp_path.parents[:3]]:
        folder.chmod(folder.stat().st_mode | 0o055)
    done = run("setpriv", "--reuid", 65534, "--regid", 65534, "--clear-groups", program)
    assert done.returncode == 75, done.stderr
    assert re.search(
        r"tollbar run: hangs: pthread_barrier_wait of .*: thread \d+ has waited .* 1 of 3 threads have not arrived",
        done.stderr,
    )


def test_a_job_that_has_closed_the_descriptor_of_its_reports_reports_on_stderr(late, tmp_path):
    """A process that has its number by then gets none of them."""
    mine = tmp_path / "mine"
    closes = "for at in /proc/self/fd/*; do case $(readlink $at) in *tollbar-reports*) fd=${at##*/}; esac; done; "
    script = closes + f'eval "exec $fd>{mine}"; {late} & sleep 3; kill -USR1 $!; wait $!'
    done = subprocess.run(
        command("--timeout", 1, "--on-hang", "kill", "--", "bash", "-c", script), capture_output=True, text=True,
        timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert (done.returncode, mine.read_text()) == (5, ""), done.stderr
    assert re.search(r"^tollbar: pthread_barrier_wait of .*: thread \d+ has waited", done.stderr, re.MULTILINE)


def test_a_signal_reaches_the_job_while_a_command_is_called(late, tmp_path):
    called = tmp_path / "called"
    words = ["--timeout", "0.5", "--on-hang", f"echo $$ >{called}; sleep 1000", "--", late]
    with subprocess.Popen(command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        end = time.monotonic() + LIMIT_S
        while not (called.exists() and called.read_text()):
            assert time.monotonic() < end
            time.sleep(0.05)
        running.send_signal(signal.SIGTERM)
        said = running.communicate(timeout=LIMIT_S)[1]
        assert running.returncode == 75, said
        with pytest.raises(ProcessLookupError):
            os.kill(int(called.read_text()), 0)


BEGIN = """from tollbar.cli import on_hang
from tollbar.look import gathered
kind, secret = on_hang.Kind(False, False), gathered.Secret(accounts=False)
"""


def test_a_command_that_does_not_end_is_ended():
    script = BEGIN + "on_hang._LONGEST_CALL_S, on_hang._GRACE_S = 0.2, 1.0; "
    script += "job = on_hang._Job(['sleep', '1000'], {}, kind, secret); "
    script += "job.call(\"trap '' TERM; while :; do sleep 0.1; done\", []); job.end(); print(job.code)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.stdout == f"{-signal.SIGTERM}\n", done.stderr
    assert "was ended after 0 s" in done.stderr


def test_a_fault_of_the_watching_leaves_the_job_and_its_exit_code():
    script = BEGIN
    script += "on_hang._Watch.until_the_end = lambda self: 1 / 0\n"
    script += "print(on_hang.supervise(['sh', '-c', 'sleep 0.3; exit 7'], {}, 1.0, 'kill', kind, secret)[0])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.stdout == "7\n"
    assert "the job is watched no more" in done.stderr
    assert "ZeroDivisionError" in done.stderr


@pytest.mark.deep
def test_a_program_whose_threads_are_late_again_and_again_is_not_ended(late, tmp_path):
    """Each run is let go on by its first report, long before the second."""
    for _ in range(5):
        with subprocess.Popen(
            command("--timeout", "3", "--on-hang", "kill", "--", late), stderr=subprocess.PIPE, text=True
        ) as running:  # fmt: skip
            assert re.search(r"has waited \d+\.\d s", running.stderr.readline())
            children = subprocess.run(["pgrep", "-P", str(running.pid)], capture_output=True, text=True).stdout
            for child in children.split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(child), signal.SIGUSR1)
            running.communicate(timeout=LIMIT_S)
            assert running.returncode == 5


def test_waits_that_are_found_together_are_looked_at_together(monkeypatch):
    """A look for each would outlast the suspicion of the first."""
    looks, acts = [], []
    monkeypatch.setattr(on_hang, "_seen", lambda members, sentences: looks.append(sentences) or [])
    monkeypatch.setattr(on_hang, "_say", lambda text: None)
    lines = types.SimpleNamespace(new=list)
    job = types.SimpleNamespace(
        lines=lines,
        process=0,
        kind=on_hang.Kind(True, False),
        members=list,
        say=list,
        call=lambda words, said: acts.append(sorted(said)),
    )
    watch = on_hang._Watch(job, 0.4, "true")
    waits = {f"wait {number}" for number in range(8)}
    assert not watch._judge(waits)
    assert (len(looks), acts) == (1, [])
    watch._judge({"wait 3"})
    assert (len(looks), acts) == (1, [sorted(waits)])


def test_a_wait_that_is_no_longer_told_of_is_no_part_of_a_hang(monkeypatch):
    acts = []
    monkeypatch.setattr(on_hang, "_seen", lambda members, sentences: [])
    monkeypatch.setattr(on_hang, "_say", lambda text: None)
    lines = types.SimpleNamespace(new=list)
    job = types.SimpleNamespace(
        lines=lines,
        process=0,
        kind=on_hang.Kind(True, False),
        members=list,
        say=list,
        call=lambda words, said: acts.append(said),
    )
    watch = on_hang._Watch(job, 1.0, "true")
    line = "MPI_COMM_WORLD (2 ranks), {} at ./x+0x1: rank {} on vm has waited {} s: rank {} is stopped"

    def concluded(wait: str, clock: float, *rest: object) -> types.SimpleNamespace:
        text = line.format(*rest)
        return types.SimpleNamespace(text=text, wait=wait, about=wait, waited_s=clock, named=[rest[-1]], arrived=[])

    watch._reports.add(concluded("at 1 8", 1.0, "MPI_Igather 8", 0, 1.0, 1), 0.0)
    for clock in (1.0, 2.0, 3.0):
        told = concluded("in 1 0 9", clock, "MPI_Ssend to rank 0", 1, clock, 0)
        watch._clock = clock
        if again := watch._reports.add(told, clock):
            watch._judge({again})
    assert acts == [[told.text]]


def test_a_sentence_is_one_write_so_that_no_line_of_the_job_comes_into_it():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    script = "from tollbar.cli import on_hang; on_hang._say('hangs')"
    subprocess.run([sys.executable, "-u", "-c", script], stderr=theirs, check=True)
    assert ours.recv(100) == b"tollbar run: hangs\n"


def test_a_process_that_has_ended_meanwhile_keeps_no_look_from_the_others(needs_look):
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    with subprocess.Popen(["sleep", "60"]) as there:
        try:
            said = on_hang._seen([there.pid, ended.pid], [])
        finally:
            there.kill()
    assert "no look at it" not in " ".join(said)


def test_one_look_is_enough_unless_a_report_names_threads_that_have_arrived(monkeypatch):
    looks = []
    one = {"looks": [{"processes": [], "groups": []}] * 2}
    monkeypatch.setattr(helper, "look", lambda processes: looks.append(list(processes)) or one)
    monkeypatch.setattr(on_hang.who, "look", lambda words, by_frames: on_hang.who.Table([], on_hang.who.Seen))
    ranks = types.SimpleNamespace(arrived=[], lacking=0)
    assert on_hang._seen([7], [ranks]) == []
    assert looks == []
    threads = types.SimpleNamespace(arrived=[7, 8], lacking=1)
    assert on_hang._seen([7], [threads]) == []
    assert looks == [[7]]
