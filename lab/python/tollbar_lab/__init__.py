# SPDX-License-Identifier: Apache-2.0
"""The laboratory: models of barriers on machines that are not here, and the tables and figures of five papers."""
