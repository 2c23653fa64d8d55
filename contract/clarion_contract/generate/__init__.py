# SPDX-License-Identifier: Apache-2.0
"""Writes the contract in every language that needs it."""
