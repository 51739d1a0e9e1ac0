#!/usr/bin/env python3
"""dyetrace pattern: what it says of readers whose order the test knows, and of a program that is not ours."""

import itertools
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys

import support
from support import DYETRACE

RECORDS = 400
# READS is a file of lines `file offset bytes`, made by the test: the reader does exactly these.
READER = """
import os, sys
descriptors = {}
for line in open(sys.argv[1]):
    path, offset, count = line.split()
    if path not in descriptors:
        descriptors[path] = os.open(path, os.O_RDONLY)
    assert len(os.pread(descriptors[path], int(count), int(offset))) == int(count)
"""


class RecordFile:
    """Records of the given sizes one after another, each with a content of its own."""

    def __init__(self, path, contents):
        self.path = path
        ends = list(itertools.accumulate(len(content) for content in contents))
        self.places = [(path, begin, end - begin) for begin, end in zip([0, *ends], ends)]
        with open(path, "wb") as file:
            file.write(b"".join(contents))


def contents(seed, variable):
    source = random.Random(seed)
    return [source.randbytes(source.randrange(50, 2000) if variable else 1024) for _ in range(RECORDS)]


def shuffled(places, seed):
    return random.Random(seed).sample(places, len(places))


def distance(before, after):
    """Kendall's distance, pair by pair."""
    place = {item: number for number, item in enumerate(before)}
    order = [place[item] for item in after]
    pairs = len(order) * (len(order) - 1) / 2
    return sum(b < a for i, a in enumerate(order) for b in order[i + 1:]) / pairs


