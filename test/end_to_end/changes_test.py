#!/usr/bin/env python3
"""What changes a file's bytes without a call that moves bytes: from what was there before nothing flows any more. The truth is what the program finds there."""

import contextlib
import os
import subprocess
import sys

import support
from following import FollowTest

BLOCK = 4096

# Writes four blocks, lets `change` have its way and says which blocks are still what it wrote. It reads them again: that is what flows are asked about.
PARTS = r"""
import ctypes, fcntl, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def lacks(what):
    print("no", what, "here:", os.strerror(ctypes.get_errno()))
    sys.exit()
def made(name):
    fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(fd, os.urandom(16384))
    return fd
def ioctl(fd, command, argument):
    done = libc.ioctl(fd, ctypes.c_ulong(command), argument)
    if done != 0:
        lacks(hex(command))
def space(whence, start):
    return struct.pack("=hhiqq28x", 0, whence, 0, start, 4096)
def put(name, change):
    fd = made(name)
    before = os.pread(fd, 16384, 0)
    change(fd)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    after = os.pread(fd, 16384, 0)
    print(name, *(i for i in range(4) if after[i * 4096:][:4096] == before[i * 4096:][:4096]))
"""
HANDLE = r"""
def emptied(fd):
    handle = (ctypes.c_char * 136)()
    ctypes.c_uint.from_buffer(handle).value = 128
    mount = ctypes.c_int()
    assert libc.name_to_handle_at(fd, b"", handle, ctypes.byref(mount), 0x1000) == 0
    again = libc.open_by_handle_at(-100, handle, os.O_RDWR | os.O_TRUNC)
    if again < 0:
        lacks("open_by_handle_at")
    os.truncate(again, 16384)
put("handle", emptied)
"""
RANGES = r"""
put("zeroed", lambda fd: ioctl(fd, 0x40305839, space(0, 4096)))
put("punched", lambda fd: ioctl(fd, 0x4030582b, space(2, -8192)))
put("punched_too", lambda fd: ioctl(fd, 0x40305829, space(1, -12288)))
put("failed", lambda fd: libc.ioctl(fd, ctypes.c_ulong(0x4030582b), None))
"""
CLONES = r"""
put("cloned", lambda fd: ioctl(fd, 0x40049409, made("source")))
put("range", lambda fd: ioctl(fd, 0x4020940d, struct.pack("qQQQ", made("source2"), 4096, 8192, 4096)))
put("rest", lambda fd: ioctl(fd, 0x4020940d, struct.pack("qQQQ", made("source3"), 8192, 0, 8192)))
"""
DONOR = r"""
def defragmented(fd):
    orig = made("orig")
    os.fsync(fd)
    os.fsync(orig)
    ioctl(orig, 0xc028660f, struct.pack("=IIQQQQ", 0, fd, 0, 0, 4, 0))
put("donor", defragmented)
"""


