# SPDX-License-Identifier: Apache-2.0
"""Experiments that the controller runs: `clarion run` in a child process, one at a time."""
