#!/usr/bin/env python3
"""Are the units of systemd right?      services_test.py <dyetrace> <packaging folder>"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
UNITS = sorted(FOLDER.glob("*.service"))


class Services(unittest.TestCase):
    def test_there_is_one_for_the_agent_and_one_for_the_collector(self):
        self.assertEqual(["dyetrace-agent.service", "dyetrace-collector.service"], [unit.name for unit in UNITS])

    def test_their_options_are_those_of_help(self):
        for unit in UNITS:
            verb, options = re.search(r"^ExecStart=\S+/bin/dyetrace (\w+) (.*)$", unit.read_text(), re.MULTILINE).groups()
            help_ = subprocess.run([PROGRAM, verb, "--help"], check=True, capture_output=True, text=True).stdout
            for option in re.findall(r"--[\w-]+", options):
                self.assertIn(f"  {option} ", help_)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
    def test_systemd_has_nothing_to_complain_about(self):
        with tempfile.TemporaryDirectory() as folder:
            for unit in UNITS:
                copy = pathlib.Path(folder, unit.name)
                program = pathlib.Path(PROGRAM).resolve()
                copy.write_text(re.sub(r"^ExecStart=\S+", f"ExecStart={program}", unit.read_text(), flags=re.MULTILINE))
                done = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, check=False)
                ours = [line for line in done.stderr.splitlines() if unit.name in line]
                self.assertEqual([], ours)


    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
    def test_they_expose_less_than_2_of_10(self):
        with tempfile.TemporaryDirectory() as folder:
            for unit in UNITS:
                copy = pathlib.Path(folder, unit.name)
                copy.write_text(unit.read_text().replace("@CMAKE_INSTALL_PREFIX@", "/usr"))
                done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", copy], capture_output=True, text=True, check=False)
                exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
                self.assertIsNotNone(exposure, done.stdout + done.stderr)
                self.assertLess(float(exposure[1]), 2, done.stdout)


unittest.main(argv=sys.argv[:1], verbosity=2)
