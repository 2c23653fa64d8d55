# SPDX-License-Identifier: Apache-2.0
"""Engine `bmv2`: the P4 program on simple_switch_grpc between Mininet's hosts."""

import os

# The runner starts programs while gRPC's threads run. Left on, gRPC's own preparation for forks, which only
# matters to children that go on to use it, kills those children. Read when gRPC is imported.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "false"
