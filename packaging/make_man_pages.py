#!/usr/bin/env python3
"""Writes the man pages: options and examples as `--help` says them, around the words in man/*.md.

    make_man_pages.py <dyetrace> <version> <folder>        <folder>/dyetrace.1, dyetrace-record.1, ...

man/VERB.md is a little Markdown: what stands before the first `## HEADING` is the DESCRIPTION; paragraphs, `code`,
blocks indented by four blanks, and lists of "- `term`: meaning".
"""
import pathlib
import re
import sys

import help_text

PROSE = pathlib.Path(__file__).resolve().parent / "man"


def quoted(text):
    """Words as roff shows them unchanged."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return "\\&" + text if text.startswith(".") else text


def inline(text):
    parts = re.split(r"`([^`]+)`", text)
    return "".join(f"\\fB{quoted(part)}\\fR" if index % 2 else quoted(part) for index, part in enumerate(parts))


def tagged(term, text):
    return [".TP", term, inline(text)]


def code(lines):
    return [".PP", ".in +4n", ".nf", *[quoted(line) for line in lines], ".fi", ".in"]


def list_items(lines):
    for item in re.split(r"(?:^|\n)- ", "\n".join(lines))[1:]:
        text = " ".join(line.strip() for line in item.split("\n"))
        if found := re.fullmatch(r"`([^`]+)`: (.*)", text):
            yield from tagged(f"\\fB{quoted(found[1])}\\fR", found[2])
        else:
            yield from [".IP \\(bu 2", inline(text)]


def blocks(text):
    for block in text.strip("\n").split("\n\n"):
        lines = block.split("\n")
        if lines[0].startswith("    "):
            yield from code([line[4:] for line in lines])
        elif lines[0].startswith("- "):
            yield from list_items(lines)
        else:
            yield from [".PP", inline(" ".join(lines))]


def sections(prose):
    """[("DESCRIPTION", text), (heading, text), ...]"""
    parts = re.split(r"^## (.+)\n", "## DESCRIPTION\n" + prose, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2]))


def option_term(entry):
    term = ", ".join(f"\\fB{quoted(name)}\\fR" for name in entry.names)
    value = f"\\fI{quoted(entry.value)}\\fR" if entry.value else ""
    return f"{term} {value}".strip()


def part(help_):
    """A verb of a verb."""
    lines = tagged(f"\\fB{quoted(help_.usage)}\\fR", help_.description)
    for entry in help_.options:
        if entry.names != ["-h", "--help"]:
            lines += [".RS", *tagged(option_term(entry), entry.text), ".RE"]
    return lines


def page(verb, help_, verbs, version):
    name = f"dyetrace-{verb}" if verb else "dyetrace"
    first, *others = sections((PROSE / f"{verb or 'dyetrace'}.md").read_text())
    usage = help_.usage.split()
    lines = [f'.TH "{name.upper()}" "1" "" "dyetrace {version}" "dyetrace"',
             ".SH NAME", quoted(f"{name} - {help_.description[0].lower()}{help_.description[1:]}"),
             ".SH SYNOPSIS", f"\\fB{quoted(' '.join(usage[:2 if verb else 1]))}\\fR "
                             f"\\fI{quoted(' '.join(usage[2 if verb else 1:]))}\\fR",
             ".SH DESCRIPTION", *blocks(first[1])]
    for note in help_.notes:
        lines += [".PP", inline(note)] if verb else []
    if help_.verbs:
        lines.append(".SH VERBS")
        for entry in help_.verbs:
            if verb:
                lines += part(help_.parts[entry.left])
            else:
                lines += tagged(f"\\fBdyetrace\\-{entry.left}\\fR(1)", entry.text)
    lines.append(".SH OPTIONS")
    for entry in help_.positionals:
        lines += tagged(f"\\fI{quoted(entry.value)}\\fR", entry.text)
    for entry in help_.options:
        lines += tagged(option_term(entry), entry.text)
    for heading, text in others:
        lines += [f".SH {heading}", *blocks(text)]
    lines += [".SH EXAMPLES", *code(help_.examples)]
    related = [other for other in ["", *verbs] if other != verb]
    lines += [".SH SEE ALSO", ",\n".join(f"\\fBdyetrace{other and chr(92) + '-' + other}\\fR(1)" for other in related)]
    return name, "\n".join(lines) + "\n"


def main():
    program, version, folder = sys.argv[1:]
    helps = help_text.of_program(program)
    verbs = [verb for verb in helps if verb]
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for verb, help_ in helps.items():
        name, text = page(verb, help_, verbs, version)
        pathlib.Path(folder, f"{name}.1").write_text(text)


main()
