// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of slab objects. The kernel keeps to itself where a slab points at its
 * cache and a cache at its name, so both are found out with a cache of our own.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "lockheld.h"

#define CACHE_NAME	"lockheld_calibration"
/* Where to look: a page's descriptor, and the first part of a cache's. */
#define SLAB_WORDS	(sizeof(struct page) / sizeof(long))
#define CACHE_WORDS	64

/* Offsets in bytes; 0 if they were not found. */
static unsigned int cache_offset, name_offset;

/* A cache with a constructor is not merged with others. */
static void construct(void *object)
{
	memset(object, 0, 64);
}

static bool read_long(unsigned long addr, unsigned long *value)
{
	return !copy_from_kernel_nofault(value, (void *)addr, sizeof(*value));
}

/* As strncpy_from_kernel_nofault(), which is not exported. */
static bool read_string(unsigned long addr, char *buf, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		if (copy_from_kernel_nofault(&buf[i], (void *)addr + i, 1))
			return false;
		if (!buf[i])
			return i > 0;
	}
	return false;
}

static unsigned int find_cache(struct page *page, struct kmem_cache *cache)
{
	unsigned long value;
	unsigned int i;

	for (i = 1; i < SLAB_WORDS; i++) {
		if (read_long((unsigned long)page + i * sizeof(long), &value) &&
		    value == (unsigned long)cache)
			return i * sizeof(long);
	}
	return 0;
}

static unsigned int find_name(struct kmem_cache *cache)
{
	char text[sizeof(CACHE_NAME)];
	unsigned long value;
	unsigned int i;

	for (i = 1; i < CACHE_WORDS; i++) {
		if (!read_long((unsigned long)cache + i * sizeof(long), &value))
			break;
		if (read_string(value, text, sizeof(text)) &&
		    !strcmp(text, CACHE_NAME))
			return i * sizeof(long);
	}
	return 0;
}

int lh_slab_init(void)
{
	struct kmem_cache *cache;
	void *object;

	cache = kmem_cache_create(CACHE_NAME, 64, 0, 0, construct);
	if (!cache)
		return -ENOMEM;
	object = kmem_cache_alloc(cache, GFP_KERNEL);
	if (object) {
		cache_offset = find_cache(virt_to_head_page(object), cache);
		name_offset = find_name(cache);
		kmem_cache_free(cache, object);
	}
	kmem_cache_destroy(cache);
	return 0;
}

int lh_slab_name(unsigned long addr, char *buf, size_t size)
{
	unsigned long cache, name;
	struct page *page;

	if (!cache_offset || !name_offset || !virt_addr_valid((void *)addr))
		return -ENOENT;
	page = virt_to_head_page((void *)addr);
	if (!PageSlab(page) ||
	    !read_long((unsigned long)page + cache_offset, &cache) ||
	    !read_long(cache + name_offset, &name) ||
	    !read_string(name, buf, size))
		return -ENOENT;
	return 0;
}
