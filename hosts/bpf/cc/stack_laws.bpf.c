// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/* The laws in the second form as struct_ops. None of them is loaded before somebody asks for it by name. Laws
 * that this kernel brings itself, as Reno and CUBIC, are not among them.
 */
#include "stack_glue.h"

#include "stack_laws.h"

#define LAW	 africa
#define LAW_NAME clarion_africa
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 areno
#define LAW_NAME clarion_areno
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 bic
#define LAW_NAME clarion_bic
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 ctcp
#define LAW_NAME clarion_ctcp
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 fusion
#define LAW_NAME clarion_fusion
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 hstcp
#define LAW_NAME clarion_hstcp
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 htcp
#define LAW_NAME clarion_htcp
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 hybla
#define LAW_NAME clarion_hybla
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 illinois
#define LAW_NAME clarion_illin
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 libra
#define LAW_NAME clarion_libra
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 nctcp
#define LAW_NAME clarion_nctcp
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 scps
#define LAW_NAME clarion_scps
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 stcp
#define LAW_NAME clarion_stcp
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 vegas
#define LAW_NAME clarion_vegas
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 westwood
#define LAW_NAME clarion_westwd
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 westwood_mod
#define LAW_NAME clarion_westwm
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 westwood_new
#define LAW_NAME clarion_westwn
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 westwood_plus
#define LAW_NAME clarion_westwp
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#define LAW	 yeah
#define LAW_NAME clarion_yeah
#include "stack_ops.h"
#undef LAW
#undef LAW_NAME

#include "prague_ops.h"

char _license[] SEC("license") = "GPL"; /* as in cc.bpf.c */
