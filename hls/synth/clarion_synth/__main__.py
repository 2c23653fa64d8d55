# SPDX-License-Identifier: Apache-2.0
"""Runs the command line."""

import sys

from clarion_synth.cli import main

sys.exit(main())
