# SPDX-License-Identifier: Apache-2.0
"""From source to a running card: build.py, package.py, flash.py and what they share."""
