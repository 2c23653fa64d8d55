/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Every law of stack_laws.def. */
#ifndef CLARION_CC_STACK_LAWS_H
#define CLARION_CC_STACK_LAWS_H

#include "africa.h"
#include "ctcp.h"
#include "fusion.h"
#include "hstcp.h"
#include "libra.h"
#include "stcp.h"

#endif /* CLARION_CC_STACK_LAWS_H */
