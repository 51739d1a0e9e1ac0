#!/usr/bin/env python3
"""Every argument of every call of syscalls.toml, held against what the kernel says that it takes: its width and its sign."""

import pathlib
import re
import subprocess
import sys

import support

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "src/schema"
sys.path.insert(0, str(SCHEMA))
from generator import model  # noqa: E402

EVENTS = "events/syscalls"

# Makes every call with all 64 bits of its six registers set; a filter of seccomp refuses each, so that none does anything. It knows
# them by what is in the upper half of the last one.
DENIED = r"""
import ctypes, struct, sys
libc = ctypes.CDLL(None)
UPPER = 0xa5a5a5a5
def instruction(code, jt, jf, k):
    return struct.pack("HBBI", code, jt, jf, k)
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
program = (instruction(LOAD, 0, 0, 16 + 5 * 8 + 4) + instruction(JUMP_EQUAL, 0, 1, UPPER) +
           instruction(RETURN, 0, 0, 0x50000 | 1) + instruction(RETURN, 0, 0, 0x7fff0000))
code = ctypes.create_string_buffer(program, len(program))
filter = struct.pack("HxxxxxxQ", 4, ctypes.addressof(code))
assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
assert libc.prctl(22, 2, filter, 0, 0) == 0  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
values = [ctypes.c_ulong(UPPER << 32 | 0xc0de0000 + 0x1111 * i) for i in range(6)]
for number in map(int, sys.argv[1:]):
    assert libc.syscall(ctypes.c_long(number), *values) == -1, number
"""
REGISTERS = [0xA5A5A5A5 << 32 | 0xC0DE0000 + 0x1111 * i for i in range(6)]


def kernels_own(folder):
    """{call: [type and name of each argument]}, as the kernel that runs tells; a vector of loads is no argument."""
    calls = {}
    for entry in (folder / EVENTS).glob("sys_enter_*"):
        fields = re.findall(r"field:(.*?)\s*(\w+);\toffset:(\d+);", (entry / "format").read_text())
        calls[entry.name.removeprefix("sys_enter_")] = [
            f"{kind} {name}" for kind, name, at in fields if int(at) >= 16 and "__data_loc" not in kind]
    return calls


def mounted_tracefs(test):
    folder = test.path("tracefs")
    pathlib.Path(folder).mkdir()
    subprocess.run(["mount", "-t", "tracefs", "tracefs", folder], check=True)
    test.addCleanup(subprocess.run, ["umount", folder], check=True)
    return pathlib.Path(folder)


def number_in(text, words):
    """The number that a set of flags is the text of."""
    number = 0
    for part in text.split("|"):
        if part in words:
            number |= words[part]
        elif part.startswith("0x"):
            number |= int(part, 16)
        else:
            number |= int(part, 8 if part.startswith("0") else 10)
    return number


class PrototypesTest(support.EndToEndTest):
    def test_the_table_says_what_the_running_kernel_says(self):
        table = model.load_toml(SCHEMA / "prototypes.toml")
        ours = {kernel: name for name, kernel in table["kernel_names"].items()}
        own = kernels_own(mounted_tracefs(self))
        self.assertGreater(len(own), 300)
        for kernel_name, arguments in sorted(own.items()):
            with self.subTest(call=kernel_name):
                expected = table["prototypes"][ours.get(kernel_name, kernel_name)]
                self.assertEqual([model.number_of_c(a) for a in arguments], [model.number_of_c(a) for a in expected])

    def test_every_argument_is_shown_as_the_kernel_reads_it(self):
        schema = model.load()
        prototypes = model.load_toml(SCHEMA / "prototypes.toml")["prototypes"]
        calls = [c for c in schema.syscalls if prototypes.get(c.name)]
        numbers = [str(c.numbers["x86_64"]) for c in calls]
        trace = self.record("--", sys.executable, "-c", DENIED, *numbers)
        shown = {row["name"]: row["arguments"] for row in trace.rows("""select name, any_value(arguments) as arguments from events
            where error = 'EPERM' group by name""")}
        words = {word: s for s in schema.flags for word in s.types}
        compared = 0
        for call in calls:
            arguments = shown[call.name]
            for i, (argument, declaration) in enumerate(zip(call.arguments, prototypes[call.name])):
                number = model.number_of_c(declaration)
                if argument.name not in arguments or number is None or argument.type in ("name", "name2"):
                    continue
                with self.subTest(call=call.name, argument=argument.name):
                    compared += 1
                    expected, value = REGISTERS[i] & (1 << number[0]) - 1, arguments[argument.name]
                    if argument.type in words and isinstance(value, str):
                        flags = words[argument.type]
                        named = dict(flags.values) | {name: bit for name, bit, _ in flags.bits}
                        mask = 0xffffffff if flags.pair else flags.width_mask
                        self.assertEqual(number_in(value, named), expected & mask)
                    elif isinstance(value, str):
                        self.assertEqual(int(value, 16), expected)
                    else:
                        signed = number[1] or argument.type in model.DESCRIPTORS | {"descriptor", "offset", "offset_low"}
                        if signed and expected >> (min(number[0], 32) if argument.type in model.DESCRIPTORS else number[0]) - 1 & 1:
                            expected -= 1 << number[0]
                        self.assertEqual(value, expected)
        self.assertGreater(compared, 300)

    def test_a_user_and_a_command_with_an_upper_half_are_what_the_kernel_takes_them_for(self):
        upper = 1 << 32
        script = f"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
