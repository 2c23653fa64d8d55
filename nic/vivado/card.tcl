# SPDX-License-Identifier: Apache-2.0
# What nic/flash.sh has Vivado do with a card, over JTAG:
#
#   vivado -mode batch -source card.tcl -tclargs ACTION SERVER CABLE DEVICE [FLASH_PART MCS | BIT]
#
#   identify   is there one cable of that name with that device? changes nothing
#   flash      erase, program and verify the part of the flash that the MCS file fills
#   golden     erase that part: the card then boots the factory image in front of it
#   volatile   load a bitstream until the next boot
#   boot       boot from flash

lassign $argv action server cable device_name

open_hw_manager
connect_hw_server -url $server -allow_non_jtag

set cables [get_hw_targets -quiet "*$cable*"]
if {[llength $cables] != 1} {
    error "[llength $cables] JTAG cables match '$cable': [join $cables {, }]; choose one with --cable"
}
open_hw_target [lindex $cables 0]

set devices [get_hw_devices -quiet $device_name]
if {[llength $devices] != 1} {
    error "no $device_name at this cable, but [get_hw_devices -quiet]: another board"
}
set device [lindex $devices 0]
current_hw_device $device
refresh_hw_device -update_hw_probes false $device

# Flash is reached through a small design of Vivado's own, which is loaded first.
proc with_flash {device part file settings} {
    create_hw_cfgmem -hw_device $device [lindex [get_cfgmem_parts $part] 0]
    set memory [get_property PROGRAM.HW_CFGMEM $device]
    set_property PROGRAM.FILES [list $file] $memory
    # Never the whole memory: in front of the file's addresses is the factory image.
    set_property PROGRAM.ADDRESS_RANGE {use_file} $memory
    set_property PROGRAM.UNUSED_PIN_TERMINATION {pull-none} $memory
    foreach {name value} $settings {
        set_property PROGRAM.$name $value $memory
    }
    create_hw_bitstream -hw_device $device [get_property PROGRAM.HW_CFGMEM_BITFILE $device]
    program_hw_devices $device
    refresh_hw_device -update_hw_probes false $device
    program_hw_cfgmem -hw_cfgmem $memory
}

switch -- $action {
    identify {}
    flash {
        with_flash $device [lindex $argv 4] [lindex $argv 5] {
            ERASE 1 BLANK_CHECK 0 CFG_PROGRAM 1 VERIFY 1 CHECKSUM 0
        }
    }
    golden {
        with_flash $device [lindex $argv 4] [lindex $argv 5] {
            ERASE 1 BLANK_CHECK 1 CFG_PROGRAM 0 VERIFY 0 CHECKSUM 0
        }
    }
    volatile {
        set_property PROGRAM.FILE [lindex $argv 4] $device
        program_hw_devices $device
    }
    boot {
        boot_hw_device $device
        refresh_hw_device -update_hw_probes false $device
        # Where the bit has another name, the rescan that follows tells as well.
        if {![catch {get_property REGISTER.IR.BIT5_DONE $device} done] && $done != 1} {
            error "the card did not boot: DONE is low"
        }
    }
    default {
        error "action $action: identify, flash, golden, volatile or boot"
    }
}

close_hw_target
disconnect_hw_server
puts "card.tcl: $action: done"
