# SPDX-License-Identifier: Apache-2.0
"""The FPGA block in C simulation, compared with the reference."""
