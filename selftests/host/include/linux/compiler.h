/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's names that kmod/held.c and kmod/filter.c use. Between any two
 * ordered stores a test may let an interrupt happen.
 */
#ifndef HOST_LINUX_COMPILER_H
#define HOST_LINUX_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

/* Set by a test; called at every point where an interrupt makes a difference. */
extern void (*host_interrupt)(void);

static inline void host_may_interrupt(void)
{
	if (host_interrupt)
		host_interrupt();
}

#define barrier()							\
	do {								\
		__asm__ __volatile__("" ::: "memory");			\
		host_may_interrupt();					\
	} while (0)
#undef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#define likely(x)	(x)
#define unlikely(x)	(x)
#define READ_ONCE(x)	(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)						\
	do {								\
		host_may_interrupt();					\
		*(volatile __typeof__(x) *)&(x) = (value);		\
		host_may_interrupt();					\
	} while (0)

#endif
