# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for switches, so that the controller can be tested without any."""
