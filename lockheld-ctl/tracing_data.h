/* SPDX-License-Identifier: GPL-2.0-only */
/* The tracing section: formats of the tracepoints in a recording. */
#ifndef LOCKHELD_CTL_TRACING_DATA_H
#define LOCKHELD_CTL_TRACING_DATA_H

#include "events.h"

/* From the heap, with its length in @len; NULL if tracefs could not be read. */
char *tracing_data(const struct events *events, size_t *len);

#endif
