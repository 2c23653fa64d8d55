# SPDX-License-Identifier: Apache-2.0
# Included by the Makefile: a card's bitstream. BOARD as for hls-verilog, MODE nic or bump, OPEN_NIC_SHELL a folder;
# BUCKETS and QUEUE_BEATS of each port.

MODE ?= nic

.PHONY: nic nic-dry-run nic-package

nic: $(python_stamp) ## Bitstream of a card, with Vivado, an HLS tool and OPEN_NIC_SHELL; BOARD, MODE, BUCKETS, QUEUE_BEATS
	@nic/build.sh --mode $(MODE) $(sizes)

nic-dry-run: $(python_stamp) ## The commands of that
	@nic/build.sh --mode $(MODE) $(sizes) --dry-run

nic-package: $(python_stamp) ## One file of what `make nic` made, for nic/flash.sh
	@nic/package.sh build/nic/$(BOARD)-$(MODE)
