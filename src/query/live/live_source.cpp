#include "query/live/live_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
constexpr const char* kTime = "time_ns";
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

// "a.b.c" as the statement says it; nothing: it is no column.
std::optional<std::string> path_of(const Json& node) {
    if (text_at(node, "class") != "COLUMN_REF") {
        return std::nullopt;
    }
    std::string path;
    for (const Json& name : node.items_at("column_names")) {
        path += (path.empty() ? "" : ".") + name.as<std::string>().value_or("");
    }
    return path;
}

// A column of a probe: which one, and how it is called there.
struct Leaf {
    std::string alias, column;
};

bool begins_with_name(const std::string& path, const std::string& name) {
    return !name.empty() && path.starts_with(name + ".");
}

// A column, or str() of one, as a leaf of one of the probes; of the first one where no alias says whose.
std::optional<Leaf> leaf_of(const Json& node, const filter::ProbeQuestion& question) {
    const std::vector<Json>& children = node.items_at("children");
    const std::string function = text_at(node, "function_name");
    const bool is_text =
        text_at(node, "class") == "FUNCTION" && children.size() == 1 &&
        std::find(kTextFunctions.begin(), kTextFunctions.end(), function) != kTextFunctions.end();
    auto path = path_of(is_text ? children[0] : node);
    if (!path) {
        return std::nullopt;
    }
    std::string alias;
    for (const filter::AskedProbe* asked :
         {&question.fires, question.before ? &*question.before : nullptr}) {
        if (asked != nullptr && begins_with_name(*path, asked->alias)) {
            alias = asked->alias;
            path = path->substr(alias.size() + 1);
            break;
        }
    }
    return Leaf{alias, is_text ? fmt::format("{}({})", function, *path) : *path};
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
std::set<std::string> aliases_of(const Json& select) {
    std::set<std::string> aliases;
    for (const Json& item : select.items_at("select_list")) {
        const std::string name = text_at(item, "alias");
        bool has_itself = name.empty();
        each_node(item, [&](const Json& node) {
            has_itself = has_itself || path_of(node) == name;
            return true;
        });
        if (!has_itself) {
            aliases.insert(name);
        }
    }
    return aliases;
}

bool is_probe(const Json* from) {
    const Json* const function = from == nullptr ? nullptr : from->find("function");
    const Json* const sample = from == nullptr ? nullptr : from->find("sample");
    return function != nullptr && text_at(*from, "type") == "TABLE_FUNCTION" &&
           (sample == nullptr || sample->is_null()) &&
           std::find(kProbes.begin(), kProbes.end(), text_at(*function, "function_name")) !=
               kProbes.end();
}

Result<filter::AskedProbe> asked_probe(const Json& from) {
    filter::AskedProbe asked{.probe = {}, .alias = text_at(from, "alias"), .columns = {}};
    TRY(asked.probe, probe_text(*from.find("function")));
    return asked;
}

constexpr const char* kJoinHelp =
    "two probes are joined as `a ASOF JOIN b ON a.X = b.Y AND a.time_ns >= b.time_ns`: the latest "
    "b "
    "before each a";

void add_column(filter::AskedProbe& asked, const std::string& column) {
    if (std::find(asked.columns.begin(), asked.columns.end(), column) == asked.columns.end()) {
        asked.columns.push_back(column);
    }
}

// One part of the condition; of both sides either may stand first.
Result<void> add_condition(filter::ProbeQuestion& question, const Json& part, bool& is_ordered) {
    const Json* const sides[] = {part.find("left"), part.find("right")};
    const std::string type = text_at(part, "type");
    const auto left = sides[0] == nullptr ? std::nullopt : leaf_of(*sides[0], question);
    const auto right = sides[1] == nullptr ? std::nullopt : leaf_of(*sides[1], question);
    if (!left || !right || left->alias.empty() || right->alias.empty() ||
        left->alias == right->alias) {
        return no_question(kJoinHelp);
    }
    const bool is_mirrored = left->alias == question.before->alias;
    const Leaf& own = is_mirrored ? *right : *left;
    const Leaf& earlier = is_mirrored ? *left : *right;
    if (type == "COMPARE_EQUAL") {
        add_column(question.fires, own.column);
        add_column(*question.before, earlier.column);
        question.same.emplace_back(own.column, earlier.column);
        return {};
    }
    const bool is_later = is_mirrored ? type.starts_with("COMPARE_LESSTHAN")
                                      : type.starts_with("COMPARE_GREATERTHAN");
    if (!is_later || own.column != kTime || earlier.column != kTime) {
        return no_question(kJoinHelp);
    }
    is_ordered = true;
    return {};
}

Result<filter::ProbeQuestion> joined_probes(const Json& from) {
    const Json* const condition = from.find("condition");
    if (condition == nullptr || condition->is_null() || text_at(from, "join_type") != "INNER" ||
        text_at(from, "ref_type") != "ASOF") {
        return no_question(kJoinHelp);
    }
    filter::ProbeQuestion question;
    TRY(question.fires, asked_probe(*from.find("left")));
    TRY(question.before, asked_probe(*from.find("right")));
    if (question.fires.alias.empty() || question.before->alias.empty() ||
        question.fires.alias == question.before->alias) {
        return no_question(
            "two probes that are joined each have a name: `… AS a ASOF JOIN … AS b`");
    }
    bool is_ordered = false;
    if (text_at(*condition, "type") == "CONJUNCTION_AND") {
        for (const Json& part : condition->items_at("children")) {
            TRY(add_condition(question, part, is_ordered));
        }
    } else {
        TRY(add_condition(question, *condition, is_ordered));
    }
    return is_ordered && !question.same.empty() ? Result<filter::ProbeQuestion>(std::move(question))
                                                : no_question(kJoinHelp);
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

bool is_events(const Json& from) {
    return text_at(from, "type") == "BASE_TABLE" && text_at(from, "table_name") == "events";
}

bool is_read(const Json* from) {
    return from != nullptr && (is_events(*from) || is_probe(from) ||
                               (text_at(*from, "type") == "JOIN" &&
                                (is_read(from->find("left")) || is_read(from->find("right")))));
}

}  // namespace

bool LiveSource::reads(const Json& select) {
    return is_read(select.find("from_table"));
}

Result<LiveSource> LiveSource::of(Json& select,
                                  store::StatementEngine& engine,
                                  const FindProbe& find) {
    LiveSource source;
    const Json* const from = select.find("from_table");
    if (is_probe(from) && find) {
        filter::ProbeQuestion question;
        TRY(question.fires, asked_probe(*from));
        TRY(source.use_probe(select, engine, std::move(question), find));
        return source;
    }
    if (from != nullptr && text_at(*from, "type") == "JOIN" && is_probe(from->find("left")) &&
        is_probe(from->find("right")) && find) {
        TRY(filter::ProbeQuestion question, joined_probes(*from));
        TRY(source.use_probe(select, engine, std::move(question), find));
        return source;
    }
    const Json* const sample = from == nullptr ? nullptr : from->find("sample");
    if (from == nullptr || !is_events(*from) || (sample != nullptr && !sample->is_null())) {
        return no_question(
            fmt::format("live takes a SELECT whose FROM is events or a probe ({}('…')), or two "
                        "probes that are joined, and nothing else yet",
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
                                   filter::ProbeQuestion question,
                                   const FindProbe& find) {
    table_ = kProbeTable;
    name_members(select);
    const std::set<std::string> aliases = aliases_of(select);
    const std::string only_alias = question.fires.alias;
    select.set("from_table", Json());
    select = changed(select, [&](const Json& node) -> std::optional<Json> {
        const auto leaf = leaf_of(node, question);
        if (!leaf || (leaf->alias.empty() && aliases.contains(leaf->column))) {
            return std::nullopt;
        }
        filter::AskedProbe& asked = question.before && leaf->alias == question.before->alias
                                        ? *question.before
                                        : question.fires;
        add_column(asked, leaf->column);
        return Json::object()
            .set("class", "COLUMN_REF")
            .set("type", "COLUMN_REF")
            .set("alias", text_at(node, "alias"))
            .set("query_location", *node.find("query_location"))
            .set(
                "column_names",
                Json::array().append(question.before ? asked.name_of(leaf->column) : leaf->column));
    });
    if (!question.before) {
        question.fires.alias.clear();
    }
    TRY(const std::vector<filter::RowColumn> columns, find(question));
    TRY(row_, filter::RowLayout::of(columns));
    watched_.push_back("probe  " + question.fires.probe);
    if (question.before) {
        std::vector<std::string> same;
        for (const auto& [own, earlier] : question.same) {
            same.push_back(fmt::format(
                "{} = {}", question.fires.name_of(own), question.before->name_of(earlier)));
        }
        watched_.push_back(fmt::format(
            "after  the latest {} with {}", question.before->probe, fmt::join(same, ", ")));
    }
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
    from.set("alias", only_alias);
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