class ChangesTest(FollowTest):
    def changed(self, folder, program, name):
        """Blocks of each file of which flows say that what was read is what was written; and those of which the program found it so."""
        trace = self.record("--", sys.executable, "-c", PARTS + program, cwd=folder, name=name)
        output = trace.printed.strip()
        if output.startswith("no "):
            self.skipTest(output)
        truth = {line.split()[0]: [int(word) for word in line.split()[1:]] for line in output.splitlines()}
        rows = trace.rows("SELECT parse_filename(e.path) AS name, f.to_offset, f.bytes, certainty FROM flows f JOIN events e ON e.event_id = f.to_event JOIN events w ON w.event_id = f.from_event "
                          f"WHERE rule = 'file' AND w.name = 'write' AND e.event_id IN (SELECT max(event_id) FROM events WHERE name = 'pread64' GROUP BY object_id)")
        found = {name: [] for name in truth}
        for row in rows:
            self.assertEqual("certain", row["certainty"])
            found[row["name"]] += range(int(row["to_offset"]) // BLOCK, (int(row["to_offset"]) + int(row["bytes"])) // BLOCK)
        return trace, truth, {name: sorted(blocks) for name, blocks in found.items()}

    @contextlib.contextmanager
    def mounted(self, maker):
        image, folder = self.path("image"), self.path("mounted")
        subprocess.run(["truncate", "-s", "320M", image], check=True)
        os.mkdir(folder)
        try:
            subprocess.run([*maker, image], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            subprocess.run(["mount", "-o", "loop", image, folder], check=True, stderr=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError) as error:
            self.skipTest(str(error))
        try:
            yield folder
        finally:
            subprocess.run(["umount", folder], check=True)

    def in_image(self, maker, program, name):
        with self.mounted(maker) as folder:
            return self.changed(folder, program, name)

    def test_a_file_that_is_emptied_by_its_handle_has_nothing_of_before(self):
        trace, truth, found = self.changed(self.folder, HANDLE, "trace")
        self.assertEqual({"handle": []}, truth)
        self.assertEqual(truth, found)
        row, = trace.rows("SELECT fd IS NOT NULL AS has_fd, parse_filename(path) AS name, object_type, arguments FROM events WHERE name = 'open_by_handle_at'")
        self.assertEqual(("true", "handle", "file"), (str(row["has_fd"]).lower(), row["name"], row["object_type"]))
        self.assertEqual("O_RDWR|O_TRUNC", row["arguments"]["flags"])

    def test_ranges_that_an_ioctl_zeroes_have_nothing_of_before(self):
        trace, truth, found = self.in_image(["mkfs.ext4", "-q"], RANGES, "ranges")
        self.assertEqual({"zeroed": [0, 2, 3], "punched": [0, 1, 3], "punched_too": [0, 2, 3], "failed": [0, 1, 2, 3]}, truth)
        self.assertEqual(truth, found)
        self.assertEqual(0, trace.number("SELECT count(*) FROM coverage WHERE source = 'exchanged ranges'"))

    def test_files_that_were_given_the_bytes_of_others_have_nothing_of_before(self):
        trace, truth, found = self.in_image(["mkfs.xfs", "-q"], CLONES, "clones")
        self.assertEqual({"cloned": [], "range": [0, 3], "rest": [0, 1]}, truth)
        self.assertEqual(truth, found)
        self.assertEqual(0, trace.number("SELECT count(*) FROM coverage WHERE source = 'exchanged ranges'"))
        rows = trace.rows("SELECT role, parse_filename(path) AS name, range_begin, range_end FROM event_objects WHERE role IN ('changed', 'copied') ORDER BY event_id, role")
        self.assertEqual([("changed", "cloned", 0, 16384), ("copied", "source", 0, 16384), ("changed", "range", 4096, 12288), ("copied", "source2", 4096, 12288)],
                         [(row["role"], row["name"], *(int(row[end]) if row[end] is not None else None for end in ("range_begin", "range_end"))) for row in rows][:4])
        rows = trace.rows("SELECT parse_filename(w.path) AS source, parse_filename(e.path) AS name, i.from_offset, i.bytes, o.to_offset, certainty FROM flows i JOIN flows o USING (certainty) JOIN events w ON w.event_id = i.from_event "
                          "JOIN events e ON e.event_id = o.to_event JOIN events c ON c.event_id = i.to_event WHERE i.to_event = o.from_event AND c.name = 'ioctl' ORDER BY c.event_id")
        self.assertEqual([("source", "cloned", 0, 16384, 0), ("source2", "range", 4096, 8192, 4096), ("source3", "rest", 8192, 8192, 8192)],
                         [(row["source"], row["name"], *(int(row[number]) for number in ("from_offset", "bytes", "to_offset"))) for row in rows])
        self.assertEqual({"certain"}, {row["certainty"] for row in rows})

    def test_a_file_is_followed_to_its_clones(self):
        with self.mounted(["mkfs.xfs", "-q"]) as folder:
            trace = self.record("--", "sh", "-c", "head -c 300000 /dev/urandom > first; cp first second; cp --reflink=always second third; cat third > fourth", cwd=folder, name="clones")
        self.assertEqual(2, trace.number("SELECT count(*) FROM event_objects WHERE role = 'copied'"))
        trail = self.follow(trace, "--path", f"{folder}/first")
        for name in ("second", "third", "fourth"):
            self.assertIn(f"/{name} 0–300,000", trail)
        self.assertEqual([(300000, "certain")], [(int(row["bytes"]), row["certainty"]) for row in trace.rows(
            "SELECT sum(f.bytes)::BIGINT AS bytes, certainty FROM flows f JOIN events e ON e.event_id = f.to_event WHERE e.name <> 'ioctl' AND e.path LIKE '%/third' GROUP BY certainty")])

    def test_the_donor_of_a_file_that_is_defragmented_has_nothing_of_before(self):
        _, truth, found = self.in_image(["mkfs.ext4", "-q"], DONOR, "donor")
        self.assertEqual({"donor": []}, found, truth)


if __name__ == "__main__":
    support.main()
