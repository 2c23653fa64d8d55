# SPDX-License-Identifier: Apache-2.0
"""What requests and responses look like. Ranges of settings are stated here and checked in `settings.py`."""
