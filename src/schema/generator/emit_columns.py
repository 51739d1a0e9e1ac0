"""The columns of the public view `events`, and the names of closed sets, as C++."""

from .emit_c import NOTICE, constant


def cpp_header(schema):
    ids = "".join(f"    {constant(c.name)},\n" for c in schema.columns)
    types = sorted({c.type for c in schema.columns})
    groups = list(dict.fromkeys(c.group for c in schema.columns))
    return (NOTICE + """
// The columns of the public view `events`, in the order of the view.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace dyetrace::schema {

"""
            f"enum class EventColumn : std::uint8_t {{\n{ids}}};\n\n"
            f"enum class SqlType : std::uint8_t {{ {', '.join(constant(t.lower()) for t in types)} }};\n\n"
            f"enum class EventColumnGroup : std::uint8_t {{ {', '.join(constant(g) for g in groups)} }};\n"
            """
struct EventColumnInfo {
    EventColumn column;
    std::string_view name;
    SqlType type;
    EventColumnGroup group;
    std::string_view comment;
};

// They are sorted by EventColumn, so that event_columns()[n] describes column n.
std::span<const EventColumnInfo> event_columns();

}  // namespace dyetrace::schema
""")


def cpp_source(schema):
    rows = "".join(f'    {{EventColumn::{constant(c.name)}, "{c.name}", SqlType::{constant(c.type.lower())}, '
                   f'EventColumnGroup::{constant(c.group)}, "{c.comment}"}},\n' for c in schema.columns)
    return (NOTICE + '\n#include "schema/generated/columns.h"\n\nnamespace dyetrace::schema {\nnamespace {\n\n'
            f"constexpr EventColumnInfo kEventColumns[] = {{\n{rows}}};\n\n}}  // namespace\n\n"
            "std::span<const EventColumnInfo> event_columns() { return kEventColumns; }\n\n}  // namespace dyetrace::schema\n")


def enum_header(schema):
    names = "".join(f"std::span<const std::string_view> {e.name}_names();\n" for e in schema.enums)
    one = "".join(f"inline std::string_view {e.name}_name(std::uint8_t value) {{ return name_in({e.name}_names(), value); }}\n"
                  for e in schema.enums)
    return (NOTICE + """
// The names of the closed sets of values, as SQL shows them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace dyetrace::schema {

// Name n is that of value n; empty where there is no such value.
""" + names + """
inline std::string_view name_in(std::span<const std::string_view> names, std::uint8_t value) {
    return value < names.size() ? names[value] : std::string_view();
}

// Empty for a number that has no name (SQL: NULL).
""" + one + "\n}  // namespace dyetrace::schema\n")


def enum_source(schema):
    out = [NOTICE, '#include "schema/generated/enum_names.h"\n\nnamespace dyetrace::schema {\nnamespace {\n']
    for e in schema.enums:
        names = [""] * (max(e.values.values()) + 1)
        for name, number in e.values.items():
            names[number] = name
        rows = ", ".join(f'"{n}"' for n in names)
        out.append(f"constexpr std::string_view {constant(e.name + '_names')}[] = {{{rows}}};")
    out.append("\n}  // namespace\n")
    out += [f"std::span<const std::string_view> {e.name}_names() {{ return {constant(e.name + '_names')}; }}" for e in schema.enums]
    return "\n".join(out) + "\n\n}  // namespace dyetrace::schema\n"
