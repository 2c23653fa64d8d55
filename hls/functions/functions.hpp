// SPDX-License-Identifier: Apache-2.0
// Every function of the block (contract/functions.yaml).
#pragma once

#include "hls/functions/classify.hpp"
#include "hls/functions/control.hpp"
#include "hls/functions/departure.hpp"
#include "hls/functions/interval.hpp"
#include "hls/functions/patch.hpp"
#include "hls/functions/sequence.hpp"
