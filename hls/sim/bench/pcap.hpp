// SPDX-License-Identifier: Apache-2.0
// Captures through the block: classic pcap, of the byte order of this machine, microseconds or nanoseconds.
#pragma once

namespace clarion::sim {

// Sends the frames of `in` through a bump in the wire as it is after power-on, from port 0 to port 1, with
// XCP off and numbers and checks on; what leaves goes to `out`, with the time stamps of what came in. Returns
// the exit status of a program: 2 with one line on standard error if a file is not what it should be.
int pass_pcap(const char* in, const char* out);

}  // namespace clarion::sim
