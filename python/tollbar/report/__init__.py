# SPDX-License-Identifier: Apache-2.0
"""From stored runs to tables, figures and the page."""
