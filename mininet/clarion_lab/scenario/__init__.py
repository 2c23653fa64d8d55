# SPDX-License-Identifier: Apache-2.0
"""Scenarios: from a file to typed values to a network."""
