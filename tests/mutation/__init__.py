# SPDX-License-Identifier: Apache-2.0
"""Faults planted one by one in the product, each of which its tests must notice."""
