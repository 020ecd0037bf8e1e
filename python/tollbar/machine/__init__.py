# SPDX-License-Identifier: Apache-2.0
"""This machine: its processors, MPIs, hosts and daemons, where programs lie, and how to run them."""
