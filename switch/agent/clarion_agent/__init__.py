# SPDX-License-Identifier: Apache-2.0
"""The P4Runtime agent of the embedded switch: the same P4Info as p4/, over gRPC."""
