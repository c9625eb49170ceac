#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""oracle.py ROOT < LIST: what an honest symbolizer may say, a line for each.

LIST has lines PATH<tab>OFFSET<tab>VADDR. A line of the answer is a set of
names, tabs between them: those of the innermost symbols whose own size holds
the address; where none does, "~" and the names of the sizeless ones before it,
up to the next symbol or the end of their section; "??" if there are none. Read
with nothing but the ELF specification, symbol by symbol.
"""
import lzma
import os
import struct
import sys


class Elf:
    def __init__(self, blob):
        self.blob = blob
        self.sections = []
        if len(blob) < 64 or blob[:4] != b'\x7fELF' or blob[4] != 2 or blob[5] != 1:
            return
        self.machine, = struct.unpack_from('<H', blob, 18)
        off, = struct.unpack_from('<Q', blob, 40)
        n, strndx = struct.unpack_from('<HH', blob, 60)
        if not off:
            return
        first = struct.unpack_from('<IIQQQQIIQQ', blob, off)
        n = n or first[5]
        strndx = first[6] if strndx == 0xffff else strndx
        self.sections = [struct.unpack_from('<IIQQQQIIQQ', blob, off + 64 * i) for i in range(n)]
        names = self.sections[strndx]
        self.names = [self.string(names, s[0]) for s in self.sections]

    def string(self, table, at):
        start = table[4] + at
        return self.blob[start:self.blob.index(b'\0', start)].decode(errors='surrogateescape')

    def section(self, name):
        for s, n in zip(self.sections, self.names):
            if n == name and s[1] != 8:
                return self.blob[s[4]:s[4] + s[5]]
        return None

    def build_id(self):
        for s in self.sections:
            if s[1] == 7:
                note = self.blob[s[4]:s[4] + s[5]]
                if note[12:16] == b'GNU\0' and note[8] == 3:
                    return note[16:16 + note[4]].hex()
        return None

    def symbols(self, kind):
        """(start, size, type, name, end of its section, visible label or not)"""
        for at, s in enumerate(self.sections):
            if s[1] != kind or s[9] != 24:
                continue
            strings = self.sections[s[6]]
            wide = [t[4] for t in self.sections if t[1] == 18 and t[6] == at]
            for i in range(1, s[5] // 24):
                name, info, other, shndx, value, size = struct.unpack_from(
                    '<IBBHQQ', self.blob, s[4] + 24 * i)
                if shndx == 0xffff and wide:
                    shndx, = struct.unpack_from('<I', self.blob, wide[0] + 4 * i)
                elif shndx >= 0xff00:
                    continue
                if not name or not 0 < shndx < len(self.sections):
                    continue
                sec = self.sections[shndx]
                if not sec[2] & 2 or not sec[3] <= value < sec[3] + sec[5]:
                    continue
                yield (value, size, info & 15, self.string(strings, name).split('@')[0] or '@',
                       sec[3] + sec[5], not sec[2] & 0x400 and other & 3 not in (1, 2))


def companions(root, path, elf):
    """The debug file, by build-id or link; or what .gnu_debugdata holds."""
    bid = elf.build_id()
    places = []
    if bid:
        places.append('%s/usr/lib/debug/.build-id/%s/%s.debug' % (root, bid[:2], bid[2:]))
    link = elf.section('.gnu_debuglink')
    if link:
        name = link[:link.index(b'\0')].decode()
        d = os.path.dirname(root + path)
        places += [d + '/' + name, d + '/.debug/' + name, root + '/usr/lib/debug' + os.path.dirname(path) + '/' + name]
    for p in places:
        if os.path.exists(p) and not os.path.samefile(p, root + path):
            with open(p, 'rb') as f:
                return Elf(f.read())
    return None


class File:
    def __init__(self, root, path):
        with open(root + path, 'rb') as f:
            elf = Elf(f.read())
        debug = companions(root, path, elf)
        full = list(debug.symbols(2)) if debug else []
        full += elf.symbols(2)
        mini = elf.section('.gnu_debugdata')
        if not full and mini:
            full += Elf(lzma.decompress(mini)).symbols(2)
        self.sized, self.sizeless, starts = [], [], set()
        for table, complete in ((full, True), (elf.symbols(11), False)):
            for start, size, kind, name, end, label in table:
                if kind not in (0, 1, 2, 10) or kind == 0 and name.startswith('.L'):
                    continue
                starts.add(start)
                if kind == 0 and not label:
                    continue
                if size:
                    self.sized.append((start, min(start + size, end), kind != 0, name))
                else:
                    self.sizeless.append((start, end if complete else start + 1, name))
        self.sized.sort()
        self.starts = sorted(starts)
        self.reach = []
        top = 0
        for s in self.sized:
            top = max(top, s[1])
            self.reach.append(top)
        self.beginning = {}
        for s in self.sizeless:
            self.beginning.setdefault(s[0], []).append(s)
        self.taken = {s[0] for s in self.sized}
        plt = [s for s, n in zip(elf.sections, elf.names) if n.startswith(('.plt', '.iplt'))]
        self.plt = [(s[3], s[3] + s[5]) for s in plt if s[1] == 1 and s[2] & 4]

    def names(self, addr):
        import bisect
        if any(a <= addr < b for a, b in self.plt):
            return None
        i = bisect.bisect_right(self.sized, (addr, 1 << 65))
        best = []
        while i > 0 and self.reach[i - 1] > addr:
            i -= 1
            s = self.sized[i]
            if s[0] <= addr < s[1]:
                # Typed ones hide labels; then the last begun, the first ended.
                key = (s[2], s[0], -s[1])
                if not best or key > best[0]:
                    best = [key, [s[3]]]
                elif key == best[0]:
                    best[1].append(s[3])
        if best:
            return sorted(set(best[1]))
        i = bisect.bisect_right(self.starts, addr)
        if not i or self.starts[i - 1] in self.taken:
            return ['??']
        got = [n for _, end, n in self.beginning.get(self.starts[i - 1], []) if addr < end]
        return ['~'] + sorted(set(got)) if got else ['??']


def main():
    root, files = sys.argv[1], {}
    for line in sys.stdin:
        path, _, vaddr = line.rstrip('\n').split('\t')
        f = files.get(path) or files.setdefault(path, File(root, path))
        names = f.names(int(vaddr, 16))
        print('\t'.join(names) if names else '*')


main()
