// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as kernel symbols: every symbol found must be found again by its
 * address, or one that shares it. */
#include <stdlib.h>
#include <string.h>
#include <symres.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	uint64_t addr[256];
	uint32_t kind[256];
	size_t n;
};

static int remember(const struct symres_sym *sym, void *arg)
{
	struct seen *seen = arg;

	if (!sym->name || !*sym->name || !sym->module)
		abort();
	if (seen->n < 256) {
		seen->kind[seen->n] = sym->kind;
		seen->addr[seen->n++] = sym->addr;
	}
	return 0;
}

static int check_module(const struct symres_module *mod, void *arg)
{
	(void)arg;
	if (mod->start > mod->end || !mod->symbols || !*mod->name)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symres_sym sym = { .size = sizeof(sym) };
	struct seen seen = { .n = 0 };
	struct symres *s;
	long found, again;

	if (!size || symres_open(&s, NULL))
		return 0;
	if (symres_kallsyms(s, (const char *)data, size))
		abort();
	found = symres_find_kernel(s, NULL, remember, &seen);
	again = symres_kernel_modules(s, check_module, NULL);
	if ((found < 0) != (again < 0))
		abort();
	for (size_t i = 0; i < seen.n; i++) {
		int ret = symres_lookup_kernel(s, seen.addr[i], &sym);

		if (ret < 0 || (ret && seen.kind[i] != SYMRES_KIND_ABS &&
				sym.offset))
			abort();
		symres_lookup_kernel(s, seen.addr[i] + 7, &sym);
	}
	symres_lookup_kernel(s, 0, &sym);
	symres_lookup_kernel(s, UINT64_MAX, &sym);
	symres_close(s);
	return 0;
}
