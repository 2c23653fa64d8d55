# SPDX-License-Identifier: Apache-2.0
"""The contract between data planes and those who set and read them: settings, tables, digests, registers."""
