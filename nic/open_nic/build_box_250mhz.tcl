# SPDX-License-Identifier: Apache-2.0
# Sourced by the shell's build.tcl, in this folder and in its global scope. Reads the wrapper, the block, and from the
# folder that nic/build.sh filled: the Verilog of the block's functions, and constraints.
#
# There is no build_box_322mhz.tcl here: the shell then takes its own pass-through for the other box.

if {![info exists ::env(CLARION_BUILD_DIR)]} {
    error "CLARION_BUILD_DIR is not set: start the build with nic/build.sh"
}
set clarion_dir $::env(CLARION_BUILD_DIR)

# clarion_build.vh; the shell sets this list on the project after all boxes have been read.
lappend include_dirs $clarion_dir

set clarion_rtl [file normalize ../rtl]
set clarion_block [file normalize ../../hls/rtl]

# The packages first: the other files name what is in them.
foreach clarion_package [list $clarion_rtl/clarion_registers_pkg.sv $clarion_block/clarion_sizes_pkg.sv \
                              $clarion_block/clarion_block_pkg.sv] {
    read_verilog -quiet -sv $clarion_package
}
read_verilog -quiet -sv [glob -directory $clarion_block *.sv]
read_verilog -quiet -sv [glob -directory $clarion_rtl *.sv]
read_verilog -quiet -sv [file normalize clarion_250mhz.sv]

# The functions: a module of ours around what an HLS tool made of each, in Verilog of an age without SystemVerilog's
# keywords, and the contents of its tables.
read_verilog -quiet -sv [glob -directory $clarion_dir/functions *.sv]
foreach clarion_verilog [glob -nocomplain -directory $clarion_dir/functions *.v] {
    read_verilog -quiet $clarion_verilog
}
foreach clarion_table [glob -nocomplain -directory $clarion_dir/functions *.mem *.dat] {
    add_files -quiet $clarion_table
}

read_xdc -unmanaged $clarion_dir/clarion.xdc
