# SPDX-License-Identifier: GPL-2.0-only
# For people. The kernel's build system reads Kbuild instead.

KDIR ?= /lib/modules/$(shell uname -r)/build
PREFIX ?= /usr/local

ifneq ($(V),1)
MAKEFLAGS += --no-print-directory
endif

all: ctl symres
	@if [ -e "$(KDIR)/Makefile" ]; then \
		$(MAKE) module; \
	else \
		echo "kmod/lockheld.ko was NOT built: there is no kernel to build for in $(KDIR)"; \
		echo "  for the running kernel: apt-get install linux-headers-$$(uname -r)"; \
		echo "  for another one:        make module KDIR=/path/to/its/headers"; \
		echo "  to try it in a VM:      make demo"; \
	fi

module:
	@[ -e "$(KDIR)/Makefile" ] || { \
		echo "no kernel to build for in $(KDIR); say KDIR=... or install linux-headers-$$(uname -r)" >&2; \
		exit 2; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

ctl: symres
	$(MAKE) -C lockheld-ctl

symres:
	$(MAKE) -C symres

# Library and tools below PREFIX; the module, if it was built, for its kernel
install: ctl symres
	$(MAKE) -C symres install
	$(MAKE) -C lockheld-ctl install
	@if [ -e kmod/lockheld.ko ]; then \
		$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_PATH=$(DESTDIR) modules_install; \
	else \
		echo "the module was not built, so it is not installed"; \
	fi

demo:
	selftests/install-packages demo
	$(MAKE) ctl
	selftests/vm/demo.sh

check: check-needs
	$(MAKE) -C selftests run_tests

check-all: check-needs
	$(MAKE) -C selftests run_tests ARGS=-a

# The test fails where the file is out of date, which is what this is for
support-matrix: check-needs
	$(MAKE) -C selftests all
	-selftests/run_tests -a kmod/matrix.sh
	selftests/support-matrix

check-needs:
	selftests/install-packages check
	$(MAKE) ctl

# Ten minutes or so; writes the tables of docs/performance.md
bench:
	selftests/bench/run

# SYMBENCH names the folder of the fixture's generator and of the harness
bench-symres: symres
	selftests/symres/bench

clean:
	$(MAKE) -C lockheld-ctl clean
	$(MAKE) -C symres clean
	$(MAKE) -C selftests clean
	rm -rf build
	@if [ -e "$(KDIR)/Makefile" ]; then $(MAKE) -C $(KDIR) M=$(CURDIR) clean; fi

help:
	@echo 'make            lockheld-ctl and symres, and the module for the running kernel'
	@echo 'make module     kmod/lockheld.ko alone; KDIR=... names another kernel'
	@echo 'make ctl        lockheld-ctl/lockheld-ctl alone'
	@echo 'make symres     the symbolizer alone: library and command'
	@echo 'make install    PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)'
	@echo 'make demo       build, boot a kernel in a VM, record a compiler at work, report'
	@echo 'make check      every test, on this machine and in VMs of the main kernels'
	@echo 'make check-all  the same with VMs of all kernels'
	@echo 'make support-matrix   docs/support-matrix.md, from what each kernel says'
	@echo 'make bench      instructions that lockheld costs, into docs/performance.md'
	@echo 'make bench-symres SYMBENCH=DIR   symres beside other symbolizers'
	@echo 'make clean'
	@echo
	@echo 'V=1 shows the commands. demo and check install the Debian packages they need;'
	@echo 'kernels for the VMs are kept in /var/cache/lockheld (LOCKHELD_CACHE).'

.PHONY: all module ctl symres install demo check check-all support-matrix check-needs bench bench-symres clean help
