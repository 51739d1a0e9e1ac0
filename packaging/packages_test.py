#!/usr/bin/env python3
"""Is every package complete, and does it leave nothing?      packages_test.py [TEST...]

Takes what `packaging/make` left in build/packages, installs each in a bare system without compilers, records, asks, removes, and compares the
files before and after. Root, BPF, and Debian's packages.
"""
import json
import pathlib
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from bare_system import ROOT, BareSystem, Failed  # noqa: E402

PACKAGES = ROOT / "build/packages"
COMPILERS = ("cc", "gcc", "g++", "clang", "ld", "as", "bpftool")


def package(pattern):
    found = sorted(PACKAGES.glob(pattern))
    if len(found) != 1:
        raise AssertionError(f"{len(found)} files {PACKAGES}/{pattern}: run packaging/make")
    return found[0]


class Installed(unittest.TestCase):
    """What a package is asked for, whatever its kind."""

    def records_and_answers(self, system, dyetrace="dyetrace", command=("ls", "/etc")):
        for compiler in COMPILERS:
            self.assertIsNone(shutil.which(compiler, path=":".join(f"{system.root}/{folder}" for folder in ("usr/bin", "usr/local/bin", "bin"))))
        system.run(dyetrace, "record", "-o", "/root/trace", "--", *command)
        lines = system.run(dyetrace, "sql", "/root/trace", "select count(*) as n, any_value(exe) as exe from events where name = 'execve' and result = 0",
                           "--format", "json")
        answer = json.loads(lines)
        self.assertEqual(1, int(answer["n"]))
        self.assertIn("nothing lost", system.run(dyetrace, "report", "/root/trace"))
        return answer

    def nothing_stays(self, system, before):
        self.assertTrue((system.root / "root/trace/trace.json").exists(), "a trace is its user's")
        shutil.rmtree(system.root / "root/trace")
        after = system.files()
        self.assertEqual({}, {path: what for path, what in after.items() if before.get(path) != what})
        self.assertEqual([], [path for path in before if path not in after])


class Deb:
    """For one release of Debian."""
    suite = release = ""

    def packages(self, system):
        return [system.copy_in(package(f"{name}_*~deb{self.release}_*.deb")) for name in ("dyetrace", "dyetrace-agent", "dyetrace-collector")]

    def test_records_answers_and_goes(self):
        with BareSystem(self.suite) as system:
            before = system.files()
            system.install(self.packages(system)[0])
            self.records_and_answers(system)
            system.run("apt-get", "-qq", "-y", "purge", "--auto-remove", "dyetrace")
            self.nothing_stays(system, before)

    def test_services_wait_to_be_configured_and_go_with_what_they_kept(self):
        with BareSystem(self.suite) as system:
            system.install("systemd")
            before = system.files()
            system.install(*self.packages(system))
            for service in ("agent", "collector"):
                unit = (system.root / f"usr/lib/systemd/system/dyetrace-{service}.service").read_text()
                self.assertIn(f"\nExecStart=/usr/bin/dyetrace {service} ", unit)
                with self.assertRaisesRegex(Failed, "disabled"):
                    system.run("systemctl", "is-enabled", f"dyetrace-{service}")
                system.run("systemctl", "enable", f"dyetrace-{service}")
            self.records_through_an_agent(system)
            system.run("apt-get", "-qq", "-y", "purge", "--auto-remove", "dyetrace", "dyetrace-agent", "dyetrace-collector")
            self.nothing_stays(system, before)

    def records_through_an_agent(self, system):
        collector = system.start("dyetrace", "collector", "--insecure", "--listen", "127.0.0.1:0", "--store", "/var/lib/dyetrace/traces")
        address = collector.stdout.readline().split()[-1]
        agent = system.start("dyetrace", "agent", "--insecure", "--collector", address, "--host", "a")
        try:
            agent.stdout.readline()  # it is connected
            system.run("dyetrace", "record", "--on", "a", "--collector", address, "--insecure", "-o", "t", "--comm", "ls", "--", "ls", "/etc")
        finally:
            for process in (agent, collector):
                process.terminate()
                process.communicate()  # also waits for the collector's sealer
        self.assertIn("nothing lost", system.run("dyetrace", "report", "/var/lib/dyetrace/traces/t"))
        shutil.copytree(system.root / "var/lib/dyetrace/traces/t", system.root / "root/trace")


class Debian12(Deb, Installed):
    suite, release = "bookworm", "12"


if __name__ == "__main__":
    unittest.main(verbosity=2)
