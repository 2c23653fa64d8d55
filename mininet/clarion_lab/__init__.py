# SPDX-License-Identifier: Apache-2.0
"""Clarion's experiments: topologies, scenarios, the runner and its reports."""
