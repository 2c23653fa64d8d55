// SPDX-License-Identifier: Apache-2.0
// The shell asks for this file. clarion_axil_crossing answers what is outside the one window of 64 KiB.
