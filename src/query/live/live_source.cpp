#include "query/live/live_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "filter/parser.h"
#include "filter/sql_text.h"
#include "query/live/condition_text.h"
#include "query/live/statement_tree.h"
#include "schema/generated/columns.h"

namespace dyetrace::query {
namespace {

using base::Json;

constexpr std::array<std::string_view, 6> kProbes{
    "kernel_function", "tracepoint", "user_function", "usdt", "timer", "sample"};
constexpr const char* kProbeTable = "_probe";
constexpr std::array<std::string_view, 2> kTextFunctions{"str", "user_str"};

std::string_view name_of(schema::SqlType type) {
    switch (type) {
        case schema::SqlType::kBoolean:
            return "BOOLEAN";
        case schema::SqlType::kDouble:
            return "DOUBLE";
        case schema::SqlType::kInteger:
            return "INTEGER";
        case schema::SqlType::kTimestampNs:
            return "TIMESTAMP_NS";
        case schema::SqlType::kVarchar:
            return "VARCHAR";
        default:
            return "BIGINT";
    }
}

// "a.b.c" without the table's name before it; nothing: it is no column.
std::optional<std::string> path_of(const Json& node, const std::string& alias) {
    if (text_at(node, "class") != "COLUMN_REF") {
        return std::nullopt;
    }
    std::string path;
    const std::vector<Json>& names = node.items_at("column_names");
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string name = names[i].as<std::string>().value_or("");
        if (i == 0 && names.size() > 1 && name == alias) {
            continue;
        }
        path += (path.empty() ? "" : ".") + name;
    }
    return path;
}

// The same of str(column).
std::optional<std::string> leaf_of(const Json& node, const std::string& alias) {
    const std::vector<Json>& children = node.items_at("children");
    const std::string function = text_at(node, "function_name");
    if (text_at(node, "class") == "FUNCTION" && children.size() == 1 &&
        std::find(kTextFunctions.begin(), kTextFunctions.end(), function) != kTextFunctions.end()) {
        const auto path = path_of(children[0], alias);
        return path ? std::optional(fmt::format("{}({})", function, *path)) : std::nullopt;
    }
    return path_of(node, alias);
}

// A text in quotes, or a number.
std::optional<std::string> argument_text(const Json& node) {
    const auto text = text_at(node, "class") == "CONSTANT" ? condition_text(node) : std::nullopt;
    return text && *text != "NULL" ? text : std::nullopt;
}

Result<std::string> probe_text(const Json& function) {
    std::string arguments;
    for (const Json& child : function.items_at("children")) {
        const auto text = argument_text(child);
        if (!text) {
            return no_question("a probe is named by text and numbers");
        }
        arguments += (arguments.empty() ? "" : ", ") + *text;
    }
    return fmt::format("{}({})", text_at(function, "function_name"), arguments);
}

// What the columns of the answer are called by the statement, but for those that are called as what they are.
std::set<std::string> aliases_of(const Json& select, const std::string& alias) {
    std::set<std::string> aliases;
    for (const Json& item : select.items_at("select_list")) {
        const std::string name = text_at(item, "alias");
        bool has_itself = name.empty();
        each_node(item, [&](const Json& node) {
            has_itself = has_itself || path_of(node, alias) == name;
            return true;
        });
        if (!has_itself) {
            aliases.insert(name);
        }
    }
    return aliases;
}

// A member that is selected is called as DuckDB calls one: by its own name.
void name_members(Json& select) {
    Json items = Json::array();
    for (Json item : select.items_at("select_list")) {
        const std::vector<Json>& names = item.items_at("column_names");
        if (text_at(item, "alias").empty() && names.size() > 1) {
            item.set("alias", names.back().as<std::string>().value_or(""));
        }
        items.append(std::move(item));
    }
    select.set("select_list", std::move(items));
}

}  // namespace

