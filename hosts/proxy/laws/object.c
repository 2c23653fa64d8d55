// SPDX-License-Identifier: Apache-2.0
#include "object.h"

#include <stdlib.h>
#include <string.h>

static const struct law_calls *const forms[] = {law_first_form, law_stack_form, law_rate_form};

static const struct law_parameter parameters[] = {
#define CC_PARAM(name, value, min, max) {#name, value, min, max},
#include "cc/params.def"
#undef CC_PARAM
};

#define PARAMETERS (sizeof(parameters) / sizeof(parameters[0]))

_Static_assert(sizeof(struct cc_params) == PARAMETERS * sizeof(__u32), "a parameter is a 32-bit number");

static const struct law_calls *find(__u32 index)
{
	for (size_t form = 0; form < sizeof(forms) / sizeof(forms[0]); form++) {
		for (const struct law_calls *calls = forms[form]; calls->description.name; calls++) {
			if (!index--)
				return calls;
		}
	}
	return NULL;
}

const struct law_description *law_describe(__u32 index)
{
	const struct law_calls *calls = find(index);

	return calls ? &calls->description : NULL;
}

const struct law_parameter *law_parameter(__u32 index)
{
	return index < PARAMETERS ? &parameters[index] : NULL;
}

static size_t size_of(const struct law_calls *calls)
{
	return sizeof(struct law) + calls->description.state_bytes;
}

static __u32 *value_of(const struct law *law, __u32 index)
{
	return (__u32 *)&law->params + index;
}

struct law *law_new(__u32 index, __u32 seed)
{
	const struct law_calls *calls = find(index);
	struct law *law = calls ? calloc(1, size_of(calls)) : NULL;

	if (!law)
		return NULL;
	law->calls = calls;
	law->seed = seed;
	for (__u32 i = 0; i < PARAMETERS; i++)
		*value_of(law, i) = parameters[i].value;
	return law;
}

struct law *law_clone(const struct law *law)
{
	size_t bytes = size_of(law->calls);
	struct law *clone = malloc(bytes);

	if (clone)
		memcpy(clone, law, bytes);
	return clone;
}

void law_free(struct law *law)
{
	free(law);
}

int law_set_parameter(struct law *law, __u32 index, __u32 value)
{
	if (index >= PARAMETERS || value < parameters[index].min || value > parameters[index].max)
		return 0;
	*value_of(law, index) = value;
	return 1;
}

__u32 law_get_parameter(const struct law *law, __u32 index)
{
	return index < PARAMETERS ? *value_of(law, index) : 0;
}

/* Without headers what was echoed before stays: a law that hears again compares with it. */
void law_hear(struct law *law, const struct law_echo *echo)
{
	struct flow *flow = &law->flow;

	flow->id.aware = echo->is_aware;
	flow->id.tags = echo->is_aware && echo->tags;
	if (!echo->is_aware)
		return;
	flow->echo.reverse_feedback = echo->reverse_feedback;
	flow->echo.nr_echoes = echo->nr_echoes;
	flow->echo.rev_corrupt = echo->rev_corrupt;
	flow->echo.rev_congest = echo->rev_congest;
	flow->echo.regulated = echo->regulated;
	flow->echo.field = echo->field;
	flow->stats.corrupt = echo->corrupt;
	flow->stats.congest = echo->congest;
	flow->stats.local_drops = echo->local_drops;
}

void law_request(const struct law *law, struct law_request *request)
{
	const struct flow_request *wanted = &law->flow.request;

	memset(request, 0, sizeof(*request));
	request->rtt = wanted->rtt;
	request->x = wanted->x;
	request->delta_throughput = wanted->delta_throughput;
	request->full_len = wanted->full_len;
	request->wanted = wanted->wanted;
	request->field = wanted->field;
	request->ect1 = wanted->ect1;
}

__u32 law_reductions(const struct law *law, __u32 reason)
{
	return reason < FLOW_REASONS ? law->flow.stats.reduced[reason] : 0;
}

void law_note_reduction(struct law *law, __u32 reason)
{
	if (reason < FLOW_REASONS)
		law->flow.stats.reduced[reason]++;
}

void law_start(struct law *law, struct law_connection *connection)
{
	law->calls->start(law, connection);
}

void law_on_ack(struct law *law, struct law_connection *connection, const struct law_ack *ack)
{
	if (law->calls->on_ack)
		law->calls->on_ack(law, connection, ack);
}

void law_grow(struct law *law, struct law_connection *connection, __u32 acked)
{
	if (law->calls->grow)
		law->calls->grow(law, connection, acked);
}

void law_on_acked(struct law *law, struct law_connection *connection, __u32 packets, __s64 rtt_us)
{
	if (law->calls->on_acked)
		law->calls->on_acked(law, connection, packets, rtt_us);
}

void law_on_state(struct law *law, struct law_connection *connection, __u32 next)
{
	if (law->calls->on_state)
		law->calls->on_state(law, connection, (__u8)next);
}

void law_on_event(struct law *law, struct law_connection *connection, __u32 event)
{
	if (law->calls->on_event)
		law->calls->on_event(law, connection, (__u8)event);
}

void law_on_lost(struct law *law, struct law_connection *connection, const struct law_lost *lost)
{
	if (law->calls->on_lost)
		law->calls->on_lost(law, connection, lost);
}

__u32 law_ssthresh(struct law *law, struct law_connection *connection)
{
	return law->calls->ssthresh(law, connection);
}

__u32 law_undo(struct law *law, struct law_connection *connection)
{
	return law->calls->undo(law, connection);
}
