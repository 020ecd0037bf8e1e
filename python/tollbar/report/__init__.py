# SPDX-License-Identifier: Apache-2.0
"""Tables, figures and the page, from stored runs."""
