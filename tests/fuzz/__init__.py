# SPDX-License-Identifier: Apache-2.0
"""Fuzz tests: frames that fit and frames that do not, through every part that reads frames."""
