# SPDX-License-Identifier: Apache-2.0
"""Runs as tasks: what decides a run, where finished ones are kept, and who executes what is not there."""
