"""Reads the TOML files of src/schema into plain objects and refuses what the rest could not carry."""

import pathlib
import tomllib
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "s32": 4, "s64": 8, "bytes": 1, "ip": 1}
HEADER_BYTES = 16  # record_header: size, type, flags, sequence

# Arguments that are not scalars: left out of the public column `arguments`.
HIDDEN = {"pointer", "path", "path2", "bytes_in", "bytes_out", "iovec_in", "iovec_out", "message_in", "message_out", "messages_in",
          "messages_out", "address_in", "address_out", "fd_pair", "structure_in", "structure_out", "stat_out", "text_out",
          "poll_set", "fd_set", "timespec", "control_blocks", "io_events", "epoll_event", "epoll_events", "open_how", "clone_args",
          "wait_status", "fd", "offset_pointer", "offset_pointer2", "value_in", "value_out", "option_in", "option_out", "length_pointer",
          "rlimit_in", "rlimit_out", "text_list", "environment", "none", "sigaction_in", "sigaction_out", "sigset_in", "sigset_out",
          "signal_stack_in", "signal_stack_out", "utsname_out", "sysinfo_out", "random_out", "rusage_out", "cpu_set_in", "cpu_set_out",
          "itimerval_in", "itimerval_out", "itimerspec_in", "itimerspec_out", "timespec_out", "timeval_out", "timeval_in", "utimbuf_in", "capability_header",
          "capabilities_in", "capabilities_out", "flock_in", "flock_out", "int_in", "int_out", "long_out", "winsize_in", "winsize_out",
          "interface", "signal_out", "comm_in", "comm_out", "text_in", "dirents_out", "mask_in", "iovec_remote", "iovec_local_in", "iovec_local_out", "owner_in",
          "owner_out", "extents", "context_out", "queue_in", "queue_out", "typed_in", "typed_out", "siginfo_in", "siginfo_out"}

# Column names that would have to be quoted in DuckDB or in the SQL standard.
RESERVED = set("""all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create
default deferrable desc describe distinct do else end except false fetch for foreign from grant group having in initially
intersect into lambda lateral leading limit not null offset on only or order pivot placing primary qualify references
returning select show some summarize symmetric table then to trailing true union unique unpivot using variadic when where
window with""".split())


class SchemaError(Exception):
    pass


@dataclass
class Field:
    name: str
    type: str
    comment: str
    count: int = 1
    enum: str | None = None
    present: str | None = None
    sensitive: bool = False
    at: int = 0  # bytes after the header

    @property
    def size(self):
        return SIZES[self.type] * self.count


@dataclass
class Record:
    name: str
    id: int
    stream: str
    must_understand: bool
    comment: str
    fields: list[Field]
    attachments: list[str]
    bits: list[tuple[str, str]] = field(default_factory=list)  # of `present`: name, comment

    @property
    def size(self):
        return sum(f.size for f in self.fields)

    @property
    def is_event(self):
        """A row of `events`; other records of the same stream belong to one."""
        return self.name.endswith("_event")


@dataclass
class Enum:
    name: str
    comment: str
    values: dict[str, int]


@dataclass
class Argument:
    name: str
    type: str


# Buffers of a call that moves bytes: word in `arguments` -> what it does with them, if it has one object.
BUFFERS = {word + side: transfer for word in ("bytes", "iovec", "message", "messages") for side, transfer in (("_out", "read"), ("_in", "write"))}
BUFFERS |= {word + side: transfer for word in ("iovec_local", "typed") for side, transfer in (("_out", "read"), ("_in", "write"))}
COPIES = {"copy_to", "copy_from", "tee"}
BY_MODE = "by_mode"  # into an object that is open for writing, out of one that is open for reading
CUTS = {"open", "truncate", "truncate_split", "allocate"}


# Calling conventions, by the number that an event has (enums.toml); the second of a machine is that of its 32-bit programs.
ABIS = {"x86_64": 0, "i386": 1, "x32": 2, "arm64": 3, "arm": 4}
MACHINES = {"x86": ("x86_64", "i386"), "arm64": ("arm64", "arm")}  # as BPF calls them: __TARGET_ARCH_x86
NARROW_ABIS = {compat for _, compat in MACHINES.values()}  # whose registers have 32 bits
# From these numbers on a call has the same one on all machines, of their own programs and of 32-bit ones.
SAME_FROM, SAME_FROM_32 = 424, 403
# Sets of flags whose numbers are others there: word of syscalls.toml -> word of flags/*.toml.
OTHER_WORDS = {abi: {"open_flags": "open_flags_arm", "descriptor_flags": "descriptor_flags_arm"} for abi in MACHINES["arm64"]}


