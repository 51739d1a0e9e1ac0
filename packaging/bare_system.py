#!/usr/bin/env python3
"""A bare Debian, to install in or to build in: debootstrap's minbase, made once for each suite, copied for each use.

    packaging/bare_system.py trixie -- COMMAND...      runs it in a copy, as root; the copy is gone afterwards
        --give FILE             which is /tmp/FILE there
        --take PATTERN FOLDER   and what it leaves is brought here

    with BareSystem("bookworm") as system:
        system.run("apt-get", "install", "-y", "hello")

Root. What is made once lies in build/systems. The copy has this machine's kernel, network and way to Debian's packages, and nothing else of it.
"""
import argparse
import glob
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/systems"
# The mounts are in a namespace of the command's own: nothing has to be unmounted, whatever ends it.
ENTER = 'for folder in proc sys dev; do mount --rbind "/$folder" "$0/$folder"; done; exec chroot "$0" "$@"'
# The same with processes, mounts and control groups of its own, for systemd; a chroot would not be let make user namespaces.
BOOT = """
mount --rbind "$0" "$0"; cd "$0"
mount -t proc proc proc; mount --rbind /sys sys; mount --rbind /dev dev; mount -t tmpfs run run; mount -t cgroup2 cgroup sys/fs/cgroup
pivot_root . .; umount -l .
exec env -i container=test PATH=/usr/sbin:/usr/bin /lib/systemd/systemd --show-status=no
"""
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive"}
ENVIRONMENT.update({name: os.environ[name] for name in ("NODE_EXTRA_CA_CERTS", "http_proxy", "https_proxy", "no_proxy") if name in os.environ})
# What every installation changes, of whatever package.
BOOKS_OF_PACKAGES = ("var/lib/apt/", "var/cache/", "var/log/", "var/lib/dpkg/", "var/lib/rpm/", "root/.rpmdb", "etc/ld.so.cache", "etc/.pwd.lock", "tmp/",
                     "etc/group-", "etc/gshadow-", "etc/passwd-", "etc/shadow-", "etc/subuid-", "etc/subgid-")


class Failed(AssertionError):
    """A command ended with another status than 0."""


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout}")
    return done.stdout


def mirror():
    """Where this machine gets Debian from."""
    for address in run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages").split():
        if address.rstrip("/").endswith("/debian"):
            return address
    sys.exit("bare_system: no source of Debian packages is known to apt on this machine")


def bare(suite):
    """What copies are made of."""
    folder = FOLDER / suite
    if (folder / "complete").exists():
        return folder / "root"
    if not shutil.which("debootstrap"):
        sys.exit("bare_system: debootstrap is missing: run tools/install_packages packages")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    root = folder / "root"
    run("debootstrap", "--variant=minbase", suite, root, mirror())
    (folder / "complete").touch()
    return root


def give_the_way_to_packages(root):
    """How this machine reaches registries: a proxy, for instance, and whom it trusts."""
    for name in glob.glob("/etc/apt/apt.conf.d/*"):
        if "Acquire" in pathlib.Path(name).read_text(encoding="utf-8"):
            shutil.copy(name, root / "etc/apt/apt.conf.d")
    for path in ("etc/apt/auth.conf.d", "etc/ssl/certs", "usr/local/share/ca-certificates"):
        if os.path.isdir(f"/{path}"):
            shutil.copytree(f"/{path}", root / path, dirs_exist_ok=True)
    for path in ("etc/resolv.conf", "etc/hosts", "etc/npmrc", "root/.npmrc"):
        if os.path.exists(f"/{path}"):
            shutil.copy(f"/{path}", root / path)


def root_is_mounted():
    """Not so in a chroot: there a namespace of mounts cannot be cut off from everybody's."""
    return any(line.split()[4] == "/" for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines())


class System:
    """A folder with a system in it; gone at the end of `with`."""

    def __init__(self, name):
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.root = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-", dir=FOLDER))
        self.root.chmod(0o755)
        for folder in ("proc", "sys", "dev", "tmp"):
            (self.root / folder).mkdir()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        run("rm", "-rf", "--one-file-system", self.root)

    def entering(self, words):
        return ["unshare", "--mount", "/bin/sh", "-ec", ENTER, str(self.root), *map(str, words)]

    def run(self, *words, **options):
        return run(*self.entering(words), env=ENVIRONMENT, **options)

    def start(self, *words):
        return subprocess.Popen(self.entering(words), env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def copy_in(self, path, to="tmp"):
        shutil.copy(path, self.root / to)
        return f"/{to}/{pathlib.Path(path).name}"

    def files(self):
        """Every path with what is in it, but what every installation changes."""
        found = {}
        for folder, folders, names in os.walk(self.root):
            for name in folders + names:
                path = pathlib.Path(folder, name)
                inside = str(path.relative_to(self.root))
                if not inside.startswith(BOOKS_OF_PACKAGES):
                    is_file = path.is_file() and not path.is_symlink()
                    found[inside] = hashlib.sha256(path.read_bytes()).hexdigest() if is_file else ""
        return found


class Booted:
    """A system whose systemd runs; killed at the end of `with`, with all that it started."""

    def __init__(self, system):
        self.process = subprocess.Popen(["unshare", "--mount", "--uts", "--cgroup", "--pid", "--fork", "--kill-child", "/bin/sh", "-ec", BOOT, str(system.root)])
        self.children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        self.until("systemctl is-system-running --wait | grep -E 'running|degraded'")  # some unit of its own may miss something

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def run(self, text, **options):
        """Of the shell's language."""
        words = ["nsenter", "--target", self.children.read_text().strip(), "--mount", "--pid", "--cgroup", "--uts", "--root"]
        return run(*words, "/bin/sh", "-ec", f"cd /root; {text}", env=ENVIRONMENT, **options)

    def until(self, text):
        """Tries until it succeeds."""
        for left in reversed(range(120)):
            try:
                return self.run(text)
            except Failed:
                if left == 0:
                    raise
            time.sleep(0.5)
        return None


class BareSystem(System):
    def __init__(self, suite):
        original = bare(suite)
        super().__init__(suite)
        run("cp", "-a", f"{original}/.", self.root)
        give_the_way_to_packages(self.root)
        self.run("apt-get", "-qq", "update")

    def install(self, *packages):
        self.run("apt-get", "-qq", "-y", "--no-install-recommends", "install", *packages)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("--give", action="append", default=[])
    parser.add_argument("--take", nargs=2, metavar=("PATTERN", "FOLDER"))
    parser.add_argument("command", nargs="+")
    words = parser.parse_args()
    with BareSystem(words.suite) as system:
        for path in words.give:
            system.copy_in(path)
        status = subprocess.run(system.entering(words.command), env=ENVIRONMENT, check=False).returncode
        if status == 0 and words.take:
            for path in glob.glob(f"{system.root}{words.take[0]}"):
                shutil.copy(path, words.take[1])
        return status


if __name__ == "__main__":
    sys.exit(main())
