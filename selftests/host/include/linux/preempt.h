/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of preempt_count(), with places of this test's own choice. */
#ifndef HOST_LINUX_PREEMPT_H
#define HOST_LINUX_PREEMPT_H

#define SOFTIRQ_OFFSET	(1u << 8)
#define HARDIRQ_MASK	(1u << 16)
#define NMI_MASK	(1u << 20)

#endif
