#!/usr/bin/env python3
"""Do the man pages and completions say what --help says?      manual_test.py <dyetrace> <build>/share

Reads --help by itself, not with help_text.py, so that a fault in that reader is seen.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SHARE = sys.argv[1], pathlib.Path(sys.argv[2])
BASH = SHARE / "bash-completion/completions/dyetrace"
ZSH = SHARE / "zsh/site-functions/_dyetrace"
FISH = SHARE / "fish/vendor_completions.d/dyetrace.fish"
COLUMNS = 80


def run(*words, **options):
    return subprocess.run(words, check=True, capture_output=True, text=True, **options).stdout


def help_of(verb):
    return run(PROGRAM, *verb.split(), "--help")


def options_of(help_):
    """Every -x and --word at the beginning of a line of the options."""
    table = help_.split("\nOptions:\n")[1].split("\n\n")[0]
    heads = re.findall(r"^  (-[\w-]+(?:, -[\w-]+)*)", table, re.MULTILINE)
    return [name for head in heads for name in head.split(", ")]


VERBS = re.findall(r"^  ([\w-]+) ", help_of("").split("\nVerbs:\n")[1].split("\n\n")[0], re.MULTILINE)
HELPS = {verb: help_of(verb) for verb in ["", *VERBS]}


class HelpText(unittest.TestCase):
    def test_every_verb_has_options_and_an_example_that_names_it(self):
        self.assertGreaterEqual(len(VERBS), 8)
        for verb, help_ in HELPS.items():
            self.assertIn("--help", options_of(help_))
            self.assertRegex(help_, rf"\nExamples:\n  dyetrace {verb}")

    def test_it_fits_a_terminal(self):
        for help_ in HELPS.values():
            self.assertEqual([], [line for line in help_.splitlines() if len(line) > COLUMNS])


class ManPages(unittest.TestCase):
    def test_there_is_one_for_the_program_and_for_each_verb(self):
        self.assertEqual(sorted(["dyetrace.1", *[f"dyetrace-{verb}.1" for verb in VERBS]]),
                         sorted(path.name for path in (SHARE / "man/man1").iterdir()))

    def test_each_has_the_options_of_help_and_no_others(self):
        for verb, help_ in HELPS.items():
            page = (SHARE / "man/man1" / (f"dyetrace-{verb}.1" if verb else "dyetrace.1")).read_text().replace("\\-", "-")
            section = page.split("\n.SH OPTIONS\n")[1].split("\n.SH ")[0]
            terms = re.findall(r"^\.TP\n(.*)$", section, re.MULTILINE)
            named = [name for term in terms for name in re.findall(r"\\fB(-[\w-]+)\\fR", term)]
            self.assertEqual(options_of(help_), named, verb)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff_has_nothing_to_complain_about(self):
        for page in (SHARE / "man/man1").iterdir():
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", page], check=True, capture_output=True, text=True)
            self.assertEqual("", done.stderr, page.name)


class Completions(unittest.TestCase):
    def bash(self, *words):
        """What bash offers for the last of these words."""
        script = f'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dyetrace; printf "%s\\n" "${{COMPREPLY[@]}}"'
        return run("bash", "-c", script, BASH, "dyetrace", *words, cwd=self.folder).splitlines()

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = self.scratch.name
        pathlib.Path(self.folder, "trace one").mkdir()
        pathlib.Path(self.folder, "answer.csv").touch()

    def tearDown(self):
        self.scratch.cleanup()

    def test_bash_completes_each_verb_and_each_option(self):
        for verb in VERBS:
            self.assertIn(verb, self.bash(verb[:2]))
            options = options_of(HELPS[verb])
            self.assertEqual(sorted([*options, "--"]), sorted(self.bash(verb, "-")))
            for option in options:
                self.assertIn(option, self.bash(verb, option[:-1]))

    def test_bash_completes_values(self):
        self.assertEqual(["trace one"], self.bash("report", ""))
        self.assertEqual(["trace one"], self.bash("record", "-o", "tr"))
        self.assertEqual(["answer.csv"], self.bash("sql", "trace one", "--output", "an"))
        self.assertEqual(["csv"], self.bash("sql", "trace one", "--format", "c"))
        self.assertEqual(["csv"], self.bash("sql", "trace one", "--format", "=", "c"))
        self.assertEqual(["table", "csv", "json", "parquet"], self.bash("sql", "trace one", "--format", "="))
        self.assertEqual(["%file"], self.bash("trace", "-e", "%f"))
        self.assertIn("1", self.bash("record", "-p", "1"))
        self.assertEqual([""], self.bash("record", "--where", ""))

    def test_bash_completes_the_command_that_is_watched(self):
        self.assertIn("bash", self.bash("record", "--", "bas"))
        self.assertEqual(["answer.csv"], self.bash("stat", "--", "cat", "ans"))
        self.assertIn("bash", self.bash("trace", "bas"))

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_completes_each_verb_and_each_option(self):
        queries = [f"dyetrace {verb} -" for verb in VERBS] + [f"dyetrace {verb} --" for verb in VERBS]
        script = f"source {FISH}\n" + "".join(f"complete -C '{query}'\necho =\n" for query in queries)
        # HOME: fish keeps a history
        answers = run("fish", "--private", "-c", script, env={"HOME": self.folder, "PATH": "/usr/bin:/bin"}).split("=\n")
        offered = {query: [line.split("\t")[0] for line in answer.splitlines()] for query, answer in zip(queries, answers)}
        for verb in VERBS:
            both = offered[f"dyetrace {verb} -"] + offered[f"dyetrace {verb} --"]
            self.assertEqual([], [option for option in options_of(HELPS[verb]) if option not in both], verb)

    def test_zsh_has_each_verb_and_each_option(self):
        text = ZSH.read_text()
        for verb in VERBS:
            self.assertIn(f"    '{verb}:", text)
            part = text.split(f"\n    {verb})\n")[1].split("\n        ;;")[0]
            heads = re.findall(r"^ +(?:'\([^']*\)'\{([^}]*)\}|(-[\w-]+))'\[", part, re.MULTILINE)
            named = [name for several, one in heads for name in (several or one).split(",")]
            self.assertEqual(options_of(HELPS[verb]), named, verb)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_can_read_it(self):
        run("zsh", "-n", ZSH)


unittest.main(argv=sys.argv[:1], verbosity=2)