open("owned", "w").close()
call = lambda number, *values: libc.syscall(ctypes.c_long(number), *(ctypes.c_ulong(v) if isinstance(v, int) else v for v in values))
assert call(92, b"owned", {upper}, {upper}) == 0
assert call(72, 1, {upper} | 1030, 0) > 0  # F_DUPFD_CLOEXEC
assert call(437, {upper} | 0xffffff9c, b"owned", (ctypes.c_uint64 * 3)(1 << 32, 0, 1 << 33), 24) == -1
"""
        command = [sys.executable, "-c", script]
        trace = self.record("--", *command, cwd=self.folder)
        self.assertEqual(trace.rows("select arguments from events where name = 'chown'"), [{"arguments": {"user": 0, "group": 0}}])
        self.assertEqual(trace.rows("""select result = fd as made, object2_id = object_id as same from events
            where name = 'fcntl' and arguments like '%F_DUPFD_CLOEXEC%' and result > 0"""), [{"made": True, "same": True}])
        shown = subprocess.run([support.DYETRACE, "trace", "-e", "trace=chown,openat2", "--", *command],
                               cwd=self.folder, capture_output=True, text=True, check=True).stderr
        self.assertIn('chown("owned", 0, 0)', shown)
        self.assertIn('openat2(AT_FDCWD, "owned", {flags=O_RDONLY|0x100000000, resolve=0x200000000 /* RESOLVE_??? */}, 24)', shown)

    def test_memory_that_the_kernel_did_not_write_is_not_shown_as_what_it_gave(self):
        script = """
import ctypes, os, socket
libc = ctypes.CDLL(None)
memory = lambda: ctypes.create_string_buffer(b"OLDMEMORY" * 20)
near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
near.send(b"abcdefgh")
assert libc.recv(far.fileno(), memory(), 4, socket.MSG_TRUNC) == 8
listener = socket.create_server(("127.0.0.1", 0))
near = socket.create_connection(listener.getsockname())
far = listener.accept()[0]
near.send(b"x" * 100)
assert libc.recv(far.fileno(), memory(), 100, socket.MSG_TRUNC | socket.MSG_WAITALL) == 100
open("f", "w").close()
os.setxattr("f", "user.a", b"hello")
assert libc.getxattr(b"f", b"user.a", memory(), 0) == 5
assert libc.listxattr(b"f", memory(), 0) > 0
"""
        command = [sys.executable, "-c", script]
        shown = subprocess.run([support.DYETRACE, "trace", "-e", "trace=recvfrom,getxattr,listxattr", "--", *command],
                               cwd=self.folder, capture_output=True, text=True, check=True).stderr
        self.assertIn('"abcd", 4, MSG_TRUNC', shown)
        self.assertEqual(len(re.findall(r'getxattr\("f", "user.a", 0x[0-9a-f]+, 0\) += 5', shown)), 1, shown)
        self.assertNotIn("OLD", "".join(line for line in shown.splitlines() if "xattr" in line or "8" in line))
        trace = self.record("--content", "hash", "--", *command, cwd=self.folder)
        self.assertEqual(trace.rows("""select bytes, fingerprint is null as nothing, unread_bytes from events
            where name = 'recvfrom' and stream_offset is not null"""), [{"bytes": 100, "nothing": True, "unread_bytes": 100}])


if __name__ == "__main__":
    support.main()
