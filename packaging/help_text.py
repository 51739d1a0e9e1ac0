"""Reads what `dyetrace VERB --help` prints, so that man pages and completions say what the program says.

    Record a command, processes or the whole system          description
    Usage: dyetrace record [options] [-- CMD...]             usage

      CMD                     Command to run and watch       positionals

    Options:
      -o, --output TRACE      Folder of the trace            options
      -r, --relative-timestamps
                              Time since the call before

    Any other words.                                         notes

    Examples:
      dyetrace record -o trace -- git status                 examples

The layout is src/apps/cli/help_formatter.h's.
"""
import dataclasses
import re
import subprocess

RIGHT = 26  # kHelpLeftColumns


@dataclasses.dataclass
class Entry:
    """A verb, a positional or an option: what stands left of RIGHT and what stands right of it."""
    left: str
    text: str
    stands_for: "Entry | None" = None  # `CALLS alone is --trace=CALLS`

    @property
    def names(self):
        return re.findall(r"(?<!\S)--?[\w-]+", self.left)

    @property
    def value(self):
        words = [word for word in self.left.replace(",", " , ").split() if not word.startswith("-")]
        return "".join(word for word in words if word != ",") if not self.names else self.left.split(self.names[-1], 1)[1].strip()

    @property
    def choices(self):
        """`table, csv, json (an object per line)` is a list of words; `500ms, 90s` and `Folder of the trace` are not."""
        plain = re.sub(r"\([^)]*\)", "", self.text).split(": ")[-1]
        words = [word.strip() for word in plain.split(",")]
        if len(words) > 1 and all(re.fullmatch(r"[a-z]+", word) for word in words):
            return words
        return re.findall(r"%[a-z]+", self.text) or (self.stands_for.choices if self.stands_for else [])


@dataclasses.dataclass
class Help:
    description: str = ""
    usage: str = ""
    positionals: list = dataclasses.field(default_factory=list)
    options: list = dataclasses.field(default_factory=list)
    verbs: list = dataclasses.field(default_factory=list)
    notes: list = dataclasses.field(default_factory=list)
    examples: list = dataclasses.field(default_factory=list)
    parts: dict = dataclasses.field(default_factory=dict)  # "add": help of `dye add`


def _entries(lines):
    entries = []
    for line in lines:
        if line.startswith(" " * RIGHT):
            entries[-1].text = f"{entries[-1].text} {line.strip()}".strip()
        elif line[RIGHT - 2:RIGHT].strip():
            entries.append(Entry(line.strip(), ""))
        else:
            entries.append(Entry(line[:RIGHT].strip(), line[RIGHT:].strip()))
    return entries


def parse(text):
    paragraphs = [paragraph.split("\n") for paragraph in text.strip("\n").split("\n\n")]
    help_ = Help(description=paragraphs[0][0], usage=paragraphs[0][1].removeprefix("Usage: "))
    for lines in paragraphs[1:]:
        if lines[0] == "Options:":
            help_.options = _entries(lines[1:])
            by_name = {name: entry for entry in help_.options for name in entry.names}
            for entry in help_.options:
                if found := re.search(r" alone is (--[\w-]+)=", entry.text):
                    entry.stands_for = by_name[found[1]]
        elif lines[0] == "Verbs:":
            help_.verbs = _entries(lines[1:])
        elif lines[0] == "Examples:":
            help_.examples = [line.strip() for line in lines[1:] if line.startswith("  ")]
        elif lines[0].startswith("  "):
            help_.positionals = _entries(lines)
        else:
            help_.notes.append(" ".join(lines))
    return help_


def of_program(program):
    """{"": help of dyetrace itself, "record": of its verb, ...}, in the order of --help."""
    def ask(*words):
        return parse(subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True).stdout)

    def ask_verb(verb):
        help_ = ask(verb)
        help_.parts = {part.left: ask(verb, part.left) for part in help_.verbs}
        if help_.parts:
            help_.positionals = [Entry("VERB", ", ".join(help_.parts))]
        return help_

    top = ask()
    return {"": top} | {verb.left: ask_verb(verb.left) for verb in top.verbs}
