"""Packages of a suite of Debian or Ubuntu, for any of its machines, without the machine's own lists or package database."""

import glob
import os
import re
import shutil
import subprocess


class DebianError(Exception):
    pass


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise DebianError(f"{command[0]}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


def mirror():
    """Where this machine gets Debian from."""
    for name in glob.glob("/etc/apt/sources.list.d/*.sources") + glob.glob("/etc/apt/sources.list") + glob.glob("/etc/apt/sources.list.d/*.list"):
        with open(name, encoding="utf-8") as file:
            text = file.read()
        for found in re.finditer(r"^(?:URIs:\s*|deb\s+(?:\[[^]]*\]\s*)?)(\S+/debian/?)(?:\s|$)", text, re.M):
            return found[1]
    raise DebianError("no source of Debian packages is known to apt on this machine")


def ubuntu_mirror():
    if not os.environ.get("UBUNTU_MIRROR"):
        raise DebianError("no mirror of Ubuntu is known: name it, as UBUNTU_MIRROR=http://HOST/ubuntu")
    return os.environ["UBUNTU_MIRROR"]


class Suite:
    """A suite with lists of its own, below `folder`, so that the machine's stay as they are."""

    def __init__(self, name, folder, architecture="amd64", source=None):
        self.folder = folder
        for part in ("lists/partial", "archives/partial"):
            os.makedirs(os.path.join(folder, part), exist_ok=True)
        for file, text in (("sources.list", f"deb [trusted=yes] {source or mirror()} {name} main\n"), ("status", "")):
            with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                out.write(text)
        self.options = [f"-oDir::State::lists={folder}/lists", f"-oDir::State::status={folder}/status", f"-oDir::Etc::sourcelist={folder}/sources.list",
                        "-oDir::Etc::sourceparts=/dev/null", "-oDir::Etc::preferences=/dev/null", "-oDir::Etc::preferencesparts=/dev/null",
                        f"-oDir::Cache::archives={folder}/archives", f"-oDir::Cache::pkgcache={folder}/pkgcache.bin",
                        f"-oDir::Cache::srcpkgcache={folder}/srcpkgcache.bin", f"-oAPT::Architecture={architecture}",
                        f"-oAPT::Architectures::={architecture}", "-oAPT::Sandbox::User=root", "-oAPT::Install-Recommends=false",
                        "-oAcquire::Check-Valid-Until=false", "-oAcquire::Languages=none", "-oAcquire::Retries=3"]
        run("apt-get", *self.options, "-qq", "update")

    def newest_of(self, package):
        """The package with the kernel that the name without a version stands for; since 7.0 that is one which linux-image needs."""
        found = self.needed(package, "linux-image-")
        if not found:
            raise DebianError(f"{package} stands for no kernel")
        return self.needed(found, "linux-binary-") or found

    def needed(self, package, prefix):
        found = re.search(r"Depends: (" + prefix + r"\S+)", run("apt-cache", *self.options, "depends", package))
        return found[1] if found else None

    def unpack(self, package, folder):
        """One package, alone, into a new folder."""
        run("apt-get", *self.options, "-qq", "download", package, cwd=self.folder)
        archive = max(glob.glob(os.path.join(self.folder, package + "_*.deb")), key=os.path.getmtime)
        shutil.rmtree(folder, ignore_errors=True)
        run("dpkg-deb", "-x", archive, folder)
        os.remove(archive)

    def unpack_all(self, packages, folder):
        """Packages and all that they depend on, unpacked over each other; nothing of them runs."""
        run("apt-get", *self.options, "-qq", "-y", "--download-only", "install", *packages)
        for archive in sorted(glob.glob(os.path.join(self.folder, "archives/*.deb"))):
            with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as files:
                run("tar", "-x", "--keep-directory-symlink", "-C", folder, stdin=files.stdout)  # /lib is a link to /usr/lib
            os.remove(archive)
