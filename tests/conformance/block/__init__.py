# SPDX-License-Identifier: Apache-2.0
"""The RTL of the FPGA block, compared with the reference."""
