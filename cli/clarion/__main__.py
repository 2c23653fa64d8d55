# SPDX-License-Identifier: Apache-2.0
"""`python -m clarion` is the command `clarion`."""

from __future__ import annotations

import sys

from clarion.cli import main

sys.exit(main())
