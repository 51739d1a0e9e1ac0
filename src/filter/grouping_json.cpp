#include "filter/grouping_json.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "filter/parser.h"
#include "filter/sql_text.h"

namespace dyetrace::filter {
namespace {

using base::Json;

constexpr std::array<std::string_view, 4> kKinds{"count", "sum", "least", "greatest"};

Result<Integer> integer_in(std::string_view text) {
    const bool is_negative = text.starts_with('-');
    unsigned __int128 number = 0;
    for (const char c : text.substr(is_negative ? 1 : 0)) {
        if (c < '0' || c > '9') {
            return Error(ErrorCode::kCorrupt, "a group's number is none");
        }
        number = number * 10 + static_cast<unsigned>(c - '0');
    }
    return static_cast<Integer>(is_negative ? -number : number);
}

// Text is text, a number an array of its text, for it has 128 bits.
Json json_of(const Constant& value) {
    if (const auto* text = std::get_if<std::string>(&value)) {
        return Json(*text);
    }
    if (const auto* number = std::get_if<Integer>(&value)) {
        return Json::array().append(digits(*number));
    }
    return {};
}

Result<Constant> constant_from(const Json& json) {
    if (json.is_array()) {
        const auto text = json.items().empty() ? std::nullopt : json.items()[0].as<std::string>();
        TRY(const Integer number, integer_in(text.value_or("?")));
        return Constant(number);
    }
    const auto text = json.as<std::string>();
    return text ? Constant(*text) : Constant();
}

Json json_of(const AskedProbe& asked) {
    Json columns = Json::array();
    for (const std::string& column : asked.columns) {
        columns.append(column);
    }
    return Json::object()
        .set("probe", asked.probe)
        .set("alias", asked.alias)
        .set("columns", std::move(columns));
}

Result<AskedProbe> asked_probe_from(const Json& json) {
    AskedProbe asked;
    TRY(json.read("probe", asked.probe, "alias", asked.alias));
    for (const Json& column : json.items_at("columns")) {
        asked.columns.push_back(column.as<std::string>().value_or(""));
    }
    return asked;
}

}  // namespace

Json json_of(const Grouping& grouping) {
    Json keys = Json::array(), aggregates = Json::array();
    for (const Expression& key : grouping.keys) {
        keys.append(sql_text(key));
    }
    for (const Aggregate& aggregate : grouping.aggregates) {
        aggregates.append(Json::object()
                              .set("kind", kKinds.at(static_cast<std::size_t>(aggregate.kind)))
                              .set("of", sql_text(aggregate.argument)));
    }
    return Json::object()
        .set("where", grouping.where.to_sql())
        .set("keys", std::move(keys))
        .set("aggregates", std::move(aggregates));
}

Result<Grouping> grouping_from(const Json& json, const RowLayout* row) {
    Grouping grouping;
    TRY(const std::string where, json.get<std::string>("where"));
    TRY(grouping.where, Predicate::parse(where, row));
    for (const Json& key : json.items_at("keys")) {
        TRY(Expression expression, parse_key(key.as<std::string>().value_or(""), row));
        grouping.keys.push_back(std::move(expression));
    }
    for (const Json& item : json.items_at("aggregates")) {
        TRY(const std::string kind, item.get<std::string>("kind"));
        TRY(const std::string of, item.get<std::string>("of"));
        const auto found = std::find(kKinds.begin(), kKinds.end(), kind);
        if (found == kKinds.end()) {
            return Error(ErrorCode::kCorrupt, "there is no aggregate '" + kind + "'");
        }
        TRY(Expression argument, parse_value(of, row));
        grouping.aggregates.push_back(
            {static_cast<AggregateKind>(found - kKinds.begin()), std::move(argument)});
    }
    return grouping;
}

Json json_of(const std::vector<RowColumn>& columns) {
    Json list = Json::array();
    for (const RowColumn& column : columns) {
        list.append(Json::object()
                        .set("name", column.name)
                        .set("is_text", column.type == Type::kText)
                        .set("bytes", column.bytes)
                        .set("bits", std::uint64_t{column.bits})
                        .set("is_signed", column.is_signed)
                        .set("is_stack", column.is_stack));
    }
    return list;
}

Result<std::vector<RowColumn>> row_columns_from(const Json& json) {
    std::vector<RowColumn> columns;
    for (const Json& item : json.items()) {
        RowColumn& column = columns.emplace_back();
        bool is_text = false;
        std::uint64_t bits = 0;
        TRY(item.read("name",
                      column.name,
                      "is_text",
                      is_text,
                      "bytes",
                      column.bytes,
                      "bits",
                      bits,
                      "is_signed",
                      column.is_signed,
                      "is_stack",
                      column.is_stack));
        column.bits = static_cast<unsigned>(bits);
        column.type = is_text ? Type::kText : Type::kInteger;
    }
    return columns;
}

Json json_of(const ProbeQuestion& question) {
    Json same = Json::array();
    for (const auto& [own, earlier] : question.same) {
        same.append(Json::array().append(own).append(earlier));
    }
    Json json = Json::object().set("fires", json_of(question.fires)).set("same", std::move(same));
    if (question.before) {
        json.set("before", json_of(*question.before));
    }
    return json;
}

Result<ProbeQuestion> probe_question_from(const Json& json) {
    const Json* const fires = json.find("fires");
    const Json* const before = json.find("before");
    if (fires == nullptr) {
        return Error(ErrorCode::kCorrupt, "a question about a probe names none");
    }
    ProbeQuestion question;
    TRY(question.fires, asked_probe_from(*fires));
    if (before != nullptr) {
        TRY(question.before, asked_probe_from(*before));
    }
    for (const Json& pair : json.items_at("same")) {
        const std::vector<Json>& both = pair.items();
        if (both.size() != 2) {
            return Error(ErrorCode::kCorrupt, "what two probes have in common is no pair");
        }
        question.same.emplace_back(both[0].as<std::string>().value_or(""),
                                   both[1].as<std::string>().value_or(""));
    }
    return question;
}

Json json_of(const Groups& groups) {
    Json list = Json::array();
    for (const auto& [key, partials] : groups) {
        Json values = Json::array(), counts = Json::array();
        for (const Constant& value : key) {
            values.append(json_of(value));
        }
        for (const Partial& partial : partials) {
            counts.append(Json::array().append(partial.count).append(digits(partial.value)));
        }
        list.append(
            Json::object().set("key", std::move(values)).set("partials", std::move(counts)));
    }
    return list;
}

Result<std::vector<Group>> groups_from(const Json& json) {
    std::vector<Group> groups;
    for (const Json& item : json.items()) {
        Group& group = groups.emplace_back();
        for (const Json& value : item.items_at("key")) {
            TRY(Constant constant, constant_from(value));
            group.key.push_back(std::move(constant));
        }
        for (const Json& partial : item.items_at("partials")) {
            const std::vector<Json>& parts = partial.items();
            const auto count = parts.size() == 2 ? parts[0].as<std::uint64_t>() : std::nullopt;
            const auto value = parts.size() == 2 ? parts[1].as<std::string>() : std::nullopt;
            if (!count || !value) {
                return Error(ErrorCode::kCorrupt, "a group's partial is no count and value");
            }
            TRY(const Integer number, integer_in(*value));
            group.partials.push_back({*count, number});
        }
    }
    return groups;
}

}  // namespace dyetrace::filter
