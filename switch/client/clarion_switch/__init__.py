# SPDX-License-Identifier: Apache-2.0
"""clarion-switch from outside: its process, and the commands and events of its control socket."""
