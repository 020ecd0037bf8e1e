# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the Python tests."""

from stored_runs import as_samples as as_samples
from stored_runs import crowded as crowded
from stored_runs import jobs as jobs
from stored_runs import make_jobs as make_jobs
from stored_runs import programs as programs
from stored_runs import replay as replay
from stored_runs import replay_crowd as replay_crowd
from stored_runs import replay_nic as replay_nic
from stored_runs import stored as stored
from stored_runs import stored_beside as stored_beside
from stored_runs import stored_once as stored_once
