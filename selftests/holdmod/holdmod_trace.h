/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM holdmod

#if !defined(HOLDMOD_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define HOLDMOD_TRACE_H

#include <linux/tracepoint.h>

#include "holdmod.h"

/* What the running actor holds, or waits for, at this very moment. */
TRACE_EVENT(tick,
	TP_PROTO(const struct hm_record *rec),
	TP_ARGS(rec),

	TP_STRUCT__entry(
		__field(u64, seq)
		__field(u64, lock)
		__field(u64, held_ns)
		__field(u32, scenario)
		__field(u8, truth)
		__field(u8, family)
		__field(u8, mode)
		__field(u8, nheld)
		__field(u8, context)
		__field(u8, source)
	),

	TP_fast_assign(
		__entry->seq = rec->seq;
		__entry->lock = rec->addr;
		__entry->held_ns = rec->held_ns;
		__entry->scenario = rec->scenario;
		__entry->truth = rec->truth;
		__entry->family = rec->family;
		__entry->mode = rec->mode;
		__entry->nheld = rec->depth;
		__entry->context = rec->context;
		__entry->source = rec->source;
	),

	TP_printk("seq=%llu scenario=%u truth=%u family=%u mode=%u lock=0x%llx nheld=%u context=%u source=%u held_ns=%llu",
		  __entry->seq, __entry->scenario, __entry->truth,
		  __entry->family, __entry->mode, __entry->lock,
		  __entry->nheld, __entry->context, __entry->source,
		  __entry->held_ns)
);

#endif /* HOLDMOD_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE holdmod_trace
#include <trace/define_trace.h>
