# SPDX-License-Identifier: Apache-2.0
"""Batches: a run, or all points of a sweep with their repeats, and the directory of their results."""
