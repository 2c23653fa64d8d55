# SPDX-License-Identifier: Apache-2.0
"""The tuner: policies that set a port's XCP from what its switch reports: docs/tuner.md."""
