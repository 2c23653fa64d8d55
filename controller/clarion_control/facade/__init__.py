# SPDX-License-Identifier: Apache-2.0
"""The parts of the controller's façade, one concern each; `controller.py` is all of them."""
