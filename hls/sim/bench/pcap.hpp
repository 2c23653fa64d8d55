// SPDX-License-Identifier: Apache-2.0
// Captures through the block: classic pcap, of the byte order of this machine, microseconds or nanoseconds.
#pragma once

namespace clarion::sim {

// Sends the frames of `in` through a bump in the wire as it is after power-on, from port 0 to port 1, with
// XCP off and numbers and checks on; writes the frames that leave to `out`, with the time stamps of those
// that came in. Returns a program's exit status: 2, with one line on standard error, for an invalid file.
int pass_pcap(const char* in, const char* out);

}  // namespace clarion::sim
