# SPDX-License-Identifier: Apache-2.0
"""Runs: one point of a scenario, or all points of a sweep with their repeats."""
