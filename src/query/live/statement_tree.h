// Walks a statement that DuckDB has taken apart: a tree of JSON objects, one for each expression.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/result.h"

namespace dyetrace::query {

// Says what is wrong with a statement.
inline Error no_question(std::string text) {
    return {ErrorCode::kInvalidArgument, std::move(text)};
}

// `change` says what stands in place of a node, or nothing: then its parts are looked at.
template <typename Change>
base::Json changed(const base::Json& tree, const Change& change) {
    if (tree.is_array()) {
        base::Json list = base::Json::array();
        for (const base::Json& item : tree.items()) {
            list.append(changed(item, change));
        }
        return list;
    }
    if (!tree.is_object()) {
        return tree;
    }
    if (std::optional<base::Json> other = change(tree)) {
        return *std::move(other);
    }
    base::Json object = base::Json::object();
    for (const base::Json::Member& member : tree.members()) {
        object.set(member.name, changed(member.value, change));
    }
    return object;
}

// Calls `look` with every object; false: its parts are none of its business.
template <typename Look>
void each_node(const base::Json& tree, const Look& look) {
    for (const base::Json& item : tree.items()) {
        each_node(item, look);
    }
    if (tree.is_object() && look(tree)) {
        for (const base::Json::Member& member : tree.members()) {
            each_node(member.value, look);
        }
    }
}

// Where it stands in the statement, and what it is called there, make no difference.
inline base::Json without_place(const base::Json& tree) {
    return changed(tree, [](const base::Json& node) -> std::optional<base::Json> {
        if (node.find("query_location") == nullptr) {
            return std::nullopt;
        }
        base::Json plain = base::Json::object();
        for (const base::Json::Member& member : node.members()) {
            if (member.name != "query_location" && member.name != "alias") {
                plain.set(member.name, without_place(member.value));
            }
        }
        return plain;
    });
}

}  // namespace dyetrace::query
