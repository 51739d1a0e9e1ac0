#!/usr/bin/env python3
"""Whose calls they are: the effective user of a process changes when it gives rights away, and when a set-uid program runs."""

import os
import shutil

import support

NOBODY, OWNER = 65534, 65533


class UsersTest(support.EndToEndTest):
    def test_a_set_uid_program_runs_as_its_owner(self):
        if os.statvfs(self.folder).f_flag & os.ST_NOSUID:
            self.skipTest(f"the file system of {self.folder} does not let programs change their user")
        program = self.path("cat-of-owner")
        shutil.copy(shutil.which("cat"), program)
        os.chown(program, OWNER, OWNER)
        os.chmod(program, 0o4755)
        trace = self.record("--", "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", program, "/dev/null")
        users = [int(row["uid"]) for row in trace.rows(
            "SELECT uid FROM events WHERE state = 'finished' GROUP BY uid ORDER BY min(start_ns)")]
        self.assertEqual(users, [0, NOBODY, OWNER])
        self.assertEqual(trace.number(f"SELECT uid FROM events WHERE name = 'execve' AND ends_with(path, '{program}')"), OWNER)
        self.assertEqual(trace.rows("SELECT DISTINCT comm, uid FROM events WHERE path LIKE '%/dev/null' AND name = 'read'"),
                         [{"comm": "cat-of-owner", "uid": OWNER}])
        # one process all the time; its row says what it was last
        self.assertEqual(trace.rows(f"SELECT uid, ends_with(exe, '{program}') AS is_program FROM processes"),
                         [{"uid": OWNER, "is_program": True}])

    def test_without_the_bit_it_runs_as_who_called_it(self):
        program = self.path("cat-of-owner")
        shutil.copy(shutil.which("cat"), program)
        os.chown(program, OWNER, OWNER)
        trace = self.record("--", "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", program, "/dev/null")
        self.assertEqual(trace.rows("SELECT uid FROM processes"), [{"uid": NOBODY}])


if __name__ == "__main__":
    support.main()
