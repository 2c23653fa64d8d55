# SPDX-License-Identifier: Apache-2.0
"""The services of a controller, one concern each; `controller.py` puts them together."""
