#!/usr/bin/env python3
"""Who may read a trace, and what the programs that make and read one give up."""

import json
import os
import shutil
import stat
import subprocess

import support

NOBODY, GROUP = 65534, 1  # daemon
BPF, PERFMON, SYS_NICE, KILL = 1 << 39, 1 << 38, 1 << 23, 1 << 5
# What a container's processes may by the defaults of the usual runtimes.
IN_CONTAINERS = ("chown", "dac_override", "fowner", "fsetid", "kill", "setgid", "setuid", "setpcap", "net_bind_service", "net_raw", "sys_chroot", "mknod",
                 "audit_write", "setfcap")
SECRET = "00112233445566778899aabbccddeeff"


def status_of(process):
    with open(f"/proc/{process}/status", encoding="ascii") as file:
        return {name: value.strip() for name, value in (line.split(":", 1) for line in file)}


def modes(folder):
    """Of all in it: the bits that others than the owner have."""
    found = {}
    for parent, folders, names in os.walk(folder):
        for name in folders + names:
            found[os.path.join(parent, name)] = stat.S_IMODE(os.lstat(os.path.join(parent, name)).st_mode)
    return found


def as_nobody(*command, groups="--clear-groups"):
    return subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", groups, *command], capture_output=True, text=True, check=False,
                          timeout=support.PATIENCE_S)


