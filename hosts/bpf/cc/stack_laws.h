/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Every law of stack_laws.def. */
#ifndef CLARION_CC_STACK_LAWS_H
#define CLARION_CC_STACK_LAWS_H

#include "africa.h"
#include "areno.h"
#include "bic.h"
#include "ctcp.h"
#include "fusion.h"
#include "hstcp.h"
#include "htcp.h"
#include "hybla.h"
#include "illinois.h"
#include "libra.h"
#include "nctcp.h"
#include "scps.h"
#include "stcp.h"
#include "vegas.h"
#include "westwood.h"
#include "westwood_mod.h"
#include "westwood_new.h"
#include "westwood_plus.h"
#include "yeah.h"

#endif /* CLARION_CC_STACK_LAWS_H */
