"""Reads the TOML files of src/schema into plain objects and refuses what the rest could not carry."""

import pathlib
import tomllib
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "s32": 4, "s64": 8, "bytes": 1, "ip": 1}
HEADER_BYTES = 16  # record_header: size, type, flags, sequence

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
    at: int = 0  # bytes behind the header

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


@dataclass
class Enum:
    name: str
    comment: str
    values: dict[str, int]


@dataclass
class Argument:
    name: str
    type: str


@dataclass
class Syscall:
    name: str
    numbers: dict[str, int]
    class_name: str
    returns: str
    arguments: list[Argument]
    arguments_i386: list[Argument]
    offset: str | None
    special: str | None
    decoded: bool


@dataclass
class Column:
    name: str
    type: str
    comment: str
    sql: str
    part_sql: str
    log_sql: str
    group: str


@dataclass
class Table:
    name: str
    comment: str
    sql: str
    columns: dict[str, str]
    stored: bool


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


def read_syscalls():
    calls = []
    for name, row in load_toml(ROOT / "syscalls.toml").items():
        unknown = [f"arg{i + 1}:uint" for i in range(6)]
        arguments = parse_arguments(row.get("arguments", unknown))
        i386 = parse_arguments(row["arguments_i386"]) if "arguments_i386" in row else arguments
        numbers = {abi: row[abi] for abi in ("x86_64", "i386") if abi in row}
        calls.append(Syscall(name, numbers, row.get("class", "other"), row.get("returns", "int"), arguments, i386,
                             row.get("offset"), row.get("special"), row.get("decoded", False)))
    return calls


def check_column_name(name):
    if name.lower() in RESERVED:
        raise SchemaError(f"column {name} is a reserved word")


def read_columns():
    columns = []
    for group, rows in load_toml(ROOT / "columns.toml").items():
        for row in rows:
            check_column_name(row["name"])
            null = f"NULL::{row['type']}"
            columns.append(Column(row["name"], row["type"], row["comment"], row.get("sql", null),
                                  row.get("part_sql", null), row.get("log_sql", null), group))
    return columns


def read_tables():
    tables = []
    for name, row in load_toml(ROOT / "tables.toml").items():
        for column in row["columns"]:
            check_column_name(column)
        tables.append(Table(name, row["comment"], row["sql"].strip(), row["columns"], row.get("stored", False)))
    return tables


@dataclass
class Schema:
    enums: list[Enum]
    records: list[Record]
    syscalls: list[Syscall]
    columns: list[Column]
    tables: list[Table]
    errors: dict[str, int]

    def enum(self, name):
        return next(e for e in self.enums if e.name == name)


def load():
    return Schema(read_enums(), read_records(), read_syscalls(), read_columns(), read_tables(),
                  load_toml(ROOT / "errors.toml")["errors"])
