// SPDX-License-Identifier: Apache-2.0
// The laws of hosts/bpf/cc at a simulated sender: what glue.h and ops.h there are for the kernel.
#pragma once

#include <memory>
#include <string>

#include "sim/hosts/bpf_headers.hpp"
#include "sim/tcp/congestion_control.hpp"

struct cc_params;

namespace clarion::sim {

// The law of that name ("clarion_xcp", ...), null if there is none. `flow` and `params` must outlive it.
std::unique_ptr<CongestionControl> make_clarion_law(const std::string& name, flow& flow,
                                                    const cc_params& params);

const cc_params& default_params();

// Sets a parameter by name. False: there is none of that name, or the value is out of its range.
bool set_param(cc_params& params, const std::string& name, std::uint32_t value);

}  // namespace clarion::sim
