// SPDX-License-Identifier: GPL-2.0-only
/*
 * lockbpf OBJECT FAMILY...: attaches the programs of lockbpf.bpf.c that belong
 * to these families, says "ready", and waits for a signal.
 */
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_wanted(const char *program, char **families)
{
	for (; *families; families++) {
		size_t len = strlen(*families);

		if (!strncmp(program, *families, len) &&
		    !strncmp(program + len, "__", 2))
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct bpf_program *program;
	struct bpf_object *object;

	if (argc < 3) {
		fprintf(stderr, "usage: lockbpf OBJECT FAMILY...\n");
		return 64;
	}
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	object = bpf_object__open(argv[1]);
	if (!object)
		return 1;
	bpf_object__for_each_program(program, object)
		bpf_program__set_autoload(program,
			is_wanted(bpf_program__name(program), argv + 2));
	if (bpf_object__load(object))
		return 1;
	bpf_object__for_each_program(program, object) {
		if (bpf_program__autoload(program) &&
		    !bpf_program__attach(program))
			return 1;
	}
	if (puts("ready") == EOF || fflush(stdout))
		return 1;
	pause();
	/* Links go with the process. */
	return 0;
}