@dataclass
class Syscall:
    name: str
    numbers: dict[str, int]
    class_name: str
    returns: str
    arguments: list[Argument]
    by_abi: dict[str, list[Argument]]  # where it has others
    offset: str | None
    special: str | None
    decoded: bool
    packed_i386: bool                # the first register points to the arguments, a word of 4 bytes each
    choices: list[tuple[str, int, str]]  # what its by_command is: the command, its number, a word of `arguments`
    transfer: str | None             # what it does with bytes: a value of the enumeration, or by_mode; None: it moves none
    cuts: str | None                 # how it changes what is in a file without moving bytes: one of CUTS
    carries: list[tuple[str, int]]   # what it does by its first argument, from 1: the call, and how many words hold its arguments
    narrow: int                      # bits of the arguments of which a 64-bit kernel reads the lower 32 bits only
    keeps_link: bool                 # a path that ends in a symbolic link means the link, not what it leads to
    skips_arm: int | None            # the register, from 0, that 32-bit programs of arm leave empty, so that a pair begins at an even one

    def arguments_of(self, abi):
        return self.by_abi.get(abi, self.arguments)

    def choices_of(self, abi):
        return [(word, number, OTHER_WORDS.get(abi, {}).get(kind, kind)) for word, number, kind in self.choices]

    def shows(self, argument):
        """Whether the public column `arguments` has it. A call that makes a descriptor says in `fd` which; the one it was given is here."""
        return argument.type not in HIDDEN or (argument.type == "fd" and self.returns in ("fd", "fcntl"))


@dataclass
class Column:
    name: str
    type: str
    comment: str
    group: str
    sql: dict[str, str]  # by record of the stream events: what fills it from that record; absent: NULL
    clustered_sql: str | None  # what fills it from each record instead when hosts are on one clock


@dataclass
class Table:
    name: str
    comment: str
    sql: str
    columns: dict[str, str]
    stored: bool
    derived: dict[str, str]  # columns of internal.derived_<name>, numbers that a reader computes
    signed: list[str]        # columns that are unsigned in `sql`, and BIGINT in the table


def load_toml(path):
    with open(path, "rb") as file:
        return tomllib.load(file)


def read_record(path):
    data = load_toml(path)
    head = data["record"]
    fields = [Field(**f) for f in head["field"]]
    record = Record(head["name"], head["id"], head["stream"], head["must_understand"], head["comment"], fields,
                    head.get("attachments", []))
    at = 0
    for f in fields:
        if at % SIZES[f.type]:
            raise SchemaError(f"{path}: {f.name} is not aligned: it begins at byte {at}")
        f.at = at
        at += f.size
        if f.present and f.present not in [b for b, _ in record.bits]:
            record.bits.append((f.present, f"{f.name} holds a value"))
    if at % 8:
        raise SchemaError(f"{path}: {at} bytes is not a multiple of 8: add a reserved field")
    record.bits += [(b["name"], b["comment"]) for b in head.get("extra_bits", [])]
    return record


def read_records():
    paths = sorted(ROOT.glob("events/*.toml")) + sorted(ROOT.glob("facts/*.toml"))
    records = sorted((read_record(p) for p in paths), key=lambda r: r.id)
    ids = [r.id for r in records]
    if len(set(ids)) != len(ids):
        raise SchemaError("two records share an id")
    return records


def read_enums():
    return [Enum(name, e["comment"], e["values"]) for name, e in load_toml(ROOT / "enums.toml").items()]


def parse_arguments(words):
    return [Argument(*word.split(":")) for word in words]


def number_of(flags, type_name, word):
    numbers = [number for s in flags if type_name in s.types for name, number in s.values if name == word]
    if len(numbers) != 1:
        raise SchemaError(f"choices: {type_name} has no {word}")
    return numbers[0]


def read_choices(flags, call, arguments):
    """What follows the commands of a call, by rising command."""
    rows = [row for name, row in load_toml(ROOT / "choices.toml").items() if call in [name] + row.get("also", [])]
    places = [i for i, a in enumerate(arguments) if a.type == "by_command"]
    if len(rows) != len(places):
        raise SchemaError(f"{call}: by_command and choices.toml go together")
    if not rows:
        return []
    command = arguments[places[0] - 1].type
    choices = [(word, number_of(flags, command, word), kind) for kind, words in rows[0].items() if kind != "also" for word in words]
    if len({number for _, number, _ in choices}) != len(choices):
        raise SchemaError(f"{call}: a command has two choices")
    return sorted(choices, key=lambda choice: choice[1])


