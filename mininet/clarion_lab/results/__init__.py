# SPDX-License-Identifier: Apache-2.0
"""Results: numbers, tables, plots and pages made from what a run recorded."""
