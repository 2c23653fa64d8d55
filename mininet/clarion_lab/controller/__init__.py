# SPDX-License-Identifier: Apache-2.0
"""The controller of a run: its switches announced to it, and its decisions collected."""
