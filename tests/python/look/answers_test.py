# SPDX-License-Identifier: Apache-2.0
"""An ancestor looks at processes for those who may not."""

import subprocess

from tollbar.look import answers, helper, processes


def test_a_job_of_many_processes_is_answered(monkeypatch):
    monkeypatch.setattr(helper, "look", lambda *_: {"looks": [{"processes": [], "groups": []}] * 2})
    with subprocess.Popen(["sleep", "1000"]) as job, answers.Answering():
        strangers = range(10_000_000, 10_020_000)
        try:
            assert answers.ask([job.pid, *strangers], processes.everything()) is not None
        finally:
            job.kill()
