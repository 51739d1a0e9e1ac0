#!/usr/bin/env python3
"""Copies the libraries that programs are linked with, the dynamic loader too, and their licences into a folder.

    bring_libraries.py FOLDER PROGRAM...       FOLDER/libfmt.so.9 …, FOLDER/licences/libfmt9.txt …
"""
import pathlib
import re
import shutil
import subprocess
import sys


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def libraries(programs):
    """Those of the system, by the name under which they are looked for."""
    found = {}
    for line in run("ldd", *programs).splitlines():
        named = re.match(r"\s+(?:(\S+) => )?(/\S+) \(0x", line)
        if named:
            found[named[1] or pathlib.Path(named[2]).name] = pathlib.Path(named[2]).resolve()
        elif "not found" in line:
            sys.exit(f"bring_libraries: {line.strip()}")
    return {name: path for name, path in found.items() if path.is_relative_to("/usr/lib") or path.is_relative_to("/lib")}


def packages(paths):
    """Which package has installed what. dpkg may know a file by its name from before /lib became a link."""
    names = {f"/{path.relative_to('/usr')}" if path.is_relative_to("/usr") else str(path): path for path in paths}
    asked = [*names, *map(str, paths)]
    lines = subprocess.run(["dpkg-query", "--search", *asked], capture_output=True, text=True, check=False).stdout.splitlines()
    found = {name: owner.split(":")[0] for owner, _, name in (line.partition(": ") for line in lines)}
    return {path: found.get(str(path)) or found.get(name) for name, path in names.items()}


def bring(folder, programs):
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "licences").mkdir(parents=True)
    needed = libraries(programs)
    owners = packages(needed.values())
    for name, path in needed.items():
        if not owners[path]:
            sys.exit(f"bring_libraries: no package has {path}: which licence?")
        shutil.copy(path, folder / name)
        shutil.copy(f"/usr/share/doc/{owners[path]}/copyright", folder / f"licences/{owners[path]}.txt")


bring(pathlib.Path(sys.argv[1]), sys.argv[2:])
