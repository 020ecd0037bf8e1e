# SPDX-License-Identifier: Apache-2.0
"""Tables and figures of five papers about barriers, beside what models give and what is measured here."""
