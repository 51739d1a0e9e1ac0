#!/usr/bin/env python3
"""Near-duplicates that real programs write: pairs, clusters and their ids, beside the similarity that the test computes of all windows."""

import json
import os
import random
import re
import subprocess

import support
from support import DYETRACE, PATIENCE_S

WINDOW = 32
WORDS = "open close read write failed retry socket user cache index commit worker queue timeout".split()

# What is done to the files of make_files(); each comes out once more.
WORK = """
cd "$1"
cp program program.copy
cat config > config.old
cat config.new | dd of=config.now bs=7001 status=none
tar -cf one.tar --mtime=@1 --owner=0 --group=0 --sort=name tree
tar -cf two.tar --mtime=@1000000 --owner=0 --group=0 --sort=name tree
cat log log.more > log.longer
cat unrelated > unrelated.copy
cat small > small.copy
"""
FAMILIES = [{"program", "program.copy"}, {"config", "config.old", "config.new", "config.now"}, {"one.tar", "two.tar"},
            {"log", "log.longer"}, {"unrelated", "unrelated.copy"}, {"small", "small.copy"}]


def windows(content):
    return {content[i:i + WINDOW] for i in range(len(content) - WINDOW + 1)}


def log_lines(count, seed):
    chosen = random.Random(seed)
    return b"".join(f"2026-11-22 03:{i % 60:02} host[{chosen.randrange(100)}]: {chosen.choice(WORDS)} {chosen.choice(WORDS)} "
                    f"id={chosen.randrange(10 ** 6)}\n".encode() for i in range(count))


