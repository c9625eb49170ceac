// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as .gnu_debugdata: as they are, and as what is in it compressed. */
#include <lzma.h>

#include "fuzz_base.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	base_read();
	return 0;
}

static void look(const void *section, size_t len, bool perf)
{
	struct symres_place pl = { .path = (char[]){ "elf" } };
	struct symres s = { .debug_dirs = (char[]){ "" }, .perf = perf };
	struct symres_sym sym = { .size = sizeof(sym) };
	unsigned char *elf;
	size_t size;

	elf = base_with(".gnu_debugdata", section, len, &size);
	if (place_memory(&s, &pl, elf, size))
		abort();
	for (uint64_t addr = 0x1000; addr < 0x1400; addr += 3) {
		sym = (struct symres_sym) { .size = sizeof(sym) };
		if (place_name(&s, &pl, addr, false, &sym) <= 0)
			continue;
		if (!sym.name || !*sym.name || sym.addr > addr ||
		    (sym.sym_size && addr - sym.addr >= sym.sym_size))
			abort();
	}
	range_list_free(&s.spare);
	free(s.name.s);
	file_free(s.file[0]);
	free(s.file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned char xz[1 << 18];
	size_t len = 0;

	if (lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, data, size, xz,
				    &len, sizeof(xz)) == LZMA_OK)
		look(xz, len, size & 1);
	if (size % 8 == 0)
		look(data, size, false);
	return 0;
}