Result<LiveSource> LiveSource::of(Json& select,
                                  store::StatementEngine& engine,
                                  const FindProbe& find) {
    LiveSource source;
    const Json* const from = select.find("from_table");
    const Json* const sample = from == nullptr ? nullptr : from->find("sample");
    const Json* const function = from == nullptr ? nullptr : from->find("function");
    const bool is_sampled = sample != nullptr && !sample->is_null();
    const bool is_probe =
        function != nullptr && text_at(*from, "type") == "TABLE_FUNCTION" &&
        std::find(kProbes.begin(), kProbes.end(), text_at(*function, "function_name")) !=
            kProbes.end();
    if (is_probe && !is_sampled && find) {
        TRY(source.probe_, probe_text(*function));
        TRY(source.use_probe(select, engine, find));
        return source;
    }
    const bool is_plain = from != nullptr && text_at(*from, "type") == "BASE_TABLE" &&
                          text_at(*from, "table_name") == "events";
    if (!is_plain || is_sampled) {
        return no_question(
            fmt::format("live takes a SELECT whose FROM is events or a probe ({}('…')), and "
                        "nothing else yet",
                        fmt::join(kProbes, "('…'), ")));
    }
    TRY(source.use_events(engine));
    return source;
}

// The view's columns and no rows.
Result<void> LiveSource::use_events(store::StatementEngine& engine) {
    std::string columns;
    for (const schema::EventColumnInfo& column : schema::event_columns()) {
        columns += fmt::format(
            "{}\"{}\" {}", columns.empty() ? "" : ", ", column.name, name_of(column.type));
    }
    return engine.define(fmt::format("CREATE TABLE events ({})", columns));
}

Result<void> LiveSource::use_probe(Json& select,
                                   store::StatementEngine& engine,
                                   const FindProbe& find) {
    table_ = kProbeTable;
    name_members(select);
    const std::string alias = text_at(*select.find("from_table"), "alias");
    const std::set<std::string> aliases = aliases_of(select, alias);
    std::vector<std::string> names;
    select = changed(select, [&](const Json& node) -> std::optional<Json> {
        const auto leaf = leaf_of(node, alias);
        if (!leaf || aliases.contains(*leaf)) {
            return std::nullopt;
        }
        if (std::find(names.begin(), names.end(), *leaf) == names.end()) {
            names.push_back(*leaf);
        }
        return Json::object()
            .set("class", "COLUMN_REF")
            .set("type", "COLUMN_REF")
            .set("alias", text_at(node, "alias"))
            .set("query_location", *node.find("query_location"))
            .set("column_names", Json::array().append(*leaf));
    });
    TRY(const std::vector<filter::RowColumn> columns, find(probe_, names));
    TRY(row_, filter::RowLayout::of(columns));
    std::string defined;
    for (const filter::RowColumn& column : columns) {
        const bool is_large = column.bits == 64 && !column.is_signed;
        defined += fmt::format("{} {}, ",
                               filter::quoted_name(column.name),
                               column.type == filter::Type::kText ? "VARCHAR"
                               : is_large                         ? "UBIGINT"
                                                                  : "BIGINT");
    }
    TRY(engine.define(fmt::format("CREATE TABLE {} ({}_last BOOLEAN)", kProbeTable, defined)));
    TRY(const Json table, engine.tree_of(fmt::format("SELECT 1 FROM {}", kProbeTable)));
    Json from = *table.items_at("statements")[0].find("node")->find("from_table");
    from.set("alias", alias);
    select.set("from_table", std::move(from));
    return {};
}

std::optional<filter::Predicate> LiveSource::condition(const Json& tree) const {
    const auto text = condition_text(tree);
    auto condition =
        text ? filter::Predicate::parse(*text, row()) : Result<filter::Predicate>(no_question(""));
    return condition.ok() ? std::optional(std::move(condition).value()) : std::nullopt;
}

std::optional<filter::Expression> LiveSource::value(const Json& tree) const {
    const auto text = condition_text(tree);
    auto value =
        text ? filter::parse_value(*text, row()) : Result<filter::Expression>(no_question(""));
    return value.ok() ? std::optional(std::move(value).value()) : std::nullopt;
}

Result<std::optional<filter::Expression>> LiveSource::column(const std::string& name) const {
    if (row_) {
        const filter::Expression* const field = row_->find(name);
        return field != nullptr ? std::optional(*field) : std::nullopt;
    }
    const auto& all = schema::event_columns();
    if (std::none_of(all.begin(), all.end(), [&](const auto& c) { return c.name == name; })) {
        return std::optional<filter::Expression>();
    }
    auto value = filter::parse_value(name);
    if (!value.ok()) {
        return Error(ErrorCode::kUnsupported,
                     fmt::format("the column {} is for stored traces: record one and ask it with "
                                 "`dyetrace sql`",
                                 name));
    }
    return std::optional(std::move(value).value());
}

}  // namespace dyetrace::query
