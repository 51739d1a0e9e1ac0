"""The file `payload` of a trace as a stranger reads it who has nothing but docs/trace_format.md. Checksums are left to others."""

import collections
import ctypes
import struct

Entry = collections.namedtuple("Entry", "cpu sequence position bytes")


def unpacked(stored, raw_size):
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    raw = ctypes.create_string_buffer(raw_size)
    size = zstd.ZSTD_decompress(raw, ctypes.c_size_t(raw_size), stored, ctypes.c_size_t(len(stored)))
    assert size == raw_size, size
    return raw.raw


def read(path):
    """All entries, and the accounting if the recording has ended."""
    with open(path, "rb") as file:
        content = file.read()
    magic, version, at, must_understand = struct.unpack_from("<8sIIQ", content)
    assert (magic, version, must_understand) == (b"dyepaylo", 0, 0)
    entries, accounting = [], None
    while at + 32 <= len(content):
        magic, kind, codec, position, raw_size, stored_size = struct.unpack_from("<4sHHQII", content, at)
        assert (magic, position) == (b"PBLK", at)
        raw = content[at + 32:at + 32 + stored_size]
        raw = unpacked(raw, raw_size) if codec == 1 else raw
        if kind == 2:
            accounting = dict(zip(("generated", "kept", "lost", "left_out", "redacted"), struct.unpack_from("<5Q", raw)))
        inside = 0
        while kind == 1 and inside < len(raw):
            sequence, first, length, cpu = struct.unpack_from("<QQIH", raw, inside)
            entries.append(Entry(cpu, sequence, first, raw[inside + 24:inside + 24 + length]))
            inside += (24 + length + 7) // 8 * 8
        at += (32 + stored_size + 7) // 8 * 8
    return entries, accounting
