# SPDX-License-Identifier: Apache-2.0
"""What plans cost without running them here: LogP, simulated clusters and schedulers, fits."""
