// SPDX-License-Identifier: GPL-2.0-only
/*
 * The terms of a filter that speak of the sample itself. Any context, NMI
 * included: they take no lock, allocate nothing and fault on nothing.
 */
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "lockheld.h"

/* ---- pages ---- */

/**
 * struct page_at - the page at an address, as it is mapped now
 * @size: in bytes
 * @phys: where the address is in memory
 */
struct page_at {
	unsigned long size;
	phys_addr_t phys;
};

/* Page tables of the kernel may go while they are looked at. */
#define read_entry(entry, from) \
	(!copy_from_kernel_nofault(&(entry), from, sizeof(entry)))

static void set_page(struct page_at *page, unsigned long pfn,
		     unsigned long size, unsigned long addr)
{
	page->size = size;
	page->phys = PFN_PHYS(pfn) + (addr & (size - 1));
}

/* With interrupts off, since the tables are freed when no CPU has them on. */
static bool walk(struct mm_struct *mm, unsigned long addr,
		 struct page_at *page)
{
	pgd_t pgd, *pgdp = pgd_offset(mm, addr);
	p4d_t p4d, *p4dp;
	pud_t pud, *pudp;
	pmd_t pmd, *pmdp;
	pte_t pte;

	if (!read_entry(pgd, pgdp) || !pgd_present(pgd))
		return false;
	p4dp = p4d_offset_lockless(pgdp, pgd, addr);
	if (!read_entry(p4d, p4dp) || !p4d_present(p4d))
		return false;
	pudp = pud_offset_lockless(p4dp, p4d, addr);
	if (!read_entry(pud, pudp) || !pud_present(pud))
		return false;
	if (pud_leaf(pud)) {
		set_page(page, pud_pfn(pud), PUD_SIZE, addr);
		return true;
	}
	pmdp = pmd_offset_lockless(pudp, pud, addr);
	if (!read_entry(pmd, pmdp) || !pmd_present(pmd))
		return false;
	if (pmd_leaf(pmd)) {
		set_page(page, pmd_pfn(pmd), PMD_SIZE, addr);
		return true;
	}
	if (!read_entry(pte, pte_offset_kernel(&pmd, addr)) ||
	    !pte_present(pte))
		return false;
	set_page(page, pte_pfn(pte), PAGE_SIZE, addr);
	return true;
}

/* The tables through which the running code sees @addr; NULL if out of reach. */
static struct mm_struct *tables_of(unsigned long addr)
{
	if (addr < TASK_SIZE_MAX)
		return current->mm;
	/* Elsewhere the kernel's own are not part of a task's. */
	if (IS_ENABLED(CONFIG_X86) && addr >= PAGE_OFFSET)
		return current->active_mm;
	return NULL;
}

static struct page_at find_page(unsigned long addr)
{
	struct mm_struct *mm = tables_of(addr);
	struct page_at page = {};
	unsigned long flags;

	if (!addr || !mm)
		return page;
	local_irq_save(flags);
	walk(mm, addr, &page);
	local_irq_restore(flags);
	return page;
}

static u64 phys_addr(unsigned long addr)
{
	if (addr >= PAGE_OFFSET && virt_addr_valid((void *)addr))
		return virt_to_phys((void *)addr);
	return find_page(addr).phys;
}

/* ---- the terms ---- */

/* Of the hierarchy that perf's cgroup events use. */
static u64 cgroup_of_task(void)
{
#ifdef CONFIG_CGROUP_PERF
	return cgroup_id(task_css_check(current, perf_event_cgrp_id,
					true)->cgroup);
#else
	return 0;
#endif
}

u64 lh_term(struct lh_sample *sample, enum lockheld_term term)
{
	struct pid_namespace *ns = sample->root->ns;
	struct perf_sample_data *data = sample->data;

	switch (term) {
	case LOCKHELD_TERM_IP:
		return instruction_pointer(sample->regs);
	case LOCKHELD_TERM_PID:
		return task_tgid_nr_ns(current, ns);
	case LOCKHELD_TERM_TID:
		return task_pid_nr_ns(current, ns);
	case LOCKHELD_TERM_CPU:
		return raw_smp_processor_id();
	case LOCKHELD_TERM_TIME:
		return lh_sample_time(sample->event, data);
	case LOCKHELD_TERM_ADDR:
		return lh_sample_addr(data);
	case LOCKHELD_TERM_PERIOD:
		return data->period;
	case LOCKHELD_TERM_UID:
		return from_kuid(&init_user_ns, current_uid());
	case LOCKHELD_TERM_GID:
		return from_kgid(&init_user_ns, current_gid());
	case LOCKHELD_TERM_IRQ:
		return sample->context;
	case LOCKHELD_TERM_DEPTH:
		return lh_depth(sample);
	case LOCKHELD_TERM_ID:
		return sample->root->id;
	case LOCKHELD_TERM_TXN:
		return lh_sample_txn(data);
	case LOCKHELD_TERM_WEIGHT:
	case LOCKHELD_TERM_WEIGHT1:
	case LOCKHELD_TERM_WEIGHT2:
	case LOCKHELD_TERM_WEIGHT3:
		return lh_sample_weight(sample->event, data,
					term - LOCKHELD_TERM_WEIGHT);
	case LOCKHELD_TERM_PHYS_ADDR:
		return phys_addr(lh_sample_addr(data));
	case LOCKHELD_TERM_CODE_PGSZ:
		return find_page(instruction_pointer(sample->regs)).size;
	case LOCKHELD_TERM_DATA_PGSZ:
		return find_page(lh_sample_addr(data)).size;
	case LOCKHELD_TERM_CGROUP:
		return cgroup_of_task();
	case LOCKHELD_TERM_MEM_OP:
	case LOCKHELD_TERM_MEM_LVLNUM:
	case LOCKHELD_TERM_MEM_SNOOP:
	case LOCKHELD_TERM_MEM_REMOTE:
	case LOCKHELD_TERM_MEM_LOCK:
	case LOCKHELD_TERM_MEM_DTLB:
	case LOCKHELD_TERM_MEM_BLK:
	case LOCKHELD_TERM_MEM_HOPS:
		return lh_mem_src(lh_sample_data_src(data), term);
	default:
		return 0;
	}
}

bool lh_comm(struct lh_sample *sample, const u8 comm[16])
{
	return !strncmp(current->comm, (const char *)comm, TASK_COMM_LEN);
}
