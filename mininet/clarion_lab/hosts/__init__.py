# SPDX-License-Identifier: Apache-2.0
"""The hosts of a run: their tuning, their senders, their traffic, their sockets' state."""
