# SPDX-License-Identifier: Apache-2.0
"""What a run leaves: in memory while it runs, as files afterwards."""
