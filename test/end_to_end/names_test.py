#!/usr/bin/env python3
"""Calls by path have their object, and objects have the names that calls gave them; held against what stat says of inodes."""

import os
import shutil
import subprocess
import sys

import support
from following import FollowTest

# Each line: a call, the path that it is given, and the inode that it means.
CALLS = r"""
import os
os.makedirs("deep/er")
open("deep/er/file", "w").close()
os.symlink("deep/er", "way")
os.symlink(os.path.abspath("deep") + "/er/file", "far")
os.symlink("way/../../far", "farther")
inode, link = os.stat("deep/er/file").st_ino, os.lstat("far").st_ino
said = open("said", "w")
def say(*words):
    print(*words, file=said)
for path in ("deep/er/file", "way/file", "farther", "far", "deep/../way/./../er//file"):
    say("newfstatat", path, os.stat(path).st_ino)
say("newfstatat", "far", os.lstat("far").st_ino)
for path in ("/", "/dev/shm/..", "/dev/shm", "/proc/uptime", "deep/", "."):
    say("newfstatat", path, os.stat(path).st_ino)
os.access("far", os.R_OK); say("access", "far", inode)
os.chmod("far", 0o600); say("chmod", "far", inode)
os.truncate("far", 5); say("truncate", "far", inode)
os.utime("far"); say("utimensat", "far", inode)
os.chown("far", 0, 0); say("chown", "far", inode)
os.lchown("far", 0, 0); say("lchown", "far", link)
os.readlink("far"); say("readlink", "far", link)
os.listxattr("far"); say("listxattr", "far", inode)
os.mkdir("made"); say("mkdir", "made", os.stat("made").st_ino)
say("rmdir", "made", os.stat("made").st_ino); os.rmdir("made")
os.link("way/file", "linked"); say("link", "way/file", inode)
os.rename("linked", "renamed"); say("rename", "linked", inode)
os.unlink("renamed"); say("unlink", "renamed", inode)
os.unlink("far"); say("unlink", "far", link)
"""
CALLS_SAID = 26