def check_transfer(call):
    """A call moves bytes if it has a buffer for them, or two objects and a number of bytes; nothing else does."""
    buffers = {BUFFERS[a.type] for a in call.arguments if a.type in BUFFERS}
    expected = buffers | {BY_MODE} if buffers else COPIES if call.returns == "bytes" else {None}
    if call.transfer not in expected or (call.transfer in COPIES) != (call.returns == "bytes" and "fd2" in {a.type for a in call.arguments}):
        raise SchemaError(f"{call.name}: its transfer is {call.transfer}, and by its arguments it is one of {expected}")
    if call.cuts not in CUTS | {None}:
        raise SchemaError(f"{call.name}: nothing cuts by {call.cuts}")


# What the kernel reads of a register, by the words of an argument's type: bits, and whether it is signed. A pointer is none of them.
C_NUMBERS = {"umode_t": (16, False), "long": (64, True), "off_t": (64, True), "loff_t": (64, True), "unsigned long": (64, False),
             "size_t": (64, False), "aio_context_t": (64, False), "__u64": (64, False)}
C_NUMBERS |= {t: (32, True) for t in ("int", "key_t", "clockid_t", "timer_t", "pid_t", "mqd_t", "__s32", "key_serial_t", "rwf_t")}
C_NUMBERS |= {t: (32, False) for t in ("uid_t", "gid_t", "u32", "__u32", "unsigned", "unsigned int", "qid_t", "enum landlock_rule_type")}
C_POINTERS = {"cap_user_header_t", "cap_user_data_t"}
# Numbers of processes and threads, of process groups, of either by their sign, of either or what else the argument before them says. Each is an
# `int` to SQL; `dyetrace trace --decode-pids` says more of them.
PIDS = {"pid", "group", "pid_or_group", "pid_by_kind"}
# What a word of `arguments` shows of a register: the numbers that it may stand for; those that are not here have no sign to show.
DESCRIPTORS = {"fd", "fd2", "dirfd", "dirfd2"}
SHOWN = {"int": {(32, True)}, "uint": {(32, False)}, "id": {(32, False)}, "device": {(32, False)}, "count": {(32, False), (64, False)},
         "long": {(64, True)}, "offset": {(64, True), (64, False)}, "length": {(64, True)}, "ulong": {(64, False)}, "size": {(64, False)},
         "address": {(64, False), None}, "by_command": {(64, False)}, "offset_low": {(64, False)}, "offset_high": {(64, False)},
         "descriptor": {(32, False)}} | {word: {(32, True)} for word in PIDS}


def number_of_c(declaration):
    """(bits, signed) of "const int fd"; None: a pointer."""
    words = declaration.rpartition(" ")[0].removeprefix("const ").strip()
    if "*" in words or words in C_POINTERS:
        return None
    if words not in C_NUMBERS:
        raise SchemaError(f"prototypes: {words} is no type that is known")
    return C_NUMBERS[words]


def check_argument(call, argument, number, widths):
    """That the word which syscalls.toml has for an argument shows all that the kernel reads of it, and no more."""
    word = argument.type
    if word in widths:  # a set of flags; of permissions the kernel takes what fits
        fits = number is not None and (word in ("mode", "permissions") or widths[word] >= number[0])
    elif word in DESCRIPTORS:
        fits = number is not None
    elif word in SHOWN:
        fits = number in SHOWN[word]
    else:
        fits = number is None
    if not fits:
        raise SchemaError(f"{call}: {argument.name} is a {word}, but the kernel reads {number or 'a pointer'}")


def check_prototype(call, arguments, declarations, widths):
    """Returns the bits of the arguments that are narrower than a register."""
    if len(arguments) != len(declarations):
        raise SchemaError(f"{call}: the kernel takes {len(declarations)} arguments: {declarations}")
    numbers = [number_of_c(d) for d in declarations]
    for argument, number in zip(arguments, numbers):
        check_argument(call, argument, number, widths)
    return sum(1 << i for i, number in enumerate(numbers) if number and number[0] <= 32)


