// SPDX-License-Identifier: Apache-2.0
// The C of hosts/bpf, as C++ reads it.
#pragma once

#define _Static_assert static_assert
#include "hosts/bpf/cc/params.h"
#include "hosts/bpf/compose.h"
#include "hosts/bpf/fallback.h"
#include "hosts/bpf/receive.h"
#undef _Static_assert
