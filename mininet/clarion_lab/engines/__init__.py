# SPDX-License-Identifier: Apache-2.0
"""Engines: what carries the switches and links of a scenario."""
