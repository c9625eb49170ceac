# SPDX-License-Identifier: GPL-2.0-only
"""Damaged variants of a 64-bit little-endian ELF file: cor_*.so."""
import struct
import sys

good = open(sys.argv[1], 'rb').read()
shoff, = struct.unpack_from('<Q', good, 0x28)
shnum, = struct.unpack_from('<H', good, 0x3c)
SHT_SYMTAB = 2


def sh_type(i):
    return struct.unpack_from('<I', good, shoff + i * 64 + 4)[0]


at = next(i for i in range(shnum) if sh_type(i) == SHT_SYMTAB)
sh = shoff + at * 64
off, size = struct.unpack_from('<QQ', good, sh + 24)
link, = struct.unpack_from('<I', good, sh + 40)
str_off, str_size = struct.unpack_from('<QQ', good, shoff + link * 64 + 24)


def put(name, *edits, tail=b''):
    data = bytearray(good) + tail
    for where, fmt, value in edits:
        struct.pack_into(fmt, data, where, value)
    open('cor_%s.so' % name, 'wb').write(data)


put('none')
put('entsize0', (sh + 56, '<Q', 0))
put('hugesize', (sh + 32, '<Q', 1 << 60))
put('offwrap', (sh + 24, '<Q', 2**64 - 16))
put('link', (sh + 40, '<I', 9999))
put('linkself', (sh + 40, '<I', at))
put('compressed', (sh + 8, '<Q', 0x800))
put('names', *[(off + k * 24, '<I', 0x7fffffff) for k in range(1, size // 24)])
put('misalign', (sh + 24, '<Q', off + 1))
put('shnum', (0x3c, '<H', 0xfeff))
put('shoff', (0x28, '<Q', len(good) - 8))
put('shndx', *[(off + k * 24 + 6, '<H', 0xfe00) for k in range(1, size // 24)])
put('outside', *[(off + k * 24 + 8, '<Q', 0x10)
                 for k in range(1, size // 24)])
put('nonul', *[(k, 'B', 0x41) for k in range(str_off, str_off + str_size)
               if good[k] == 0])
# One name of 4 KiB at the end of a string table moved behind the file.
put('longname', (shoff + link * 64 + 24, '<Q', len(good)),
    (shoff + link * 64 + 32, '<Q', str_size + 4097),
    tail=good[str_off:str_off + str_size] + b'n' * 4096 + b'\0')
for name, n in (('trunc', len(good) // 2), ('hdr', 64), ('10b', 10),
                ('empty', 0)):
    open('cor_%s.so' % name, 'wb').write(good[:n])
