# SPDX-License-Identifier: Apache-2.0
"""The machine of a run: what it offers, what a run holds of it, and how to give that back."""