def arguments_by_abi(row, arguments):
    """Those that are not the registers of x86_64."""
    narrowed = [Argument(a.name, "int" if a.type == "long" else a.type) for a in arguments]  # a long has 32 bits there
    of = {"i386": parse_arguments(row["arguments_i386"]) if "arguments_i386" in row else narrowed}
    of["arm64"] = parse_arguments(row["arguments_arm64"]) if "arguments_arm64" in row else arguments
    of["arm"] = parse_arguments(row["arguments_arm"]) if "arguments_arm" in row else of["i386"]
    for abi, words in OTHER_WORDS.items():
        of[abi] = [Argument(a.name, words.get(a.type, a.type)) for a in of[abi]]
    return {abi: own for abi, own in of.items() if own != arguments}


def numbers_of(row):
    numbers = {abi: row[abi] for abi in ABIS if abi in row}
    for abi, like, first in (("x32", "x86_64", 0), ("arm64", "x86_64", SAME_FROM), ("arm", "i386", SAME_FROM_32)):
        if row.get(like, -1) >= first:
            numbers.setdefault(abi, row[like])
    return numbers


def read_syscalls(flags):
    calls = []
    prototypes = load_toml(ROOT / "prototypes.toml")["prototypes"]
    widths = {word: s.width_mask.bit_length() for s in flags for word in s.types}
    for name, row in load_toml(ROOT / "syscalls.toml").items():
        unknown = [f"arg{i + 1}:uint" for i in range(6)]
        arguments = parse_arguments(row.get("arguments", unknown))
        narrow = check_prototype(name, arguments, prototypes[name], widths) if name in prototypes else 0
        carries = [(word.split(":")[0], int(word.split(":")[1])) for word in row.get("carries", [])]
        calls.append(Syscall(name, numbers_of(row), row.get("class", "other"), row.get("returns", "int"), arguments, arguments_by_abi(row, arguments),
                             row.get("offset"), row.get("special"), row.get("decoded", False), row.get("packed_i386", False),
                             read_choices(flags, name, arguments), row.get("transfer"), row.get("cuts"), carries, narrow,
                             row.get("keeps_link", False), row.get("skips_arm")))
        check_transfer(calls[-1])
    return calls


def check_column_name(name):
    if name.lower() in RESERVED:
        raise SchemaError(f"column {name} is a reserved word")


def read_columns(records):
    """`sql` fills a column from a syscall_event, `part_sql` from a part_event, and so on for each record of events/; `clustered_sql`
    from all of them when hosts are on one clock."""
    keys = {"sql" if r.name == "syscall_event" else r.name.removesuffix("_event") + "_sql": r.name
            for r in records if r.is_event}
    columns = []
    for group, rows in load_toml(ROOT / "columns.toml").items():
        for row in rows:
            check_column_name(row["name"])
            if row["type"].startswith("U"):
                raise SchemaError(f"column {row['name']}: people subtract numbers, so none is unsigned")
            if unknown := set(row) - {"name", "type", "comment", "clustered_sql"} - set(keys):
                raise SchemaError(f"column {row['name']}: {', '.join(sorted(unknown))} belongs to no event")
            sql = {record: row[key] for key, record in keys.items() if key in row}
            columns.append(Column(row["name"], row["type"], row["comment"], group, sql, row.get("clustered_sql")))
    return columns


def read_tables():
    tables = []
    for name, row in load_toml(ROOT / "tables.toml").items():
        for column in row["columns"]:
            check_column_name(column)
        derived = row.get("derived", {})
        if unknown := set(derived.values()) - {"UBIGINT", "UTINYINT"}:
            raise SchemaError(f"table {name}: {', '.join(sorted(unknown))} is no type of a derived column")
        signed = row.get("signed", [])
        if unknown := set(signed) - set(row["columns"]):
            raise SchemaError(f"table {name}: {', '.join(sorted(unknown))} is no column")
        tables.append(Table(name, row["comment"], row["sql"].strip(), row["columns"], row.get("stored", False), derived, signed))
    return tables


@dataclass
class FlagSet:
    name: str
    comment: str
    types: list[str]                    # words of syscalls.toml that mean it
    values: list[tuple[str, int]]       # names of the part under field_mask
    bits: list[tuple[str, int, int]]    # name, value, cover: a larger name that hides it, or 0
    width_mask: int
    field_mask: int
    rest_mask: int                      # bits without a name
    nameless_mask: int                  # the same, when the field has no name for its part either
    zero: str
    rest: str
    last: bool
    pair: bool
    unknown: str                        # of a number without any name; "": nothing is said


