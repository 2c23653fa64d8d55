/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Run-time parameters of the laws, one set per network namespace. Meaning and ranges: params.def. */
#ifndef CLARION_CC_PARAMS_H
#define CLARION_CC_PARAMS_H

#include <linux/types.h>

struct cc_params {
#define CC_PARAM(name, value, min, max) __u32 name;
#include "params.def"
#undef CC_PARAM
};

/* Values of xcp_loss. */
enum xcp_loss_policy {
	XCP_LOSS_RENO = 0,
	XCP_LOSS_ONE = 1,
	XCP_LOSS_NONE = 2,
};

/* Values of boost_loss. */
enum boost_loss_policy {
	BOOST_LOSS_LITERAL = 0,
	BOOST_LOSS_TAGGED = 1,
	BOOST_LOSS_JUDGED = 2,
};

/* Values of fast_alpha_rule. */
enum fast_alpha_rule {
	FAST_ALPHA_CONSTANT = 0,
	FAST_ALPHA_GENERALIZED = 1,
	FAST_ALPHA_ADAPTIVE = 2,
};

#endif /* CLARION_CC_PARAMS_H */