class SimilarTest(support.EndToEndTest):
    def make_files(self):
        program = random.Random("program").randbytes(200_000)
        config = log_lines(3000, "config")
        third = len(config) // 3
        self.file("program", program)
        self.file("config", config)
        self.file("config.new", config[:third] + log_lines(300, "new lines") + config[third:-20_000])
        self.file("log", log_lines(3000, "log"))
        self.file("log.more", log_lines(1000, "more of the log"))
        self.file("unrelated", log_lines(3000, "unrelated"))
        self.file("small", b"a file of a few hundred bytes, too small for anchors\n" * 5)
        os.mkdir(self.path("tree"))
        for i in range(20):
            self.file(f"tree/{i}", random.Random(i).randbytes(3000 + 700 * i))

    def record_work(self, name="trace", before=""):
        return self.record("--content=anchors", "--", "sh", "-c", before + WORK, "sh", self.folder, name=name)

    def clusters(self, trace):
        """Name in the test's folder: cluster of the file."""
        rows = trace.rows("SELECT path, cluster_id FROM clusters JOIN objects ON object_id = member WHERE item = 'object' "
                          f"AND path LIKE '%{self.folder}/%'")
        return {os.path.basename(row["path"]): row["cluster_id"] for row in rows if "/tree/" not in row["path"]}

    def similar(self, *arguments):
        done = subprocess.run([DYETRACE, "similar", *arguments, "--json"], capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def seen(self, name):
        return support.outer_root() + self.path(name)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def is_here(self, pair):
        return self.folder in pair["b"]["name"] and "/tree/" not in pair["b"]["name"]

    def assert_is_near(self, pair, name, truth):
        """The interval has the truth in 95 of 100 cases: one of twice its width in all that a test can meet."""
        low, estimate, high = pair[name + "_low"], pair[name], pair[name + "_high"]
        self.assertLessEqual(estimate - 2 * (estimate - low), truth, (name, pair))
        self.assertGreaterEqual(estimate + 2 * (high - estimate), truth, (name, pair))

    def test_pairs_are_as_similar_as_all_their_windows_are(self):
        self.make_files()
        trace = self.record_work()
        contents = {name: windows(self.content(name)) for family in FAMILIES for name in family | {"log.more"}}
        for name in ("config", "one.tar", "log", "program", "unrelated"):
            family = next(family for family in FAMILIES if name in family)
            found = {}
            for pair in filter(self.is_here, self.similar(trace.path, "--path", self.seen(name))):
                other = os.path.basename(pair["b"]["name"])
                both, either = len(contents[name] & contents[other]), len(contents[name] | contents[other])
                self.assert_is_near(pair, "jaccard", both / either)
                self.assert_is_near(pair, "a_in_b", both / len(contents[name]))
                self.assert_is_near(pair, "b_in_a", both / len(contents[other]))
                found[other] = pair
            self.assertEqual(set(found) - {"log.more"}, family - {name})
        log = next(filter(self.is_here, self.similar(trace.path, "--path", self.seen("log"))))
        self.assertEqual(log["a_in_b"], 1)
        self.assertAlmostEqual(log["shared_bytes"] / len(self.content("log")), 1, delta=0.01)

    def test_clusters_are_the_families_and_nothing_else(self):
        self.make_files()
        clusters = self.clusters(self.record_work())
        for family in FAMILIES:
            ids = {clusters[name] for name in family}
            self.assertEqual(len(ids), 1, family)
            self.assertEqual({name for name, cluster in clusters.items() if cluster in ids}, family)

    def test_ids_are_the_same_in_another_recording_that_has_more(self):
        self.make_files()
        first = self.clusters(self.record_work())
        self.file("noise", random.Random("noise").randbytes(1_000_000))
        for family in FAMILIES:  # what was written is written anew, by a recording that saw other items before
            for name in family:
                if name.endswith((".copy", ".old", ".now", ".tar", ".longer")):
                    os.unlink(self.path(name))
        trace = self.record_work(name="later", before='cat "$1/noise" > "$1/noise.copy"; sort "$1/log" > "$1/log.sorted"; ')
        second = self.clusters(trace)
        self.assertEqual({name: second[name] for name in first}, first)
        self.assertEqual(second["noise"], second["noise.copy"])
        self.assertNotIn(second["noise"], first.values())

    def test_two_traces_are_compared_with_each_other(self):
        self.make_files()
        one = self.record("--content=anchors", "--", "cat", self.path("config"), self.path("unrelated"), name="one", stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, capture_output=False)
        two = self.record("--content=anchors", "--", "cat", self.path("config.new"), self.path("log"), name="two", stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, capture_output=False)
        pairs = [(os.path.basename(pair["a"]["name"]), os.path.basename(pair["b"]["name"]))
                 for pair in self.similar(one.path, two.path) if self.folder in pair["a"]["name"] and self.is_here(pair)]
        self.assertEqual(pairs, [("config", "config.new")])
        self.assertTrue(all(pair["a"]["trace"] == one.path and pair["b"]["trace"] == two.path for pair in self.similar(one.path, two.path)))
        self.assertEqual([os.path.basename(pair["b"]["name"]) for pair in self.similar(two.path, one.path, "--path", self.seen("config.new"))
                          if self.is_here(pair)], ["config"])

    def test_traces_with_other_anchors_or_another_key_are_not_compared(self):
        self.make_files()
        paths = []
        for i, options in enumerate(([], ["--anchor-distance", "256"], ["--content-key", "hex:" + "01" * 16], ["--content-key", "hex:" + "02" * 16])):
            paths.append(self.record("--content=anchors", *options, "--", "cp", self.path("log"), self.path("log.copy"), name=f"trace{i}").path)
        for one, other in ((0, 1), (0, 2), (2, 3)):
            done = subprocess.run([DYETRACE, "similar", paths[one], paths[other]], capture_output=True, text=True, timeout=PATIENCE_S)
            self.assertEqual(done.returncode, 1)
            self.assertIn("record both with the same --content, --anchor-distance and --content-key", self.one_line(done.stderr))

    def test_events_are_compared_one_by_one(self):
        self.make_files()
        trace = self.record_work()
        event = trace.number("SELECT event_id FROM events WHERE comm = 'cat' AND name = 'read' AND bytes > 50000 AND "
                             f"ends_with(path, '{self.path('config.new')}') LIMIT 1")
        pairs = self.similar(trace.path, "--event", str(event))
        self.assertTrue(pairs[0]["is_equal"])
        self.assertRegex(pairs[0]["b"]["name"], r"^cat config\.new\[\d+\] write pipe:")
        pieces = [pair["b_in_a"] for pair in pairs if re.match(r"dd\b", pair["b"]["name"]) and " write " in pair["b"]["name"]]
        self.assertGreater(len(pieces), 10)  # of 7,001 bytes each
        # the last one goes on in the next read
        self.assertLessEqual(sum(share < 1 for share in pieces), 1, pieces)
        first = trace.number(f"SELECT least(a, b) FROM similarities WHERE item = 'event' AND is_equal AND {event} IN (a, b)")
        self.assertEqual(trace.number(f"SELECT count(DISTINCT cluster_id) FROM clusters WHERE item = 'event' AND member IN ({first}, {event})"), 1)

    def test_small_files_are_compared_by_their_sketches(self):
        lines, others = log_lines(200, "page")[:8000], log_lines(200, "other lines")
        contents = {f"page{eighths}": lines[:1000 * eighths] + others[1000 * eighths:8000] for eighths in range(9)}
        for name, content in contents.items():
            self.file(name, content)
        trace = self.record("--content=anchors", "--", "sh", "-c", 'cd "$1"; for page in page?; do cat $page > copy.$page; done; cat page? > all', "sh", self.folder)
        truth = windows(contents["page8"])
        pairs = {os.path.basename(pair["b"]["name"]): pair for pair in self.similar(trace.path, "--path", self.seen("page8"), "--min", "0.02") if self.is_here(pair)}
        self.assertTrue(pairs["copy.page8"]["is_equal"])
        for name, content in contents.items():
            if name in ("page0", "page8"):  # nothing is common; itself
                continue
            self.assert_is_near(pairs[name], "jaccard", len(truth & windows(content)) / len(truth | windows(content)))
            self.assertLess(pairs[name]["jaccard_high"] - pairs[name]["jaccard_low"], 0.4, name)  # with eight anchors it would be 0.5 or more
            self.assertEqual({key: pairs[name][key] for key in ("jaccard", "a_in_b", "shared")},
                             {key: pairs["copy." + name][key] for key in ("jaccard", "a_in_b", "shared")})
        # moved in nine calls of 8,000 bytes, more than what has a sketch: by anchors, all of them
        self.assertEqual(pairs["all"]["a_in_b"], 1)
        self.assertEqual({row["distance"] for row in trace.rows("SELECT distance FROM sketches JOIN events USING (event_id) WHERE comm = 'cat' AND bytes = 8000")}, {128})
        clusters = self.clusters(trace)
        self.assertEqual(clusters["page8"], clusters["copy.page8"])
        self.assertEqual(clusters["page8"], clusters["page7"])
        self.assertNotEqual(clusters["page8"], clusters["page0"])

    def test_what_cannot_be_answered_is_said(self):
        self.make_files()
        plain = self.record("--", "cat", self.path("small"), name="plain")
        for arguments, words in (((plain.path,), "--content=anchors"), ((plain.path, "--path", self.path("nowhere")), "was ever called")):
            done = subprocess.run([DYETRACE, "similar", *arguments], capture_output=True, text=True, timeout=PATIENCE_S)
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, self.one_line(done.stderr))
        trace = self.record("--content=hash", "--", "sh", "-c", WORK, "sh", self.folder, name="hashed")
        done = subprocess.run([DYETRACE, "similar", trace.path, "--path", self.seen("small")], capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertIn("only what is equal can be found", done.stdout)
        self.assertIn("small.copy", done.stdout)


if __name__ == "__main__":
    support.main()
