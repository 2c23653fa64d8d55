# SPDX-License-Identifier: Apache-2.0
"""Clarion's P4Runtime client: settings in people's units to table entries, digests back to reports."""
