"""What each system call can move (moves.toml): held against syscalls.toml, and as a table in C++ and a function in BPF C."""

from dataclasses import dataclass

from .model import ROOT, SchemaError, load_toml

ALWAYS = 0  # in place of a group's number in the kernel


@dataclass
class Condition:
    argument: int
    mask: int | None  # None: all of it
    value: int


@dataclass
class Unseen:
    """A way in which bytes move that no event tells."""

    name: str
    reason: str
    always: bool
    calls: list[tuple[str, list[Condition]]]
    families: list[int]  # of sockets


def parse_condition(text):
    """1&128=0"""
    left, _, value = text.partition("=")
    argument, _, mask = left.partition("&")
    return Condition(int(argument), int(mask, 0) if mask else None, int(value, 0))


def parse_call(text):
    """getsockopt:1=6:2=35"""
    name, *conditions = text.split(":")
    return name, [parse_condition(c) for c in conditions]


class Moves:
    def __init__(self, syscalls, flags):
        data = load_toml(ROOT / "moves.toml")
        self.unseen = [Unseen(name, group["reason"], group.get("always", False), [parse_call(c) for c in group.get("calls", [])], group.get("families", []))
                       for name, group in data["unseen"].items()]
        self.told = [group for group in self.unseen if not group.always]  # those that the kernel's programs tell of, by number from 1
        self.answers = {call.name: "seen" for call in syscalls if call.transfer}
        for name in data["parts"]["calls"]:
            self.answer(name, "seen")
        for group in self.unseen:
            for name in dict.fromkeys(name for name, _ in group.calls):
                self.answer(name, group.name)
        for name in data["nothing"]["calls"]:
            self.answer(name, "nothing")
        names = {call.name for call in syscalls}
        if unknown := self.answers.keys() - names:
            raise SchemaError(f"moves: there is no call {', '.join(sorted(unknown))}")
        if silent := names - self.answers.keys():
            raise SchemaError(f"moves: which bytes can {', '.join(sorted(silent))} move?")
        self.check_commands(data, next(s for s in flags if "ioctl_command" in s.types).values)

    def answer(self, name, what):
        """A call may be in two groups by different conditions; then its answer is the first."""
        known = self.answers.setdefault(name, what)
        if known != what and (known in ("seen", "nothing") or what in ("seen", "nothing")):
            raise SchemaError(f"moves: {name} is {known} and {what}")

    def check_commands(self, data, commands):
        grouped = {name for name, number in commands for group in self.unseen for call, conditions in group.calls
                   if call == "ioctl" and all((number & c.mask if c.mask else number) == c.value for c in conditions)}
        answers = sorted([*grouped, *data["changes"]["ioctl"], *data["nothing"]["ioctl"]])
        if answers != sorted(name for name, _ in commands):
            raise SchemaError(f"moves: the commands of ioctl that have one answer are {', '.join(answers)}")

    def is_told(self, name):
        return any(name == call for group in self.told for call, _ in group.calls)


def c_condition(condition):
    argument = f"arguments[{condition.argument}]"
    return f"({argument} & {condition.mask:#x}) == {condition.value:#x}" if condition.mask else f"{argument} == {condition.value:#x}"


def bpf_move_groups(schema):
    return ("/* Which calls move bytes that no event tells, see moves.toml: the group, from 1. */\n"
            f"#define UNSEEN_GROUPS {len(schema.moves.told)}\n\n"
            "/* Cases by the family of a socket. */\n#define UNSEEN_FAMILIES \\\n"
            + "".join(f"    case {family}: \\\n        return {i + 1}; \\\n" for i, group in enumerate(schema.moves.told) for family in group.families))


def bpf_moves(schema, abis):
    """Cases by number, of a switch in a function of `arguments` that returns a group, from 1; 0: it moves nothing unseen."""
    out = []
    for kind, abi in abis.items():
        number = {call.name: call.numbers[abi] for call in schema.syscalls if abi in call.numbers}
        cases = {}
        for i, group in enumerate(schema.moves.told):
            for name, conditions in group.calls:
                if name in number:
                    cases.setdefault(number[name], []).append((" && ".join(map(c_condition, conditions)) or "1", i + 1))
        rows = "".join(f"    case {n}: \\\n" + "".join(f"        if ({test}) \\\n            return {group}; \\\n" for test, group in tests) + "        return 0; \\\n"
                       for n, tests in sorted(cases.items()))
        out.append(f"#define UNSEEN_CASES_{kind} \\\n{rows}\n")
    return "".join(out)


def cpp_moves(schema):
    rows = "".join(f'    {{"{g.name}", "{g.reason}"}},\n' for g in schema.moves.told)
    always = "".join(f'    "{g.name}",\n' for g in schema.moves.unseen if g.always)
    return (f"constexpr UnseenBytes kUnseen[] = {{\n{rows}}};\n\nconstexpr std::string_view kNeverSeen[] = {{\n{always}}};\n\n",
            "std::span<const UnseenBytes> unseen_bytes() { return kUnseen; }\n\nstd::span<const std::string_view> never_seen() { return kNeverSeen; }\n\n")
