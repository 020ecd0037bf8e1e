# SPDX-License-Identifier: Apache-2.0
"""Costs of plans without running them here: LogP, simulated clusters and schedulers, fits."""
