#!/usr/bin/env python3
"""Writes the completions of bash, zsh and fish from what `--help` says.

    make_completions.py <dyetrace> <folder>

    <folder>/bash-completion/completions/dyetrace
    <folder>/zsh/site-functions/_dyetrace
    <folder>/fish/vendor_completions.d/dyetrace.fish

What a value is, is known from its word in --help: a TRACE is a folder, a FILE a file, and so on (KINDS); where the text is
a list of words (`table, csv, json`), these are offered.
"""
import pathlib
import sys

import help_text

# The word of --help: how bash, zsh and fish complete it.
KINDS = {
    "TRACE": ("folder", "_files -/", "-x -a '(__fish_complete_directories)'"),
    "TRACE2": ("folder", "_files -/", "-x -a '(__fish_complete_directories)'"),
    "FOLDER": ("folder", "_files -/", "-x -a '(__fish_complete_directories)'"),
    "FILE": ("file", "_files", "-r -F"),
    "PATH": ("file", "_files", "-r -F"),
    "PID[,PID]": ("process", "_pids", "-x -a '(__fish_complete_pids)'"),
    "CMD": ("command", "_normal", "-x -a '(__fish_complete_subcommand)'"),
}
NOTHING = ("nothing", " ", "-x")


def bash_words(entry):
    return "words " + " ".join(entry.choices) if entry.choices else KINDS.get(entry.value, NOTHING)[0]


def bash(helps):
    top, *verbs = helps.items()
    lines = ["# Completion of dyetrace for bash; made from its --help.", "",
             "_dyetrace_options() { # verb", "    case $1 in"]
    for verb, help_ in verbs:
        lines.append(f"        {verb}) echo '{' '.join(name for entry in help_.options for name in entry.names)}' ;;")
    lines += [f"        *) echo '{' '.join(name for entry in top[1].options for name in entry.names)}' ;;",
              "    esac", "}", "",
              "# What comes after an option, or without one.",
              "_dyetrace_value() { # verb option", '    case "$1 $2" in']
    for verb, help_ in verbs:
        for entry in help_.options:
            if entry.value:
                pattern = "|".join(f"'{verb} {name}'" for name in entry.names)
                lines.append(f"        {pattern}) echo '{bash_words(entry)}' ;;")
        for entry in help_.positionals[:1]:
            if "-- CMD" not in help_.usage or verb == "trace":
                lines.append(f"        '{verb} ') echo '{bash_words(entry)}' ;;")
    lines += ["    esac", "}", "", BASH.replace("@VERBS@", " ".join(verb for verb, _ in verbs))]
    return "\n".join(lines)


BASH = r"""_dyetrace_reply() { # kind word...
    local word=$cur
    case $1 in
        folder) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
        file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        command) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
        process) mapfile -t COMPREPLY < <(cd /proc && compgen -W "$(echo [0-9]*)" -- "$word") ;;
        words) mapfile -t COMPREPLY < <(compgen -W "${*:2}" -- "$word") ;;
    esac
}

_dyetrace() {
    local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]} kind i
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _dyetrace_reply words @VERBS@ "$(_dyetrace_options '')"
        return
    fi
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == -- ]]; then # the command that is watched
            if ((i == COMP_CWORD - 1)); then _dyetrace_reply command; else _dyetrace_reply file; fi
            return
        fi
    done
    if [[ $cur == = ]]; then # --format=csv is three words to bash
        cur=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    kind=$(_dyetrace_value "$verb" "$previous")
    if [[ $previous == -* && -n $kind ]]; then
        _dyetrace_reply $kind
    elif [[ $cur == -* ]]; then
        _dyetrace_reply words "$(_dyetrace_options "$verb")" --
    else
        _dyetrace_reply $(_dyetrace_value "$verb" "")
    fi
}
complete -F _dyetrace dyetrace
"""


def brief(text):
    """The first clause: a completion's explanation is one short line."""
    return text.split(";")[0].split(":")[0].split(" (")[0]


def zsh_text(text):
    for letter in "\\[]:":
        text = text.replace(letter, "\\" + letter)
    return text.replace("'", "'\\''").replace("`", "")


def zsh_action(entry):
    return f"({' '.join(entry.choices)})" if entry.choices else KINDS.get(entry.value, NOTHING)[1]


def zsh_options(entries):
    for entry in entries:
        value = f":{zsh_text(entry.value)}:{zsh_action(entry)}" if entry.value else ""
        names = f"'({' '.join(entry.names)})'{{{','.join(entry.names)}}}" if len(entry.names) > 1 else entry.names[0]
        yield f"            {names}'[{zsh_text(brief(entry.text))}]{value}'"


def zsh(helps):
    top, *verbs = helps.items()
    lines = ["#compdef dyetrace", "# Completion of dyetrace for zsh; made from its --help.", "",
             "local -a verbs", "verbs=("]
    lines += [f"    '{entry.left}:{zsh_text(entry.text)}'" for entry in top[1].verbs]
    lines += [")", "if ((CURRENT == 2)); then", "    _describe verb verbs",
              "    _arguments " + " ".join(option.strip() for option in zsh_options(top[1].options)), "    return", "fi",
              "local verb=$words[2]", "shift words", "((CURRENT--))", "case $verb in"]
    for verb, help_ in verbs:
        arguments = list(zsh_options(help_.options))
        for entry in help_.positionals:
            if entry.value == "CMD":
                arguments += ["            '(-)1:command: _command_names -e'", "            '*::arguments: _normal'"]
            else:
                arguments.append(f"            ':{zsh_text(entry.value)}:{zsh_action(entry)}'")
        lines += [f"    {verb})", "        _arguments -s -S \\", " \\\n".join(arguments), "        ;;"]
    return "\n".join([*lines, "esac", ""])


def fish(helps):
    top, *verbs = helps.items()
    names = " ".join(verb for verb, _ in verbs)
    lines = ["# Completion of dyetrace for fish; made from its --help.", "complete -c dyetrace -f"]

    def option(condition, entry):
        words = [f"complete -c dyetrace -n '{condition}'"]
        for name in entry.names:
            words.append(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}")
        if entry.value:
            words.append(f"-x -a '{' '.join(entry.choices)}'" if entry.choices else KINDS.get(entry.value, NOTHING)[2])
        words.append("-d '" + brief(entry.text).replace("\\", "\\\\").replace("'", "\\'") + "'")
        return " ".join(words)

    none_yet = f"not __fish_seen_subcommand_from {names}"
    for entry in top[1].verbs:
        lines.append(f"complete -c dyetrace -n '{none_yet}' -a {entry.left} -d '{entry.text}'")
    lines += [option(none_yet, entry) for entry in top[1].options]
    for verb, help_ in verbs:
        condition = f"__fish_seen_subcommand_from {verb}"
        lines += [option(condition, entry) for entry in help_.options]
        for entry in help_.positionals[:1]:
            lines.append(f"complete -c dyetrace -n '{condition}' {KINDS.get(entry.value, NOTHING)[2]}")
    return "\n".join([*lines, ""])


def main():
    program, folder = sys.argv[1:]
    helps = help_text.of_program(program)
    for name, text in {"bash-completion/completions/dyetrace": bash(helps),
                       "zsh/site-functions/_dyetrace": zsh(helps),
                       "fish/vendor_completions.d/dyetrace.fish": fish(helps)}.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


main()
