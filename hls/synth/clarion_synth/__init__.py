# SPDX-License-Identifier: Apache-2.0
"""Synthesis of the FPGA block: finds a tool, runs it, holds what it reports against the numbers wanted."""
