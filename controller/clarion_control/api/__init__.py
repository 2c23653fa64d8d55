# SPDX-License-Identifier: Apache-2.0
"""The REST API of the controller; `app.py` assembles it."""
