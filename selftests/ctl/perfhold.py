#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Opens perf events and runs a command that can use them: the descriptors are in
$EVENTS, and this process, which has them open too, is $HOLDER.

usage: perfhold.py KINDS COMMAND...
KINDS: s an event that samples, c one that only counts, d a duplicate of the
       last descriptor; "ssd" for example
"""
import ctypes
import os
import struct
import subprocess
import sys

PERF_TYPE_SOFTWARE = 1
PERF_COUNT_SW_CPU_CLOCK = 0
SYS_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}[os.uname().machine]


def open_event(period):
    # type, size, config, sample_period, sample_type: the rest is 0
    attr = struct.pack("=IIQQQ", PERF_TYPE_SOFTWARE, 112,
                       PERF_COUNT_SW_CPU_CLOCK, period, 1).ljust(112, b"\0")
    fd = ctypes.CDLL(None, use_errno=True).syscall(
        SYS_PERF_EVENT_OPEN, ctypes.create_string_buffer(attr, 112), 0, -1,
        -1, 0)
    if fd < 0:
        sys.exit("perf_event_open: " + os.strerror(ctypes.get_errno()))
    return fd


def main():
    fds = []
    for kind in sys.argv[1]:
        if kind == "d":
            fds.append(os.dup(fds[-1]))
        else:
            fds.append(open_event(1000000 if kind == "s" else 0))
    env = dict(os.environ, EVENTS=" ".join(map(str, fds)),
               HOLDER=str(os.getpid()))
    for fd in fds:
        os.set_inheritable(fd, True)
    return subprocess.run(sys.argv[2:], env=env, pass_fds=fds,
                          check=False).returncode


sys.exit(main())