class NamesTest(FollowTest):
    def named(self, trace, path):
        """Inodes of the objects that had this name."""
        rows = trace.rows(f"SELECT DISTINCT inode FROM object_names JOIN objects USING (object_id) WHERE object_names.path = '{self.seen(path)}'")
        return {int(row["inode"]) for row in rows}

    def test_links_that_are_not_followed_are_counted_and_named(self):
        trace = self.record("--", sys.executable, "-S", "-E", "-c", "import os; os.stat('/sys/class/net/lo/mtu')")
        self.assertEqual([{"object_id": None}], trace.rows("SELECT object_id FROM events WHERE argument_path = '/sys/class/net/lo/mtu'"))
        said = {row["source"]: row["reason"] for row in trace.rows("SELECT source, reason FROM coverage")}
        self.assertIn("what a link on the way says was not at hand", said["symbolic links"])
        self.assertIn("sysfs", said["objects of paths"])

    def test_who_asks_for_a_link_is_told_where_it_led(self):
        real = self.random_file("real", 1000)
        os.symlink(real, self.path("far"))
        trace = self.record("--", "sh", "-c", "ln -s real near; cat near > copy; cat $0 > copy", self.path("far"), cwd=self.folder)
        for link, given in (("near", "near"), ("far", self.path("far"))):
            meant = f"did you mean {self.seen(real)} (where '{given}' led)"
            for verb in ("follow", "verify-copies", "similar", "pattern"):
                done = subprocess.run([support.DYETRACE, verb, trace.path, "--path", self.seen(self.path(link))],
                                      capture_output=True, text=True, timeout=support.PATIENCE_S)
                self.assertNotEqual(0, done.returncode)
                self.assertIn(meant, self.one_line(done.stderr), verb)

    def test_calls_by_path_have_the_object_that_stat_tells_of(self):
        trace = self.record("--", sys.executable, "-S", "-E", "-c", CALLS, cwd=self.folder)
        wanted = {}
        with open(self.path("said"), encoding="ascii") as said:
            for line in said:
                name, argument, inode = line.split()
                wanted.setdefault((name, argument), set()).add(int(inode))
        self.assertEqual(sum(len(inodes) for inodes in wanted.values()), CALLS_SAID)
        for (name, argument), inodes in wanted.items():
            rows = trace.rows(f"SELECT DISTINCT inode FROM events LEFT JOIN objects USING (object_id) WHERE name = '{name}' AND "
                              f"argument_path = '{argument}' AND error IS NULL")
            self.assertEqual({int(row["inode"] or 0) for row in rows}, inodes, f"{name} {argument}")

    def test_what_mv_and_ln_name_is_followed_by_that_name(self):
        source = self.random_file("source", 100_000)
        trace = self.record("--content=hash", "--", "sh", "-c", "cat source > a; mv a b; mkdir d; mv b d/c; ln d/c e; ln -s e f; cat f > copy", cwd=self.folder)
        inode = os.stat(self.path("e")).st_ino
        for name in ("a", "b", "d/c", "e"):
            self.assertEqual(self.named(trace, self.path(name)), {inode}, name)
            back = self.trail(trace, "--path", self.seen(self.path(name)), "--back")
            self.assertIn("source", self.files(back), name)
        self.assertEqual(self.named(trace, self.path("f")), {os.lstat(self.path("f")).st_ino})
        for name in ("b", "d/c"):
            self.assertIn("copy", self.files(self.trail(trace, "--path", self.seen(self.path(name)))), name)
        self.assertIn("copy", self.files(self.trail(trace, "--path", self.seen(source))))

    def test_what_a_process_did_before_it_ran_another_program_is_that_of_the_first(self):
        source = self.file("source", b"a line\n" * 700)
        script = 'read -r -d "" text < "$1"; cat "$1" > "$2"; exec sed -n p "$1"'
        trace = self.record("--content=anchors", "--", "bash", "-c", script, "bash", source, self.path("target"))
        hops = self.trail(trace, "--path", self.seen(source))["hops"]
        pids = {hop["process"].split("[")[0]: hop["process"].split("[")[1] for hop in hops if hop["path"] == self.seen(source)}
        self.assertEqual(set(pids), {"bash", "cat", "sed"}, hops)
        self.assertEqual(pids["bash"], pids["sed"], hops)

    def test_what_a_rename_replaces_is_told_apart_from_what_has_its_name_then(self):
        first, second = self.random_file("first", 30_000), self.random_file("second", 20_000)
        trace = self.record("--content=hash", "--", "sh", "-c", "cat first > a; cat second > b; cat b > b1; stat -c %i a b > said; mv a b; cat b > b2; "
                            "ln b twin; mv -T b other; mv b1 new", cwd=self.folder)
        with open(self.path("said"), encoding="ascii") as said:
            new, old = (int(inode) for inode in said.read().split())
        b = self.seen(self.path("b"))
        replaced = trace.rows("SELECT o.inode, e.path, e.path2 FROM event_objects r JOIN events e USING (event_id) JOIN objects o ON o.object_id = r.object_id WHERE role = 'replaced'")
        self.assertEqual([(int(row["inode"]), row["path"], row["path2"]) for row in replaced], [(old, self.seen(self.path("a")), b)])
        names = trace.rows(f"SELECT o.inode, n.valid_from_ns, n.valid_to_ns FROM object_names n JOIN objects o USING (object_id) WHERE n.path = '{b}' ORDER BY n.valid_from_ns")
        self.assertEqual([int(row["inode"]) for row in names], [old, new])
        self.assertEqual(names[0]["valid_to_ns"], names[1]["valid_from_ns"])
        inodes = {row["object_id"]: int(row["inode"]) for row in trace.rows("SELECT object_id::VARCHAR AS object_id, inode FROM objects WHERE inode IS NOT NULL")}
        for direction, far in (([], {(old, 20_000, "b1"), (new, 30_000, "b2")}), (["--back"], {(old, 20_000, "second"), (new, 30_000, "first")})):
            trail = self.trail(trace, "--path", b, *direction)
            whose = {(inodes[hop["object2_id" if direction else "object_id"]], hop["bytes"], os.path.basename(hop["path" if direction else "path2"])) for hop in trail["hops"]}
            self.assertEqual(whose, far, trail)
            self.assertIn(" · 2 files had this name, one after the other", self.follow(trace, "--path", b, *direction).splitlines()[0])

    def test_two_files_that_are_exchanged_have_each_the_name_of_the_other(self):
        first, second = os.stat(self.file("first")).st_ino, os.stat(self.file("second")).st_ino
        exchange = "import ctypes; assert ctypes.CDLL(None).renameat2(-100, b'first', -100, b'second', 2) == 0"
        trace = self.record("--", sys.executable, "-S", "-E", "-c", exchange, cwd=self.folder)
        for name in ("first", "second"):
            self.assertEqual(self.named(trace, self.path(name)), {first, second})

    def test_git_renames_what_it_wrote(self):
        self.skip_without([tool for tool in ("git",) if not shutil.which(tool)])
        self.file("text")
        commands = "git init -q . && git add text && git -c user.name=a -c user.email=a@b commit -q -m one && git status > /dev/null"
        trace = self.record("--", "sh", "-c", commands, cwd=self.folder, env=os.environ | {"HOME": self.folder, "GIT_CONFIG_NOSYSTEM": "1"})
        self.assertIn(os.stat(self.path(".git/index")).st_ino, self.named(trace, self.path(".git/index")))
        self.assertIn(os.stat(self.path(".git/index")).st_ino, self.named(trace, self.path(".git/index.lock")))
        blob = subprocess.run(["git", "hash-object", "text"], cwd=self.folder, capture_output=True, text=True, check=True).stdout.strip()
        path = self.path(f".git/objects/{blob[:2]}/{blob[2:]}")
        self.assertIn(os.stat(path).st_ino, self.named(trace, path))

    def test_a_mapping_that_is_synced_has_its_file_and_place(self):
        self.file("pages", bytes(65536))
        program = ("import mmap\n"
                   "with open('pages', 'r+b') as file:\n"
                   "    memory = mmap.mmap(file.fileno(), 65536)\n"
                   "    memory[20000] = 1\n"
                   "    memory.flush(16384, 8192)\n"
                   "    memory.close()\n")
        trace = self.record("--", sys.executable, "-S", "-E", "-c", program, cwd=self.folder)
        rows = trace.rows(f"SELECT name, inode, file_offset, requested FROM events JOIN objects USING (object_id) WHERE name IN ('msync', 'munmap') AND "
                          f"events.path = '{self.seen(self.path('pages'))}' ORDER BY start_ns")
        inode = os.stat(self.path("pages")).st_ino
        self.assertEqual([("msync", inode, 16384, 8192), ("munmap", inode, 0, 65536)],
                         [(row["name"], int(row["inode"]), int(row["file_offset"]), int(row["requested"])) for row in rows])

    def test_a_path_that_is_too_long_does_not_look_whole(self):
        program = "import os\nfor i in range(20): os.mkdir('n' * 255); os.chdir('n' * 255)\nopen('data', 'w').write('x')"
        trace = self.record("--", sys.executable, "-c", program, cwd=self.folder)
        for [path] in (row.values() for row in trace.rows("SELECT DISTINCT path FROM events WHERE name IN ('openat', 'write', 'close') AND ends_with(path, '/data')")):
            self.assertRegex(path, r"^…(/n{255}){15}/data$")
        self.assertGreater(trace.number("SELECT count(*) FROM objects WHERE starts_with(path, '…/')"), 0)

    def test_a_removed_file_has_the_object_that_was_written(self):
        trace = self.record("--", "sh", "-c", "echo a > gone; rm gone; echo b > gone; rm gone", cwd=self.folder)
        rows = trace.rows(f"SELECT name, object_id, object_type FROM events WHERE path = '{self.seen(self.path('gone'))}' AND "
                          "name IN ('openat', 'unlink', 'unlinkat') ORDER BY start_ns")
        self.assertEqual(["file"] * 4, [row["object_type"] for row in rows])
        opened, removed, opened_again, removed_again = [row["object_id"] for row in rows]
        self.assertEqual((opened, opened_again), (removed, removed_again))
        self.assertNotEqual(opened, opened_again)


if __name__ == "__main__":
    support.main()
