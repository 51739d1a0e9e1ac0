#!/usr/bin/env python3
"""Do the portable programs need anything that they do not bring?      portable_test.py <build folder>

Installs them into a folder with nothing else in it, and records, asks, reports and makes certificates there. Root and BPF.
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from bare_system import Failed, System, root_is_mounted, run  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()


class InAnEmptySystem(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not root_is_mounted():
            raise unittest.SkipTest("the root is no mount point, as in a chroot: mounts of a folder would be everybody's")
        cls.system = cls.enterClassContext(System("empty"))
        for component in ("portable", "shared"):
            run("cmake", "--install", BUILD, "--prefix", cls.system.root / "any/where", "--component", component)

    def run_it(self, *words, **options):
        return self.system.run("/any/where/bin/dyetrace", *words, **options)

    def test_records_and_answers(self):
        self.run_it("record", "-o", "/tmp/trace", "--", "/any/where/bin/dyetrace", "hash", "/any/where/bin/dyetrace")
        question = "select comm, exe from events where name = 'execve'"
        answer = json.loads(self.run_it("sql", "/tmp/trace", question, "--format", "json"))  # one row
        self.assertEqual("dyetrace", answer["comm"])
        self.assertEqual(f"{self.system.root}/any/where/bin/dyetrace", answer["exe"])
        self.assertIn("nothing lost", self.run_it("report", "/tmp/trace"))

    def test_speaks_to_other_hosts(self):
        self.run_it("pki", "init", "/tmp/authority")
        self.run_it("pki", "issue", "/tmp/authority", "--host", "a")

    def test_a_search_path_for_libraries_changes_nothing(self):
        (self.system.root / "other").mkdir()
        (self.system.root / "other/libc.so.6").write_text("not a library")
        version = subprocess.run(self.system.entering(["/any/where/bin/dyetrace", "--version"]), capture_output=True, text=True, check=True,
                                 env={**os.environ, "LD_LIBRARY_PATH": "/other"}).stdout
        self.assertRegex(version, r"^dyetrace \d")

    def test_says_what_is_missing(self):
        folder = self.system.root / "torn"
        folder.mkdir()
        run("cp", self.system.root / "any/where/bin/dyetrace", folder)
        with self.assertRaisesRegex(Failed, "dyetrace: error: ld-linux-x86-64.so.2 is neither beside this program nor in ../lib/dyetrace"):
            self.system.run("/torn/dyetrace", "--version")

    def test_refuses_privileges_of_its_own(self):
        program = self.system.root / "any/where/bin/privileged"
        run("cp", self.system.root / "any/where/bin/dyetrace", program)
        program.chmod(0o4755)
        with self.assertRaisesRegex(Failed, "a portable program cannot have privileges of its own"):
            run("setpriv", "--reuid", "65534", "--clear-groups", program, "--version")


unittest.main(argv=sys.argv[:1], verbosity=2)
