# SPDX-License-Identifier: Apache-2.0
# Sourced by the shell's build.tcl, in this folder and in its global scope. Reads the wrapper, makes the two HLS units
# from the IP repository that nic/build.sh filled, and adds the constraints that it wrote.
#
# There is no build_box_322mhz.tcl here: the shell then takes its own pass-through for the other box.

if {![info exists ::env(CLARION_BUILD_DIR)]} {
    error "CLARION_BUILD_DIR is not set: start the build with nic/build.sh"
}
set clarion_dir $::env(CLARION_BUILD_DIR)

# clarion_build.vh; the shell sets this list on the project after all boxes have been read.
lappend include_dirs $clarion_dir

# The package first: the other files import it.
read_verilog -quiet -sv [file normalize ../rtl/clarion_registers_pkg.sv]
read_verilog -quiet -sv [glob -directory [file normalize ../rtl] *.sv]
read_verilog -quiet -sv [file normalize clarion_250mhz.sv]

set_property ip_repo_paths [list $clarion_dir/ip_repo] [current_project]
update_ip_catalog -rebuild
foreach clarion_unit {clarion_ingress clarion_egress} {
    set clarion_vlnv [get_ipdefs -all -filter "NAME == $clarion_unit"]
    if {[llength $clarion_vlnv] != 1} {
        error "$clarion_unit: [llength $clarion_vlnv] IPs of this name in $clarion_dir/ip_repo, 1 is needed"
    }
    create_ip -vlnv $clarion_vlnv -module_name $clarion_unit
    generate_target synthesis [get_ips $clarion_unit]
}

read_xdc -unmanaged $clarion_dir/clarion.xdc