class RightsTest(support.EndToEndTest):
    def test_a_trace_is_its_owners_alone(self):
        for arguments in [["--no-seal"], ["--content=bytes"]]:
            trace = self.record(*arguments, "--", "cat", "/etc/hostname", name=f"trace{arguments[0]}")
            self.assertEqual(stat.S_IMODE(os.stat(trace.path).st_mode), 0o700)
            self.assertEqual({path: oct(mode) for path, mode in modes(trace.path).items() if mode & 0o077}, {})
        self.assertNotEqual(as_nobody(support.DYETRACE, "report", trace.path).returncode, 0)

    def test_a_group_may_read_it_when_it_is_named(self):
        trace = self.record("--group", "daemon", "--", "true")
        status = os.stat(trace.path)
        self.assertEqual((stat.S_IMODE(status.st_mode), status.st_gid), (0o2750, GROUP))
        for path, mode in modes(trace.path).items():
            self.assertEqual((os.lstat(path).st_gid, mode & 0o027), (GROUP, 0), path)
        if as_nobody("test", "-r", os.path.realpath(support.DYETRACE)).returncode != 0:
            self.skipTest("nobody may not go to where the program is built, so it cannot read the trace with it")
        count = [support.DYETRACE, "sql", trace.path, "select count(*) > 0 from events", "--format", "json"]
        read = as_nobody(*count, groups=f"--groups={GROUP}")
        self.assertIn("true", read.stdout, read.stderr)
        self.assertNotEqual(as_nobody(*count).returncode, 0)

    def test_what_is_derived_has_the_rights_of_its_trace_and_an_export_those_of_its_maker(self):
        for options, folders, files in (([], 0o700, 0o600), (["--group", "daemon"], 0o2750, 0o640)):
            trace = self.record(*options, "--", "sh", "-c", "cat /etc/passwd > /dev/null", name=f"trace{len(options)}")
            for umask in (0o022, 0):
                shutil.rmtree(os.path.join(trace.path, "derived"), ignore_errors=True)
                subprocess.run([support.DYETRACE, "sql", trace.path, "SELECT count(*) FROM flows"], check=True, capture_output=True, umask=umask)
                derived = modes(os.path.join(trace.path, "derived"))
                self.assertEqual(stat.S_IMODE(os.stat(os.path.join(trace.path, "derived")).st_mode), folders)
                self.assertEqual(set(derived.values()), {files}, derived)
                for verb in (["export", trace.path, "--csv"], ["export", trace.path, "--parquet"], ["sql", trace.path, "SELECT 1"],
                             ["sql", trace.path, "SELECT 1", "--format", "parquet"]):
                    out = self.path("out")
                    subprocess.run([support.DYETRACE, *verb, "-o", out], check=True, capture_output=True, umask=umask)
                    self.assertEqual(oct(stat.S_IMODE(os.stat(out).st_mode)), oct(0o600), verb)
                    os.remove(out)

    def test_who_owns_a_trace_reads_what_root_derives_in_it(self):
        trace = self.record("--", "sh", "-c", "cat /etc/passwd > /dev/null")
        for path in [trace.path, *modes(trace.path)]:
            os.chown(path, NOBODY, NOBODY)
        subprocess.run([support.DYETRACE, "sql", trace.path, "SELECT count(*) FROM flows"], check=True, capture_output=True, umask=0o077)
        derived = os.path.join(trace.path, "derived", "flows.parquet")
        self.assertEqual(as_nobody("test", "-r", derived).returncode, 0)

    def test_a_group_that_is_not_there_is_refused(self):
        done = subprocess.run([support.DYETRACE, "record", "-o", self.path("t"), "--group", "nobody-has-this", "--", "true"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no group 'nobody-has-this'", self.one_line(done.stderr))
        self.assertFalse(os.path.exists(self.path("t")))

    def test_the_recorder_keeps_what_it_needs_and_the_command_what_it_had(self):
        read, write = os.pipe()
        self.addCleanup(os.close, write)
        trace, recorder = self.start_recording("--later-dyes", "--", "cat", stdin=read)
        os.close(read)
        self.wait_for(lambda: status_of(recorder.pid)["Seccomp"] == "2", "it has given up what it does not need")
        status = status_of(recorder.pid)
        self.assertEqual(int(status["CapPrm"], 16) & ~(BPF | PERFMON | SYS_NICE | KILL), 0)
        self.assertEqual((status["NoNewPrivs"], status["Umask"]), ("1", "0077"))
        own = status_of("self")
        command = status_of(support.children_of(recorder.pid, "cat")[0])
        for name in ["CapPrm", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Umask"]:
            self.assertEqual(command[name], own[name], name)
        sealer = [pid for pid in support.children_of(recorder.pid) if support.comm_of(pid) != "cat"][0]
        self.wait_for(lambda: status_of(sealer)["Seccomp"] == "2", "the sealer has given up what it does not need")
        self.assertEqual(int(status_of(sealer)["CapPrm"], 16), 0)
        # What comes later goes on: a dye that is named now is found.
        subprocess.run([support.DYETRACE, "dye", "add", trace.path, "late=indigo"], check=True, capture_output=True, timeout=support.PATIENCE_S)
        os.write(write, b"some indigo\n")
        self.wait_for(lambda: trace.number("SELECT count(*) FROM dye_hits") > 0, "the dye is seen")
        self.assertEqual(self.stop(recorder, support.signal.SIGTERM), -support.signal.SIGTERM)
        self.assertEqual(trace.accounting()["lost"], 0)

    def test_who_only_looks_keeps_no_more(self):
        for verb in (["trace", "-o", self.path("lines")], ["trace", "-ff", "-o", self.path("lines")], ["stat"], ["top"], ["live", "SELECT count(*) FROM events"]):
            looker = self.start([support.DYETRACE, *verb, "--", "cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.wait_for(lambda looker=looker: looker.poll() is not None or status_of(looker.pid)["Seccomp"] == "2", f"{verb} has given up what it does not need")
            self.assertIsNone(looker.poll(), verb)
            status, command = status_of(looker.pid), status_of(support.children_of(looker.pid, "cat")[0])
            self.assertEqual(int(status["CapPrm"], 16) & ~(BPF | PERFMON | SYS_NICE | KILL), 0, verb)
            self.assertEqual(status["NoNewPrivs"], "1")
            self.assertEqual((command["CapPrm"], command["NoNewPrivs"]), (status_of("self")["CapPrm"], "0"), verb)
            _, errors = looker.communicate(timeout=support.PATIENCE_S)
            self.assertEqual((looker.returncode, "rights" in errors.decode()), (0, False), errors)
        with open(self.path("lines"), encoding="utf-8") as file:
            self.assertIn("read(0, ", file.read())

    def program_and_trace_of_nobody(self):
        os.chmod(self.folder, 0o755)
        programs, traces = self.path("programs"), self.path("traces")
        os.mkdir(programs)
        os.mkdir(traces)
        os.chown(traces, NOBODY, NOBODY)
        built = os.path.dirname(support.DYETRACE)
        for name in ("dyetrace", "dyetrace-store", "libduckdb.so"):  # others may not go to where they are built
            shutil.copy(os.path.join(built, name), programs)
        return os.path.join(programs, "dyetrace"), os.path.join(traces, "trace")

    def test_who_has_no_rights_is_told_which_are_needed(self):
        dyetrace, trace = self.program_and_trace_of_nobody()
        for arguments in (["record", "-o", trace, "--", "true"], ["trace", "true"], ["stat", "--", "true"]):
            done = as_nobody(dyetrace, *arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn("run as root, or give the program CAP_BPF and CAP_PERFMON", self.one_line(done.stderr))
        self.assertFalse(os.path.exists(trace))
        self.assertIn("missing: CAP_BPF CAP_PERFMON", " ".join(as_nobody(dyetrace, "doctor").stdout.split()))

    def test_who_has_two_capabilities_records_and_asks(self):
        """The trace is sealed, too, beside others who work: nobody could take its sealer out of SCHED_IDLE."""
        dyetrace, trace = self.program_and_trace_of_nobody()
        with open(self.path("source"), "w", encoding="ascii") as file:
            file.write("some text\n" * 1000)
        recorder = subprocess.Popen(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all,+bpf,+perfmon",
                                     "--ambient-caps=-all,+bpf,+perfmon", "--bounding-set=-all,+bpf,+perfmon", dyetrace, "record", "-o", trace, "--content=hash",
                                     "--", "sh", "-c", "cat; exec cat source"],
                                    cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(support.end, recorder)
        self.wait_for(lambda: recorder.poll() is not None or support.children_of(recorder.pid, "dyetrace-store"), "the sealer runs")
        self.wait_for(lambda: recorder.poll() is not None or status_of(recorder.pid)["Seccomp"] == "2", "the recorder has given up what it does not need")
        self.assertIsNone(recorder.poll(), recorder.stderr.read() if recorder.poll() is not None else "")
        self.assertEqual(int(status_of(recorder.pid)["CapPrm"], 16), BPF | PERFMON)
        sealer = support.children_of(recorder.pid, "dyetrace-store")[0]
        self.assertEqual(os.sched_getscheduler(sealer), os.SCHED_OTHER)
        _, errors = recorder.communicate(timeout=support.PATIENCE_S)
        self.assertEqual(recorder.returncode, 0, errors)
        self.assertIn("nothing lost", errors)
        self.assertIn("sealed in", errors)
        asked = as_nobody(dyetrace, "sql", trace, "--format", "json",
                          "select sum(bytes) as bytes, count(fingerprint) > 0 as is_hashed from events where path like '%/source' and transfer = 'read'")
        self.assertEqual(json.loads(asked.stdout or "null"), {"bytes": 10000, "is_hashed": True}, asked.stderr)

    def test_in_a_container_two_capabilities_more_are_enough(self):
        """Numbers of processes are the container's on the command line, and the kernel's in the trace."""
        with open(self.path("source"), "wb") as file:
            file.write(os.urandom(100_000))
        rights = "-all," + ",".join("+" + name for name in IN_CONTAINERS + ("bpf", "perfmon"))
        script = "sh -c 'while [ ! -e go ]; do sleep 0.05; done; cat source; :' >out & \"$0\" record --pid $! --output trace; echo $! >number"
        enter = f'{support.OWN_PROC} && exec "$0" "$@"'
        contained = self.start(["unshare", "--mount", "--net", "--uts", "--ipc", "--cgroup", "--pid", "--fork", "--kill-child", "--propagation", "unchanged",
                                "sh", "-c", enter, "setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}", f"--ambient-caps={rights}",
                                "sh", "-c", script, support.DYETRACE],
                               cwd=self.folder, stderr=subprocess.PIPE)
        trace = support.Trace(self.path("trace"))
        self.wait_for(lambda: self.listens(trace) or contained.poll() is not None, "the recorder listens")
        self.assertIsNone(contained.poll(), contained.stderr.read() if contained.poll() is not None else "")
        worker = support.children_of(support.children_of(contained.pid)[0], "sh")[0]
        with open(self.path("go"), "wb"):
            pass
        _, errors = contained.communicate(timeout=support.PATIENCE_S)
        self.assertIn(b"nothing lost", errors)
        self.assertEqual(trace.rows("SELECT e.comm, sum(bytes) AS bytes, p.ppid FROM events e JOIN processes p USING (process_id) "
                                    "WHERE path LIKE '%/source' AND bytes > 0 GROUP BY ALL"),
                         [{"comm": "cat", "bytes": 100_000, "ppid": worker}])
        with open(self.path("number"), encoding="ascii") as number:
            self.assertLess(int(number.read()), 10)

    def test_without_the_kernels_types_one_line_says_so(self):
        def without_types(*arguments):
            return subprocess.run(["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys/kernel/btf && exec "$0" "$@"', support.DYETRACE, *arguments],
                                  capture_output=True, text=True, check=False, timeout=support.PATIENCE_S)

        for arguments in (["record", "-o", self.path("trace"), "--", "true"], ["trace", "true"], ["live", "SELECT count(*) FROM events"]):
            done = without_types(*arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn("nothing can be recorded: this kernel has no BTF at /sys/kernel/btf/vmlinux", self.one_line(done.stderr))
        self.assertFalse(os.path.exists(self.path("trace")))
        self.assertIn("no BTF at /sys/kernel/btf/vmlinux", " ".join(without_types("doctor").stdout.split()))

    def test_a_command_that_became_another_user_gets_its_signals(self):
        trace, recorder = self.start_recording("--", "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "cat", stdin=subprocess.PIPE)
        self.wait_for(lambda: support.children_of(recorder.pid, "cat") and status_of(recorder.pid)["Seccomp"] == "2", "cat runs")
        self.assertEqual(self.stop(recorder, support.signal.SIGTERM), -support.signal.SIGTERM)
        self.assertGreater(trace.number("SELECT count(*) FROM events WHERE comm = 'cat'"), 0)
        recorder.stdin.close()

    def test_a_key_is_not_among_the_words_of_the_process(self):
        _, recorder = self.start_recording("--content=hash", "--content-key", f"hex:{SECRET}", f"--dye=card={SECRET}", "--", "cat", stdin=subprocess.PIPE)
        with open(f"/proc/{recorder.pid}/cmdline", encoding="ascii") as file:
            words = file.read()
        self.assertNotIn(SECRET, words)
        self.assertIn("--content-key", words)
        recorder.stdin.close()
        self.assertEqual(recorder.wait(timeout=support.PATIENCE_S), 0)

    def test_what_is_read_by_root_of_somebody_elses_is_read(self):
        trace = self.record("--", "true")
        for parent, _, names in os.walk(trace.path):
            for path in [parent] + [os.path.join(parent, name) for name in names]:
                os.chown(path, NOBODY, NOBODY)
        done = subprocess.run([support.DYETRACE, "sql", trace.path, "select count(*) > 0 from events", "--format", "json"], capture_output=True, text=True,
                              check=True, timeout=support.PATIENCE_S)
        self.assertIn("true", done.stdout)

    def test_sql_reads_nothing_but_the_trace(self):
        trace = self.record("--", "true")
        ask = [support.DYETRACE, "sql", trace.path]
        for statement, words in [("select * from read_text('/etc/shadow')", "disabled by configuration"),
                                 (f"copy (select 1) to '{self.path('x')}'", "disabled by configuration"),
                                 (f"copy (select 1) to '{trace.path}/x'", "only statements that read"),
                                 ("drop view events", "only statements that read")]:
            done = subprocess.run([*ask, statement], capture_output=True, text=True, check=False, timeout=support.PATIENCE_S)
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)
            self.assertIn("--trust", done.stderr)
        self.assertFalse(os.path.exists(self.path("x")) or os.path.exists(os.path.join(trace.path, "x")))
        subprocess.run([*ask, "--trust", f"copy (select 1) to '{self.path('x')}'"], check=True, capture_output=True, timeout=support.PATIENCE_S)
        self.assertTrue(os.path.exists(self.path("x")))


class LinksTest(support.EndToEndTest):
    """/tmp is everybody's: what lies there under a name that root will use may be a link of somebody else, to a file of root's."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("tmp"))
        os.chmod(self.path("tmp"), 0o1777)
        os.mkdir(self.path("victim"))
        self.file("victim/precious", b"precious")
        self.environment = dict(os.environ, TMPDIR=self.path("tmp"))

    def link_of_nobody(self, name, to):
        os.symlink(self.path(to), self.path(name))
        os.lchown(self.path(name), NOBODY, NOBODY)

    def trace_of_nobody(self, *options):
        trace = self.record(*options, "--", "sh", "-c", "cat /etc/hostname | cat", name="tmp/trace")
        for parent, folders, names in os.walk(trace.path):
            for path in [parent] + [os.path.join(parent, name) for name in folders + names]:
                os.lchown(path, NOBODY, NOBODY)
        return trace

    def dyetrace(self, *words):
        done = subprocess.run([support.DYETRACE, *words], capture_output=True, text=True, check=False, timeout=support.PATIENCE_S, env=self.environment)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(os.listdir(self.path("victim")), ["precious"], f"{words}: {done.stderr}")
        with open(self.path("victim/precious"), "rb") as file:
            self.assertEqual(file.read(), b"precious", words)
        return done

    def test_a_recording_does_not_begin_where_a_link_lies(self):
        for target in ("victim", "victim/precious", "victim/new"):
            self.link_of_nobody(f"tmp/{os.path.basename(target)}", target)
            done = self.dyetrace("record", "-o", self.path(f"tmp/{os.path.basename(target)}"), "--", "touch", self.path("ran"))
            self.assertEqual(done.returncode, 1)
            self.one_line(done.stderr)
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_a_trace_lies_in_a_home_that_is_closed_to_others(self):
        """A recorder is started there as by `sudo dyetrace record`: root enters it by a capability only, which a recorder has given up by the end."""
        home = self.path("home")
        os.mkdir(home, 0o700)
        shutil.chown(home, "nobody")
        for output in ("near", self.path("home/far")):
            done = subprocess.run([support.DYETRACE, "record", "-o", output, "--", "true"], cwd=home, capture_output=True, text=True, timeout=support.PATIENCE_S)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("nothing lost", done.stderr)
            self.assertNotIn("error", done.stderr)
            trace = support.Trace(os.path.join(home, output))
            self.assertEqual(trace.info()["state"], "finished")
            self.assertGreater(trace.number("SELECT count(*) FROM events"), 5)
            self.assertEqual(trace.rows("FROM gaps"), [])

    def test_what_is_exported_replaces_a_link(self):
        trace = self.record("--", "true")
        self.link_of_nobody("tmp/out", "victim/precious")
        self.assertEqual(self.dyetrace("export", trace.path, "--csv", "-o", self.path("tmp/out")).returncode, 0)
        self.assertFalse(os.path.islink(self.path("tmp/out")))
        self.assertGreater(os.path.getsize(self.path("tmp/out")), 100)

    def test_a_trace_of_another_user_leads_no_reader_out_of_it(self):
        trace = self.trace_of_nobody()
        self.link_of_nobody("tmp/trace/derived", "victim")
        done = self.dyetrace("sql", trace.path, "SELECT count(*) FROM flows")
        self.assertEqual(done.returncode, 1)
        self.assertIn("derived' is a link: a trace has none", self.one_line(done.stderr))

    def test_a_trace_of_another_user_leads_no_sealer_out_of_it(self):
        trace = self.trace_of_nobody("--no-seal")
        for name, target in (("sealing-000001", "victim"), ("sealing-000000", "victim"), ("hosts.parquet.new", "victim/precious"),
                             ("views.sql", "victim/precious")):
            self.link_of_nobody(f"tmp/trace/{name}", target)
        self.assertEqual(self.dyetrace("seal", trace.path).returncode, 0)
        self.link_of_nobody("tmp/trace/sealer.other", "victim/new")
        os.replace(self.path("tmp/trace/sealer.other"), self.path("tmp/trace/sealer"))
        self.dyetrace("seal", trace.path)


if __name__ == "__main__":
    support.main()