def read_flag_set(name, row):
    unknown = set(row) - {"comment", "values", "bits", "mask", "width", "zero", "rest", "last", "pair", "also", "unknown"}
    if unknown or row.get("rest", "hex") not in ("hex", "octal", "decimal"):
        raise SchemaError(f"flags {name}: {unknown or row['rest']} is not known")
    split = lambda words: [(word.rsplit("=", 1)[0], int(word.rsplit("=", 1)[1], 0)) for word in words]
    pair = row.get("pair", False)
    width = (1 << (64 if pair else row.get("width", 32))) - 1
    values, bits = split(row.get("values", [])), split(row.get("bits", []))
    field = row.get("mask", 0 if bits else width)
    if len({v for _, v in values}) != len(values) or len({v for _, v in bits}) != len(bits):
        raise SchemaError(f"flags {name}: a value has two names")
    parts = lambda v: [1 << i for i in range(64) if v >> i & 1]
    if any(p not in [o for _, o in bits] for _, v in bits for p in parts(v)):
        raise SchemaError(f"flags {name}: a part of a name of several bits has none itself")
    if any(v & ~field for _, v in values) or any(v & field or not v for _, v in bits):
        raise SchemaError(f"flags {name}: a value lies outside its mask")
    larger = lambda v: min((o for _, o in bits if o != v and o & v == v), key=lambda o: bin(o).count("1"), default=0)
    known = field
    for _, v in bits:
        known |= v
    rest = width & ~known
    nameless = 0xffffffff if pair else rest | field
    closed = not bits and row.get("rest", "hex") != "octal"
    return FlagSet(name, row["comment"], [name] + row.get("also", []), values, [(n, v, larger(v)) for n, v in bits], width, field,
                   rest, nameless, row.get("zero", "0x0" if closed else "0"), row.get("rest", "hex"), row.get("last", False), pair,
                   row.get("unknown", ""))


def complete_flag_set(row, sets):
    """With what it does not say itself, of the set that it is like."""
    if "like" not in row:
        return row
    pattern, own = sets[row["like"]], {bit.split("=")[0]: bit for bit in row["bits"]}
    bits = [own.pop(bit.split("=")[0], bit) for bit in pattern["bits"]]
    if own:
        raise SchemaError(f"flags {row['like']}: there is no {', '.join(own)}")
    return {**pattern, **{key: value for key, value in row.items() if key != "like"}, "bits": bits}


def read_flags():
    rows = [item for path in sorted(ROOT.glob("flags/*.toml")) for item in load_toml(path).items()]
    sets = dict(rows)
    rows = [(name, complete_flag_set(row, sets)) for name, row in rows]
    if len({name for name, _ in rows}) != len(rows):
        raise SchemaError("two sets of flags share a name")
    return sorted((read_flag_set(name, row) for name, row in rows), key=lambda s: s.name)


@dataclass
class WouldWait:
    """Errors by name, and the classes for which one of them is a failure all the same."""

    errors: list[str]
    but: dict[str, list[str]]

    def condition(self):
        """For SQL and for --where, of columns `error` and `class`."""
        quoted = lambda names: ", ".join(f"'{name}'" for name in names)
        alike = [name for name in self.errors if name not in self.but]
        return " OR ".join([f"error IN ({quoted(alike)})"] +
                           [f"error = '{name}' AND class NOT IN ({quoted(classes)})" for name, classes in self.but.items()])


def read_would_wait(row, errors, classes):
    unknown = set(row["errors"]) - set(errors) | set(row["but"]) - set(row["errors"]) | {c for names in row["but"].values() for c in names} - set(classes)
    if unknown:
        raise SchemaError(f"would_wait: {unknown} is not known")
    return WouldWait(row["errors"], row["but"])


@dataclass
class Schema:
    enums: list[Enum]
    records: list[Record]
    syscalls: list[Syscall]
    columns: list[Column]
    tables: list[Table]
    errors: dict[str, int]
    would_wait: WouldWait
    flags: list[FlagSet]
    moves: object  # moves.Moves

    def enum(self, name):
        return next(e for e in self.enums if e.name == name)


def load():
    from .moves import Moves  # which reads files as this does

    records, flags = read_records(), read_flags()
    syscalls = read_syscalls(flags)
    enums, errors = read_enums(), load_toml(ROOT / "errors.toml")
    classes = next(e for e in enums if e.name == "class").values
    return Schema(enums, records, syscalls, read_columns(records), read_tables(), errors["errors"],
                  read_would_wait(errors["would_wait"], errors["errors"], classes), flags, Moves(syscalls, flags))
