# SPDX-License-Identifier: Apache-2.0
"""Keeps gRPC's own log off standard error: each refusal is one line of ours. Import this before gRPC, which
reads its environment only then.
"""

from __future__ import annotations

import os

os.environ.setdefault("GRPC_VERBOSITY", "NONE")
