"""What the tests of `dyetrace follow` share: relays of processes, and trails."""

import json
import os
import random
import subprocess
import sys

import support
from support import DYETRACE, PATIENCE_S

# A relay begins with this: it is given a source, a target and a copy. Two processes that talk about something else are its noise.
RELAY_PARTS = r"""
import os, random, socket, struct, sys
source, target, copy = sys.argv[1:4]

def child(work):
    if os.fork() == 0:
        work()
        os._exit(0)

def connection():
    listener = socket.create_server(("127.0.0.1", 0))
    near = socket.create_connection(listener.getsockname())
    far = listener.accept()[0]
    listener.close()
    return near, far

def noise(pieces, near, far):
    bytes_of = random.Random(7)
    def talk():
        for _ in range(pieces):
            near.sendall(bytes_of.randbytes(4096))
    child(talk)
    near.close()
    with open(target + ".noise", "wb", buffering=0) as file:
        while got := far.recv(65536):
            file.write(got)

"""


class FollowTest(support.EndToEndTest):
    def random_file(self, name, size):
        return self.file(name, random.Random(name).randbytes(size))

    def follow(self, trace, *arguments):
        done = subprocess.run([DYETRACE, "follow", trace.path, *arguments], capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_said_nothing(done.stderr)
        return done.stdout

    def assert_said_nothing(self, stderr):
        self.assertEqual(stderr, "")

    def refused(self, trace, *arguments, status=1):
        """The line that says why."""
        done = subprocess.run([DYETRACE, "follow", trace.path, *arguments], capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual((status, ""), (done.returncode, done.stdout), done.stderr)
        return self.one_line(done.stderr)

    def trail(self, trace, *arguments):
        return json.loads(self.follow(trace, *arguments, "--json"))

    def seen(self, path):
        """How the kernel names it."""
        return support.outer_root() + path

    def names(self, trail):
        """Program, call and last name of its object, of every hop."""
        return sorted({(support.program_of(hop["process"]), hop["name"], hop["what"].split("/")[-1]) for hop in trail["hops"]})

    def files(self, trail):
        return {os.path.basename(path) for hop in trail["hops"] for path in (hop["path"], hop["path2"]) if path and path.startswith("/")}

    def python(self, text, *arguments):
        return ["--content=hash", "--", sys.executable, "-c", text, *arguments]
