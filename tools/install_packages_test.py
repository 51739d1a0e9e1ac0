#!/usr/bin/env python3
"""Does tools/install_packages choose what a release has? An apt-cache of our own says what that is."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parent / "install_packages"


def listed(*known, sets=("build", "test")):
    with tempfile.TemporaryDirectory() as folder:
        apt_cache = pathlib.Path(folder, "apt-cache")
        names = "\\n".join(known)
        apt_cache.write_text(f"#!/bin/sh\n[ $1 = pkgnames ] && printf '{names}\\n'\n")
        apt_cache.chmod(0o755)
        done = subprocess.run([PROGRAM, "--list", *sets], env={"PATH": f"{folder}:{os.environ['PATH']}"}, capture_output=True, text=True, check=True)
        return done.stdout.split()


class InstallPackages(unittest.TestCase):
    def test_the_first_of_a_choice_wins(self):
        packages = listed("clang", "clang-14", "clang-format-14", "libclang-rt-14-dev")
        self.assertIn("clang-14", packages)
        self.assertNotIn("clang", packages)
        self.assertIn("clang-format-14", packages)
        self.assertIn("libclang-rt-14-dev", packages)

    def test_a_later_one_takes_its_place(self):
        packages = listed("clang", "clang-19", "clang-format", "libclang-rt-dev")
        self.assertIn("clang", packages)
        self.assertIn("libclang-rt-dev", packages)
        self.assertFalse([package for package in packages if "14" in package])

    def test_what_is_left_out_is_only_what_says_so(self):
        self.assertEqual({"clang-format-14", "clang-tidy-14"},
                         set(listed("clang", "libclang-rt-dev", "clang-format-14", "clang-tidy-14")) - set(listed("clang", "libclang-rt-dev")))

    def test_a_package_that_is_nowhere_is_asked_for(self):
        packages = listed("ninja-build", sets=("build",))
        self.assertIn("clang-14", packages)
        self.assertIn("g++", packages)

    def test_a_name_is_not_the_beginning_of_another(self):
        self.assertIn("clang", listed("clang-14-doc", "clang", sets=("build",)))


unittest.main(argv=sys.argv[:1], verbosity=2)
