# SPDX-License-Identifier: Apache-2.0
"""Experiments of the papers: what is run, what is measured, and whether the claim holds."""
