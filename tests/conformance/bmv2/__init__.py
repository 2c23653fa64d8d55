# SPDX-License-Identifier: Apache-2.0
"""An interpreter of the JSON that p4c makes of a v1model program for BMv2; `switch.Switch` is the way in."""
