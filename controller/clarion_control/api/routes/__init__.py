# SPDX-License-Identifier: Apache-2.0
"""The operations, a file for each kind of thing that they are about."""
