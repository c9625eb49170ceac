/* SPDX-License-Identifier: GPL-2.0-only */
/* Names for the addresses in a recording. An address always gets one. */
#ifndef LOCKHELD_CTL_SYMBOLS_H
#define LOCKHELD_CTL_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "notes.h"
#include "perfdata.h"
#include "procmaps.h"

/* One for each name and module: they can be told apart by their address. */
struct label {
	const char *name;	/* "vm_mmap", "libc.so.6+0x1234", "[unknown]" */
	const char *module;	/* "[kernel]", "/usr/lib/libc.so.6", "" */
	bool known;		/* a symbol was found */
};

struct symbols;

/* The arguments stay in use until symbols_free(). */
struct symbols *symbols_new(const struct pd_reader *reader,
			    const struct notes *notes, struct procmaps *maps);
void symbols_free(struct symbols *s);

const struct label *symbols_kernel(struct symbols *s, uint64_t addr);
const struct label *symbols_user(struct symbols *s, uint32_t pid,
				 uint64_t addr, uint64_t time);
/* A lock by its symbol ("cgroup_mutex", "table+0x40") or the slab cache of its
 * object ("&mm_struct"), or RCU, which has no address, by its word; NULL: by its
 * address only. */
const struct label *symbols_lock(struct symbols *s, unsigned int family,
				 uint64_t addr);
/* A lock as a frame of a call chain: "[rwsem:R &mm_struct]", "[mutex]". */
const struct label *symbols_held(struct symbols *s, unsigned int family,
				 unsigned int mode, uint64_t addr);

#endif
