// SPDX-License-Identifier: GPL-2.0-only
/* faults ADDRESS N: takes N page faults, one for each page from ADDRESS on. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long page = sysconf(_SC_PAGESIZE);
	unsigned long address;
	volatile char *p;
	long i, n;

	if (argc != 3) {
		fprintf(stderr, "usage: faults ADDRESS N\n");
		return 64;
	}
	address = strtoul(argv[1], NULL, 0);
	n = strtol(argv[2], NULL, 0);
	p = mmap((void *)address, n * page, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (p == MAP_FAILED) {
		perror("faults: mmap");
		return 1;
	}
	/* A huge page would be one fault. */
	madvise((void *)p, n * page, MADV_NOHUGEPAGE);
	for (i = 0; i < n; i++)
		p[i * page] = 1;
	return 0;
}
