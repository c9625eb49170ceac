// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as .gnu_debuglink, the first 32, and as the debug file beside the
 * program, the rest. */
#include <unistd.h>

#include "fuzz_base.h"

enum { LINK = 32 };

static char dir[] = "/tmp/symres-fuzz-XXXXXX";
static char elf_path[64], debug_path[64];

static void remove_all(void)
{
	unlink(debug_path);
	unlink(elf_path);
	rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	base_read();
	if (!mkdtemp(dir))
		die(dir);
	snprintf(elf_path, sizeof(elf_path), "%s/elf", dir);
	snprintf(debug_path, sizeof(debug_path), "%s/app.debug", dir);
	atexit(remove_all);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symres_opts opts = {
		.size = sizeof(opts), .debug_dirs = dir,
		.policy = size & 1 ? SYMRES_POLICY_PERF : SYMRES_POLICY_HONEST,
	};
	size_t link = size < LINK ? size : LINK, len;
	unsigned char *elf = base_with(".gnu_debuglink", data, link, &len);
	struct symres *s;

	write_file(elf_path, elf, len);
	write_file(debug_path, data + link, size - link);
	free(elf);
	if (symres_open(&s, &opts))
		die("symres_open");
	look_everywhere(s, elf_path);
	symres_close(s);
	return 0;
}
