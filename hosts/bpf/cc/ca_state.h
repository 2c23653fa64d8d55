/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The states of a connection's congestion control (include/uapi/linux/tcp.h). */
#ifndef CLARION_CC_CA_STATE_H
#define CLARION_CC_CA_STATE_H

enum {
	CA_STATE_OPEN = 0,
	CA_STATE_CWR = 2,
	CA_STATE_RECOVERY = 3,
	CA_STATE_LOSS = 4,
};

#endif /* CLARION_CC_CA_STATE_H */
