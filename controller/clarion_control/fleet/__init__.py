# SPDX-License-Identifier: Apache-2.0
"""All switches at once: a link to each, and what they report."""