class PatternTest(support.EndToEndTest):
    def read(self, *passes, options=("--content=hash",)):
        """A recording of a program that reads these places, pass by pass."""
        with open(self.path("reads"), "w", encoding="utf-8") as file:
            file.writelines("%s %d %d\n" % place for places in passes for place in places)
        return self.record(*options, "--", sys.executable, "-c", READER, self.path("reads"))

    def pattern(self, trace, *arguments, status=0):
        done = subprocess.run([DYETRACE, "pattern", trace.path, *arguments], capture_output=True, text=True, timeout=support.PATIENCE_S)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def pattern_of(self, trace, path, *arguments, **options):
        return self.pattern(trace, "--path", support.outer_root() + path, *arguments, **options)

    def group(self, trace, path, *arguments):
        groups = json.loads(self.pattern_of(trace, path, "--json", *arguments).stdout)["groups"]
        self.assertEqual(len(groups), 1)
        return groups[0]

    def beside(self, group, identity="by_place"):
        """What is said of two passes that read the same number of places."""
        first, second = group[identity]["passes"]
        self.assertEqual(first["accesses"], second["accesses"])
        self.assertEqual(first["distinct_bytes"], second["beside_previous"]["common_bytes"])
        return second["beside_previous"]

    def record_file(self, name, variable, seed=1):
        return RecordFile(self.path(name), contents(seed, variable))

    def test_two_epochs_in_the_same_order(self):
        for variable in (False, True):
            with self.subTest(variable=variable):
                file = self.record_file("same.rec", variable)
                shutil.rmtree(self.path("trace"), ignore_errors=True)
                group = self.group(self.read(file.places, file.places), file.path)
                self.assertEqual(group["pattern"], "sequential")
                self.assertEqual(group["coverage"]["covered_bytes"], os.path.getsize(file.path))
                self.assertEqual(group["coverage"]["times_max"], 2)
                for identity in ("by_place", "by_content"):
                    beside = self.beside(group, identity)
                    self.assertEqual((beside["order"], beside["distance"], beside["same_place_share"]), ("same", 0, 1))

    def test_two_epochs_in_another_order_of_fixed_records(self):
        file = self.record_file("fixed.rec", False)
        first, second = shuffled(file.places, 1), shuffled(file.places, 2)
        trace = self.read(first, second)
        group = self.group(trace, file.path)
        self.assertEqual(group["pattern"], "random")
        for identity in ("by_place", "by_content"):
            beside = self.beside(group, identity)
            self.assertEqual(beside["order"], "shuffled")
            self.assertAlmostEqual(beside["distance"], distance(first, second), places=9)
        asked = trace.rows(f"""WITH reads AS (SELECT file_offset, start_ns, row_number() OVER (PARTITION BY file_offset ORDER BY start_ns) AS pass
                                              FROM events WHERE path = '{support.outer_root() + file.path}' AND bytes > 0)
                               SELECT order_distance(list(file_offset ORDER BY start_ns) FILTER (pass = 1),
                                                     list(file_offset ORDER BY start_ns) FILTER (pass = 2)) AS distance FROM reads""")
        self.assertAlmostEqual(float(asked[0]["distance"]), distance(first, second), places=9)
        text = self.pattern_of(trace, file.path).stdout
        self.assertRegex(text, r"\n  by place +2 passes\n")
        self.assertIn(f"shuffled ({distance(first, second):.2f})", text)
        self.assertIn("by content  as by place", text)
        self.assertIn("in its own memory", text, "what it cannot know")
        self.assertEqual([line for line in text.splitlines() if len(line) > 80], [])

    def test_two_epochs_in_another_order_of_records_with_a_length_in_front(self):
        file = self.record_file("variable.rec", True)
        first, second = shuffled(file.places, 1), shuffled(file.places, 2)

        def parts(places):
            return [part for path, begin, size in places for part in ((path, begin, 4), (path, begin + 4, size - 4))]

        group = self.group(self.read(parts(first), parts(second)), file.path)
        self.assertEqual(group["steps"]["sequential"] + group["steps"]["random"] + 1, 4 * RECORDS)
        self.assertEqual(self.beside(group)["order"], "block_shuffled")
        beside = self.beside(group, "by_content")
        self.assertEqual((beside["order"], beside["items"]), ("shuffled", RECORDS), "the lengths are too short to be known")
        self.assertAlmostEqual(beside["distance"], distance(first, second), places=9)

    def test_a_set_of_files_in_another_order(self):
        files = [self.record_file(f"shard-{number:02}.rec", True, number) for number in range(20)]
        first, second = files, shuffled(files, 3)
        trace = self.read([place for file in first for place in file.places], [place for file in second for place in file.places])
        glob = self.path("shard-*.rec")
        beside = self.beside(self.group(trace, glob))
        self.assertEqual(beside["order"], "block_shuffled")
        self.assertAlmostEqual(beside["file_order"]["distance"], distance(first, second), places=9)
        self.assertEqual(beside["order_within_files"]["order"], "same")
        self.assertIn("20 files", self.pattern_of(trace, glob).stdout.splitlines()[0])

    def test_a_file_that_was_sharded_anew_is_known_by_its_content(self):
        records = contents(1, True)
        whole = RecordFile(self.path("old.rec"), records)
        order = shuffled(range(RECORDS), 5)
        shards = [RecordFile(self.path(f"new-{half}.rec"), [records[number] for number in order[half::2]])
                  for half in (0, 1)]
        group = self.group(self.read(whole.places, shards[0].places, shards[1].places), self.path("*.rec"))
        self.assertEqual(len(group["by_place"]["passes"]), 1, "no place is read twice")
        self.assertAlmostEqual(self.beside(group, "by_content")["distance"],
                               distance(range(RECORDS), [*order[0::2], *order[1::2]]), places=9)

    def test_strided_reversed_and_repeated(self):
        file = self.record_file("steps.rec", False)
        for pattern, places in (("strided", file.places[::8]), ("reversed", file.places[::-1]), ("repeated", file.places[5:6] * 50)):
            with self.subTest(pattern=pattern):
                shutil.rmtree(self.path("trace"), ignore_errors=True)
                group = self.group(self.read(places, options=()), file.path)
                self.assertEqual((group["pattern"], group["stride"]), (pattern, 8192 if pattern == "strided" else 0))
                self.assertIsNone(group["by_content"])

    def test_each_thread_by_itself(self):
        file = self.record_file("threads.rec", False)
        program = ("import os, sys, threading\n"
                   "def read(begin):\n"
                   "    for i in range(100): os.pread(fd, 1024, begin + 1024 * i)\n"
                   "fd = os.open(sys.argv[1], os.O_RDONLY)\n"
                   "threads = [threading.Thread(target=read, args=(102400 * i,)) for i in range(3)]\n"
                   "[thread.start() for thread in threads], [thread.join() for thread in threads]\n")
        trace = self.record("--", sys.executable, "-c", program, file.path)
        groups = json.loads(self.pattern_of(trace, file.path, "--by", "thread", "--json").stdout)["groups"]
        self.assertEqual([(group["pattern"], group["accesses"]) for group in groups], [("sequential", 100)] * 3)
        self.assertEqual(self.group(trace, file.path, "--by", "process")["threads"], 3)
        self.assertIn("3 threads took turns here", self.pattern_of(trace, file.path).stdout)

    def test_a_database_that_is_scanned_and_one_that_is_looked_up(self):
        path = self.path("data.db")
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT, pad TEXT)")
            source = random.Random(1)
            database.executemany("INSERT INTO t (k, pad) VALUES (?, ?)", ((f"{source.random():.12f}", "x" * 500) for _ in range(20000)))
            keys = [row[0] for row in database.execute("SELECT k FROM t ORDER BY id")]
        database.close()
        ids = random.Random(2).sample(range(1, len(keys)), 300)
        ask = {"scan": "SELECT sum(length(pad)) FROM t;",
               "look-ups": "".join(f"SELECT length(pad) FROM t WHERE id = {number};" for number in ids)}
        groups = {}
        for name, statements in ask.items():
            trace = self.record("--", "sqlite3", "-cmd", "PRAGMA mmap_size = 0; PRAGMA cache_size = 10;", path, statements, name=name)
            groups[name] = self.group(trace, path)
        scan, look_ups = groups["scan"], groups["look-ups"]
        self.assertGreater(scan["steps"]["sequential"], 0.9 * scan["accesses"])
        self.assertEqual(scan["pattern"], "sequential")
        self.assertGreater(scan["coverage"]["covered_bytes"], 0.95 * os.path.getsize(path))
        self.assertEqual(look_ups["pattern"], "random")
        self.assertLess(look_ups["coverage"]["covered_bytes"], 0.5 * os.path.getsize(path))
        self.assertEqual(len(look_ups["by_place"]["passes"]), 1, "pages that all look-ups share make no passes")

    def test_what_is_not_there_is_one_clear_line(self):
        file = self.record_file("there.rec", False)
        trace = self.read(file.places, options=())
        said = self.one_line(self.pattern(trace, "--path", "/elsewhere/there.rec", status=1).stderr)
        self.assertIn("no read or write of '/elsewhere/there.rec'", said)
        self.assertIn(file.path, said, "where a file of that name is")
        self.assertIn("--path", self.pattern(trace, status=2).stderr)
        self.assertIn("--by", self.pattern(trace, "--path", "/x", "--by", "cpu", status=2).stderr)

    def test_what_was_mapped_is_said(self):
        file = self.record_file("mapped.rec", False)
        program = ("import mmap, os, sys; fd = os.open(sys.argv[1], os.O_RDONLY)\n"
                   "sum(mmap.mmap(fd, 0, prot=mmap.PROT_READ)[:])\n")
        trace = self.record("--", sys.executable, "-c", program, file.path)
        self.assertIn("what moves through a mapping is not seen", self.pattern_of(trace, file.path, status=1).stderr)

    def test_copies_are_reads_of_one_file_and_writes_of_the_other(self):
        source = self.record_file("source.rec", False)
        target = self.path("target.rec")
        program = ("import os, sys; a = os.open(sys.argv[1], os.O_RDONLY); b = os.open(sys.argv[2], os.O_RDWR | os.O_CREAT)\n"
                   "for i in range(4): os.sendfile(b, a, 100000 * i, 100000)\n")
        trace = self.record("--", sys.executable, "-c", program, source.path, target)
        read, written = self.group(trace, source.path), self.group(trace, target)
        self.assertEqual((read["access"], read["pattern"], read["bytes"]), ("read", "sequential", 400000))
        self.assertEqual((written["access"], written["pattern"], written["bytes"]), ("write", "sequential", 400000))


if __name__ == "__main__":
    sys.exit(support.main())
