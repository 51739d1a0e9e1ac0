#!/usr/bin/env python3
"""What people are told who ask a trace: commands of the prompt as statements, and one clear line for what cannot be."""

import json
import os
import signal
import subprocess

import support
from support import DYETRACE


class SqlTest(support.EndToEndTest):
    def answer(self, trace, *arguments, **options):
        done = subprocess.run([DYETRACE, "sql", trace.path, *arguments, "--format", "csv"], capture_output=True, text=True,
                              timeout=support.PATIENCE_S, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("\r", done.stdout, "lines end as a shell wants them")
        return done.stdout.removesuffix("\n").split("\n")

    def test_commands_of_the_prompt_are_statements_too(self):
        trace = self.record("--", "true")
        tables = self.answer(trace, ".tables")
        for table in ("events", "processes", "gaps", "coverage"):
            self.assertTrue(any(line.startswith(table + ",") for line in tables), tables)
        self.assertFalse(any(line.startswith(("raw_", "_")) for line in tables), tables)
        columns = self.answer(trace, ".schema events;")
        self.assertTrue(any(line.startswith("event_id,BIGINT,") and not line.endswith(",") for line in columns), columns)
        self.assertEqual(self.answer(trace, ".tables"), self.answer(trace, input=".tables\n"), "the same from a pipe")

    def test_a_number_in_csv_is_a_number_to_a_shell(self):
        trace = self.record("--", "true")
        done = subprocess.run(["bash", "-c", 'n=$("$0" sql "$1" "SELECT 41" --format csv | tail -n 1); echo $((n + 1))', DYETRACE, trace.path],
                              capture_output=True, text=True, timeout=support.PATIENCE_S)
        self.assertEqual((done.stdout, done.stderr), ("42\n", ""))

    def test_a_question_that_is_ended_leaves_nothing_of_itself(self):
        trace = self.record("--", "true")
        temporary = self.path("temporary")
        os.mkdir(temporary)
        environment = dict(os.environ, TMPDIR=temporary)
        # flows are put aside there when they are asked for; random order needs all rows first
        endless = "SELECT * FROM events a, events b, events c, events d, events e, (SELECT count(*) FROM flows) ORDER BY random()"
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            asking = self.start([DYETRACE, "sql", trace.path, endless], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.wait_for(lambda: os.listdir(temporary), "it puts something aside")
            asking.send_signal(number)
            asking.wait(timeout=support.PATIENCE_S)
            self.assertEqual(os.listdir(temporary), [], number)
        done = subprocess.run(["bash", "-c", '"$0" sql "$1" "SELECT * FROM events a, events b, (SELECT count(*) FROM flows)" --format csv | head -n 1',
                               DYETRACE, trace.path], env=environment, capture_output=True, text=True, timeout=support.PATIENCE_S)
        self.assertIn("event_id", done.stdout)
        self.assertEqual(os.listdir(temporary), [])

    def test_every_column_says_what_it_means(self):
        trace = self.record("--", "true")
        for table in (line.split(",")[0] for line in self.answer(trace, ".tables")[1:] if line):
            for row in trace.rows(f".schema {table}"):
                self.assertTrue(row["comment"], f"{table}.{row['column']}")


class RefusalTest(support.EndToEndTest):
    def refusal(self, *arguments):
        done = subprocess.run([DYETRACE, *arguments], capture_output=True, text=True, timeout=support.PATIENCE_S)
        self.assertIn(done.returncode, (1, 2))
        self.assertEqual(done.stdout, "")
        return self.one_line(done.stderr).removeprefix("dyetrace: error: ")

    def test_what_is_no_trace_is_said(self):
        file, folder = self.file("file"), self.path("folder")
        os.mkdir(folder)
        for verb in ("sql", "report", "seal"):
            self.assertEqual(self.refusal(verb, self.path("nowhere")), f"there is no trace '{self.path('nowhere')}'")
            self.assertEqual(self.refusal(verb, file), f"'{file}' is a file; a trace is a folder")
            self.assertEqual(self.refusal(verb, folder), f"'{folder}' is no trace: it has no trace.json")
            self.assertIn("say which TRACE", self.refusal(verb))
        self.assertEqual(self.refusal("seal", "--follow", self.path("nowhere")), f"there is no trace '{self.path('nowhere')}'")

    def test_what_is_no_number_and_no_command_is_said(self):
        trace = self.record("--", "true").path
        self.assertEqual(self.refusal("similar", trace, "--min", "nan"), "--min: 'nan' is no share: write 0 to 1")
        self.assertEqual(self.refusal("sql", trace, ".nosuch"), "'.nosuch' is no command: .tables  .schema TABLE  .quit")
        self.assertEqual(self.refusal("record", "-o", self.file("other"), "--", "true"), f"'{self.path('other')}' is there and no folder: take another name")

    def test_a_newer_trace_is_refused(self):
        trace = self.record("--", "true")
        info = trace.info()
        for change in ({"format_version": 1}, {"must_understand": ["flux"]}):
            with open(os.path.join(trace.path, "trace.json"), "w", encoding="utf-8") as file:
                json.dump(info | change, file)
            self.assertIn("use a newer dyetrace", self.refusal("sql", trace.path, "SELECT 1"))

    def test_an_option_that_is_not_known_is_named(self):
        self.assertEqual(self.refusal("record", "--bogus", "--", "true"), "'--bogus' is not known (dyetrace record --help)")
        self.assertEqual(self.refusal("sql", "--bogus", "x"), "'--bogus' is not known (dyetrace sql --help)")
        self.assertEqual(self.refusal("record", "--hwere", "x", "--", "ls"), "'--hwere' is not known, did you mean '--where'? (dyetrace record --help)")
        self.assertEqual(self.refusal("record", "-o", "-x", "-qa", "--", "ls", "--bogus"), "'-q' is not known (dyetrace record --help)")
        self.assertEqual(self.refusal("report", "one", "two"), "'two' is not known (dyetrace report --help)")

    def test_of_words_at_the_wrong_place_the_first_is_named(self):
        self.assertEqual(self.refusal("--where", "x", "record", "--", "ls"), "'--where' stands after its verb, 'record' (dyetrace record --help)")
        self.assertEqual(self.refusal("--hwere", "x", "record", "--", "ls"), "'--hwere' is not known (dyetrace record --help)")
        self.assertEqual(self.refusal("some.trace", "report"), "'some.trace' is no verb (dyetrace report --help)")
        self.assertEqual(self.refusal("report", "one", "two", "three"), "'two' is not known (dyetrace report --help)")
        self.assertEqual(self.refusal("report", "one", "[two]"), "'[two]' is not known (dyetrace report --help)")
        self.assertEqual(self.refusal("--", "ls"), "a verb stands before '--' (dyetrace --help)")

    def test_a_value_that_is_missing_is_said(self):
        for words, said in ((("record", "--comm", "--", "true"), "--comm: a NAME is missing"), (("record", "-p"), "--pid: a PID[,PID] is missing"),
                            (("record", "--group", "", "--", "true"), "--group: a GROUP is missing"),
                            (("record", "-o", "", "--", "true"), "--output: a TRACE is missing"),
                            (("record", "--where", "", "--", "true"), "--where: a SQL is missing"),
                            (("follow", "x", "--text", ""), "--text: a TEXT|@FILE is missing")):
            self.assertTrue(self.refusal(*words).startswith(f"{said} (dyetrace "), (words, self.refusal(*words)))
        self.assertEqual(self.record("--", "printf", "%s|", "--", "", "[a,b]").printed, "--||[a,b]|", "a command's words are its own")

    def test_it_says_so_in_words_of_its_own(self):
        for words, said in ((("record", "--port", "abc", "--", "true"), "--port: 'abc' is no number that it takes"),
                            (("ui", "x", "--port", "99999"), "--port: '99999' is no number that it takes"),
                            (("sql", "x", "--threads", "0"), "--threads: '0' is not from 1 to 1024"),
                            (("sql", "x", "--format", "xml"), "--format: 'xml' is none of table,csv,json,parquet,arrow"),
                            (("record", "--ring", "1M", "--ring", "2M", "--", "true"), "--ring may be given once"),
                            (("hash",), "say which FILE"), (("live",), "say which SQL statement"), (("import",), "say which LOG"),
                            (("pattern", "x"), "--path is required"), (("dye",), "say which: new, add, remove, list")):
            self.assertTrue(self.refusal(*words).startswith(f"{said} (dyetrace {words[0]} "), (words, self.refusal(*words)))

    def test_a_verb_that_is_not_known_is_named(self):
        self.assertEqual(self.refusal("recrod", "--", "ls"), "'recrod' is no verb, did you mean 'record'? (dyetrace --help)")
        self.assertEqual(self.refusal("quux"), "'quux' is no verb (dyetrace --help)")
        self.assertEqual(self.refusal("hlep"), "'hlep' is no verb, did you mean 'help'? (dyetrace --help)")
        self.assertEqual(self.refusal("verison"), "'verison' is no verb, did you mean 'version'? (dyetrace --help)")
        self.assertEqual(self.refusal("version", "--json"), "'--json' is not known (dyetrace version --help)")
        self.assertEqual(self.refusal("help", "sqll"), "'sqll' is no verb, did you mean 'sql'? (dyetrace --help)")
        self.assertEqual(self.refusal("dye", "adid", "x"), "'adid' is no verb, did you mean 'add'? (dyetrace dye --help)")

    def test_help_and_version_are_verbs_too(self):
        said = lambda *words: subprocess.run([DYETRACE, *words], capture_output=True, text=True, check=True, timeout=support.PATIENCE_S).stdout
        self.assertEqual(said("help"), said("--help"))
        self.assertEqual(said("help", "record"), said("record", "--help"))
        self.assertEqual(said("help", "sql"), said("sql", "--help"))
        self.assertEqual(said("version"), said("--version"))
        self.assertEqual(said("-V"), said("--version"))

    def test_what_makes_no_sense_ends_with_2_and_what_cannot_be_done_with_1(self):
        trace = self.record("--", "true")
        for status, words in ((2, ("record", "--", )), (2, ("record", "--where", "pth = 1", "--", "ls")), (2, ("record", "--duration", "x", "--", "ls")),
                              (2, ("stat",)), (2, ("stat", "--longer", "x", "--", "ls")), (2, ("top", "--where", "pth = 1")), (2, ("follow", trace.path)),
                              (2, ("report", trace.path, "--clock", "x")), (1, ("report", self.path("none"))), (1, ("record", "-p", "999999999")),
                              (1, ("pattern", trace.path, "--path", "/none")), (1, ("sql", trace.path, "SELECT none")),
                              (2, ("sql", trace.path, "SELCT 1")), (2, ("live", "SELCT 1")), (2, ("sql", trace.path, "--memory", "foo", "SELECT 1")),
                              (2, ("sql", trace.path, "--temporary", "-1", "SELECT 1")), (2, ("export", trace.path, "--csv", "--memory", "foo")),
                              (2, ("record", "-o", self.path("new"), "--probe", "foo", "--", "true")), (2, ("follow", trace.path, "--event", "-1")),
                              (1, ("follow", trace.path, "--hash", "-1"))):
            done = subprocess.run([DYETRACE, *words], capture_output=True, text=True, check=False, timeout=support.PATIENCE_S)
            self.assertEqual(done.returncode, status, (words, done.stderr))
            self.one_line(done.stderr)


if __name__ == "__main__":
    support.main()
