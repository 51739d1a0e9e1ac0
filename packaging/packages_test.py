#!/usr/bin/env python3
"""Is every package complete, and does it leave nothing?      packages_test.py [TEST...]

Takes what `packaging/make` left in build/packages, installs each in a bare system without compilers, records, asks, removes, and compares the
files before and after. Root, BPF, and Debian's packages.
"""
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from bare_system import ROOT, BareSystem, Booted, Failed, System, run  # noqa: E402

PACKAGES = ROOT / "build/packages"
COMPILERS = ("cc", "gcc", "g++", "clang", "ld", "as", "bpftool")


def package(pattern):
    found = sorted(PACKAGES.glob(pattern))
    if len(found) != 1:
        raise AssertionError(f"{len(found)} files {PACKAGES}/{pattern}: run packaging/make")
    return found[0]


# Also what another package would like to have: Debian 13's systemd suggests libbpf, which came with dyetrace.
PURGE = ("apt-get", "-qq", "-y", "-o", "APT::AutoRemove::SuggestsImportant=false", "-o", "APT::AutoRemove::RecommendsImportant=false", "purge", "--auto-remove")


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
            system.run(*PURGE, "dyetrace")
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
            system.run(*PURGE, "dyetrace", "dyetrace-agent", "dyetrace-collector")
            self.nothing_stays(system, before)

    def test_services_run_and_end_under_systemd(self):
        operator = "--collector localhost --certificates authority/operator-eve"
        running = "grep -l ^dyetrace /proc/[0-9]*/comm"
        with BareSystem(self.suite) as system:
            system.install("systemd", "dbus", "procps", *self.packages(system))
            agent = system.copy_in(package(f"dyetrace-agent_*~deb{self.release}_*.deb"), "root")  # systemd empties /tmp
            with Booted(system) as booted:
                booted.run("""
                    dyetrace pki init authority; dyetrace pki issue authority --collector main
                    dyetrace pki issue authority --host "$(uname -n)"; dyetrace pki issue authority --operator eve --may record,read
                    cp authority/host-*/* /etc/dyetrace; echo DYETRACE_COLLECTOR=localhost >>/etc/dyetrace/agent.conf
                    # both on one machine, which wants two folders
                    cp -r authority/collector-main /etc/dyetrace/collector; chgrp -R dyetrace /etc/dyetrace/collector; chmod -R g+rX /etc/dyetrace/collector
                    mkdir -p /run/systemd/system/dyetrace-collector.service.d
                    (echo '[Service]'; echo ExecStart=; sed -n 's,^ExecStart=.*,& --certificates /etc/dyetrace/collector,p' \
                        /usr/lib/systemd/system/dyetrace-collector.service) >/run/systemd/system/dyetrace-collector.service.d/folder.conf
                    systemctl daemon-reload
                    systemctl enable --now dyetrace-collector dyetrace-agent""")
                booted.until(f"dyetrace record --on all {operator} -o short --comm ls -- ls /etc")
                self.assertIn("nothing lost", booted.run("dyetrace report /var/lib/dyetrace/traces/short"))
                booted.run(f"dyetrace record --on all {operator} -o long >/dev/null 2>&1 & echo $! >operator")
                recorder = booted.until("test -s /var/lib/dyetrace/traces/long/trace.json; pgrep -f '[d]yetrace record .*spool'")
                booted.run(f"dpkg --install --force-confold {agent}")
                self.assertEqual(recorder, booted.run("pgrep -f '[d]yetrace record .*spool'"), "a new agent goes on with what the old one has begun")
                booted.run("kill $(cat operator); apt-get -qq -y purge dyetrace dyetrace-agent dyetrace-collector")
                booted.until(f"! {running}")
            left = [path for path in system.files() if "dyetrace" in path and not path.startswith(("root/", "etc/dyetrace/"))]
            self.assertEqual(["etc/dyetrace"], left)

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


class Debian13(Deb, Installed):
    suite, release = "trixie", "13"


class Portable(Installed):
    """One archive, in systems with another C library each; portable_test.py has one with none."""

    def works_and_goes(self, suite):
        with BareSystem(suite) as system:
            before = system.files()
            system.run("tar", "-xzf", system.copy_in(package("dyetrace-*-linux-x86_64.tar.gz")), "-C", "/opt")
            (folder,) = (system.root / "opt").iterdir()
            dyetrace = f"/opt/{folder.name}/bin/dyetrace"
            self.records_and_answers(system, dyetrace)
            shutil.rmtree(folder)
            self.nothing_stays(system, before)

    def test_works_with_glibc_2_31(self):
        self.works_and_goes("bullseye")

    def test_works_with_glibc_2_36(self):
        self.works_and_goes("bookworm")

    def test_works_with_glibc_2_41(self):
        self.works_and_goes("trixie")

    def test_is_small(self):
        self.assertLess(package("dyetrace-*-linux-x86_64.tar.gz").stat().st_size, 60e6)


class Image(Installed):
    def test_skopeo_takes_it_and_it_works_with_nothing_else(self):
        archive = package("*.oci.tar")
        described = json.loads(run("skopeo", "inspect", f"oci-archive:{archive}"))
        self.assertEqual(("amd64", "linux", 1), (described["Architecture"], described["Os"], len(described["Layers"])))
        with tempfile.TemporaryDirectory() as folder, System("image") as system:
            run("skopeo", "copy", f"oci-archive:{archive}", f"dir:{folder}/image")  # compares every digest
            layer = pathlib.Path(folder, "image", described["Layers"][0].split(":")[1])
            paths = run("tar", "-tzf", layer).splitlines()
            self.assertEqual(len(paths), len(set(paths)), "podman refuses a path that is there twice")
            run("tar", "-xzf", layer, "-C", system.root)
            (system.root / "root").mkdir()
            config = json.loads(run("skopeo", "inspect", "--config", f"oci-archive:{archive}"))
            (entry,) = config["config"]["Entrypoint"]
            answer = self.records_and_answers(system, entry, (entry, "--version"))
            self.assertTrue(answer["exe"].endswith(entry))

    def test_is_the_same_again(self):
        with tempfile.TemporaryDirectory() as folder:
            again = pathlib.Path(folder, "again.tar")
            run(ROOT / "packaging/oci.py", package("dyetrace-*-linux-x86_64.tar.gz"), again)
            self.assertEqual(package("*.oci.tar").read_bytes(), again.read_bytes())


class Rpm(Installed):
    """In a system that has rpm, but no package of it: the libraries are another release's, and nothing is needed of them. /bin/sh, which scripts need, is
    not known to rpm there, hence --nodeps."""

    def test_records_answers_and_goes(self):
        with BareSystem("bullseye") as system:
            system.install("rpm", "systemd")
            before = system.files()
            names = ["dyetrace", "dyetrace-agent", "dyetrace-collector"]
            needed = system.run("rpm", "-qpR", system.copy_in(package("dyetrace-[0-9]*.rpm"))).splitlines()
            self.assertEqual([], [line for line in needed if not line.startswith("rpmlib(")])
            system.run("rpm", "-i", "--nodeps", *[system.copy_in(package(f"{name}-[0-9]*.rpm")) for name in names])
            self.records_and_answers(system)
            for service in ("agent", "collector"):
                with self.assertRaisesRegex(Failed, "disabled"):
                    system.run("systemctl", "is-enabled", f"dyetrace-{service}")
                system.run("systemctl", "enable", f"dyetrace-{service}")
            system.run("rpm", "-e", *names)
            self.nothing_stays(system, before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
