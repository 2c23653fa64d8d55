# SPDX-License-Identifier: Apache-2.0
"""The FPGA NIC: its registers, over PCIe or a file that stands for it."""
