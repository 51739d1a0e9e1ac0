#!/usr/bin/env python3
"""Does what `cmake --install` leaves work where it was not built?     install_test.py <source folder> <build folder>

Installs into a folder, moves that elsewhere, and records, asks and reports with it. Root and BPF.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
HAS_DEBUG_INFORMATION = "CMAKE_BUILD_TYPE:STRING=Debug" in (BUILD / "CMakeCache.txt").read_text()


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        folder = pathlib.Path(cls.scratch.name)
        run("cmake", "--install", BUILD, "--prefix", folder / "first")
        cls.prefix = folder / "moved" / "here"
        cls.prefix.parent.mkdir()
        (folder / "first").rename(cls.prefix)
        cls.dyetrace = cls.prefix / "bin/dyetrace"
        cls.trace = folder / "trace"
        # a new user's environment: nothing leads back to the build
        cls.environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}
        run(cls.dyetrace, "record", "-o", cls.trace, "--", "ls", "/etc", cwd="/", env=cls.environment)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def ask(self, statement):
        answer = run(self.dyetrace, "sql", self.trace, statement, "--format", "json", cwd="/", env=self.environment)
        return [json.loads(line) for line in answer.splitlines()]

    def test_records_and_answers(self):
        rows = self.ask("select count(*) as n from events where name = 'openat' and ends_with(path, '/etc')")
        self.assertEqual(1, int(rows[0]["n"]))

    def test_shows_calls_live(self):
        lines = run(self.dyetrace, "trace", "-e", "openat,write", "-o", "/dev/stdout", "--", "cat", "/proc/version", cwd="/", env=self.environment)
        self.assertIn('openat(AT_FDCWD, "/proc/version", O_RDONLY', lines)
        self.assertIn('write(1, "Linux version', lines)

    def test_seals_by_itself(self):
        self.assertEqual([], list(self.trace.glob("segment-*.seg")))
        self.assertTrue((self.trace / "sealed-000001/syscall_event.parquet").exists())

    def test_records_through_an_agent(self):
        folder = self.trace.parent
        collector = subprocess.Popen([self.dyetrace, "collector", "--insecure", "--listen", "127.0.0.1:0", "--store", folder / "store"],
                                     stderr=subprocess.PIPE, text=True, env=self.environment)
        address = collector.stderr.readline().split()[-1]
        agent = subprocess.Popen([self.dyetrace, "agent", "--insecure", "--collector", address, "--host", "a", "--spool", folder / "spool"],
                                 stderr=subprocess.PIPE, text=True, env=self.environment)
        try:
            agent.stderr.readline()  # connected
            run(self.dyetrace, "record", "--on", "a", "--collector", address, "--insecure", "-o", "t", "--comm", "ls", "--", "ls", "/etc",
                env=self.environment)
        finally:
            for process in (agent, collector):
                process.terminate()
                process.wait()  # not for the end of its output: the collector's sealer has that, too, and gives way to whatever else runs here
                process.stderr.close()
        self.assertIn("nothing lost", run(self.dyetrace, "report", folder / "store/t", env=self.environment))

    def test_reports(self):
        self.assertIn("nothing lost", run(self.dyetrace, "report", self.trace, env=self.environment))

    @unittest.skipIf(HAS_DEBUG_INFORMATION, "debug information names the sources")
    def test_names_no_folder_of_the_build(self):
        for path in self.prefix.rglob("*"):
            if path.is_file():
                for folder in (SOURCE, BUILD):
                    self.assertNotIn(os.fsencode(folder) + b"/", path.read_bytes(), path)

    def test_finds_its_libraries_without_the_build(self):
        for program in (self.dyetrace, self.prefix / "lib/dyetrace/dyetrace-store", self.prefix / "lib/dyetrace/dyetrace-fleet"):
            libraries = run("ldd", program, env=self.environment)
            self.assertNotIn("not found", libraries)
            self.assertNotIn(str(SOURCE), libraries)
        header = run("readelf", "-d", self.prefix / "lib/dyetrace/dyetrace-store")
        self.assertIn("[$ORIGIN]", header)

    def test_has_manual_completions_and_licences(self):
        for name in ("man/man1/dyetrace.1", "man/man1/dyetrace-record.1", "bash-completion/completions/dyetrace",
                     "zsh/site-functions/_dyetrace", "fish/vendor_completions.d/dyetrace.fish",
                     "doc/dyetrace/LICENSE", "doc/dyetrace/LICENSES/GPL-2.0.txt", "doc/dyetrace/LICENSES/DuckDB.txt",
                     "doc/dyetrace/CHANGELOG.md", "doc/dyetrace/trace_format.md", "doc/dyetrace/tables.md"):
            self.assertTrue((self.prefix / "share" / name).is_file(), name)


unittest.main(argv=sys.argv[:1], verbosity=2)
