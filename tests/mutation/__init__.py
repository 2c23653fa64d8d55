# SPDX-License-Identifier: Apache-2.0
"""Mutation tests: faults planted one by one in the product, which the tests must detect."""
