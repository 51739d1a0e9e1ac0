#!/usr/bin/env python3
"""What people are told who ask a trace: commands of the prompt as statements, and one clear line for what cannot be."""

import json
import os
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
        self.assertTrue(any(line.startswith("event_id,UBIGINT,") and not line.endswith(",") for line in columns), columns)
        self.assertEqual(self.answer(trace, ".tables"), self.answer(trace, input=".tables\n"), "the same from a pipe")

    def test_a_number_in_csv_is_a_number_to_a_shell(self):
        trace = self.record("--", "true")
        done = subprocess.run(["bash", "-c", 'n=$("$0" sql "$1" "SELECT 41" --format csv | tail -n 1); echo $((n + 1))', DYETRACE, trace.path],
                              capture_output=True, text=True, timeout=support.PATIENCE_S)
        self.assertEqual((done.stdout, done.stderr), ("42\n", ""))

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


if __name__ == "__main__":
    support.main()
