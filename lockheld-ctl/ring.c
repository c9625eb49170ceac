// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring.h"

int ring_map(struct ring *r, int fd, int cpu, size_t pages)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	void *p;

	r->fd = fd;
	r->cpu = cpu;
	r->size = pages * page_size;
	p = mmap(NULL, r->size + page_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		 fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	r->page = p;
	return 0;
}

void ring_unmap(struct ring *r)
{
	if (r->page)
		munmap(r->page, r->size + (size_t)sysconf(_SC_PAGESIZE));
	r->page = NULL;
}

void ring_begin(struct ring *r)
{
	r->end = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

const struct perf_event_header *ring_next(struct ring *r)
{
	const unsigned char *data = (unsigned char *)r->page +
				    sysconf(_SC_PAGESIZE);
	const struct perf_event_header *h;
	size_t at = r->at & (r->size - 1), part = r->size - at;

	if (r->at >= r->end)
		return NULL;
	h = (const void *)(data + at);
	if (h->size < sizeof(*h))
		return NULL;
	r->at += h->size;
	if (h->size <= part)
		return h;
	memcpy(r->copy, h, part);
	memcpy(r->copy + part, data, h->size - part);
	return (const void *)r->copy;
}

void ring_done(struct ring *r)
{
	r->at = r->end;
	__atomic_store_n(&r->page->data_tail, r->at, __ATOMIC_RELEASE);
}
