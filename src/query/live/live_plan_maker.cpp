#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/json.h"
#include "filter/sql_text.h"
#include "query/live/condition_text.h"
#include "query/live/live_plan.h"
#include "query/live/live_source.h"
#include "query/live/statement_tree.h"

namespace dyetrace::query {

using base::Json;
using filter::AggregateKind;
using filter::Expression;

// Makes the plan of one statement.
class LivePlan::Maker {
  public:
    Maker(LivePlan& plan, Json tree) : plan_(plan), tree_(std::move(tree)) {}

    Result<void> make(const FindProbe& find) {
        TRY(find_select());
        TRY(source_, LiveSource::of(select_, plan_.engine_, find));
        plan_.watched_ = source_.watched();
        TRY(const std::string statement, plan_.engine_.text_of(of_select(select_)));
        TRY(const auto columns, plan_.engine_.columns_of(statement));
        TRY(const std::string whole, plan_.engine_.text_of(with_select(select_)));
        if (whole != statement) {
            TRY(plan_.engine_.columns_of(whole));  // what is around it is SQL, too
        }
        TRY(aggregate_names_, names_of_aggregates());
        name_items(columns);
        push_condition();
        plan_.repeats_rows_ = !can_be_counted();
        if (!plan_.repeats_rows_) {
            push_keys();
        }
        TRY(find_columns());
        TRY(make_answer());
        return make_tables();
    }

  private:
    // select_ is the part of the statement that reads events; of one in which none does, all of it.
    Result<void> find_select() {
        const std::vector<Json>& statements = tree_.items_at("statements");
        const Json* const node = statements.size() == 1 ? statements[0].find("node") : nullptr;
        if (node == nullptr) {
            return no_question("live takes one SELECT over events");
        }
        std::vector<Json> readers;
        each_node(*node, [&](const Json& part) {
            if (text_at(part, "type") == "SELECT_NODE" && LiveSource::reads(part)) {
                readers.push_back(part);
            }
            return true;
        });
        if (readers.size() > 1 || (readers.empty() && text_at(*node, "type") != "SELECT_NODE")) {
            return no_question(
                "live takes one SELECT over events: name it by WITH, and ask it again");
        }
        reader_ = readers.empty() ? *node : readers[0];
        select_ = reader_;
        std::string refused;
        const Json* const ctes = select_.find("cte_map");
        if (ctes != nullptr && !ctes->items_at("map").empty()) {
            refused = "the SELECT over events stands in the WITH, and not below one";
        }
        each_node(select_, [&](const Json& part) {
            if (text_at(part, "class") == "SUBQUERY") {
                refused = "live takes no sub-query within the SELECT over events: only around it";
            }
            return true;
        });
        each_node(Json::array().append(*select_.find("select_list")), [&](const Json& part) {
            if (text_at(part, "class") ==
                "STAR") {  // ORDER BY ALL has one, of the answer's columns
                refused = "name the columns: * would be all of them";
            }
            return true;
        });
        return refused.empty() ? Result<void>() : no_question(refused);
    }

    Result<std::set<std::string>> names_of_aggregates() {
        std::set<std::string> names{"count_star"};
        TRY(
            plan_.engine_.ask("SELECT DISTINCT function_name FROM duckdb_functions() WHERE "
                              "function_type = 'aggregate'",
                              [&](store::Rows& rows) -> Result<void> {
                                  for (;;) {
                                      TRY(const std::span<const store::Cell> row, rows.next());
                                      if (row.empty()) {
                                          return {};
                                      }
                                      names.insert(std::string(row[0].text));
                                  }
                              }));
        return names;
    }

    // Columns are called what they were called before their expressions change.
    void name_items(const std::vector<store::StatementEngine::Column>& columns) {
        Json items = Json::array();
        std::size_t i = 0;
        for (Json item : select_.items_at("select_list")) {
            if (text_at(item, "alias").empty() && i < columns.size()) {
                item.set("alias", columns[i].name);
            }
            items.append(std::move(item));
            ++i;
        }
        select_.set("select_list", std::move(items));
    }

    // The parts of WHERE that are conditions go; the others stay.
    void push_condition() {
        const Json* const where = select_.find("where_clause");
        if (where == nullptr || where->is_null()) {
            return;
        }
        const bool is_and = text_at(*where, "type") == "CONJUNCTION_AND";
        const std::vector<Json> parts = is_and ? where->items_at("children") : std::vector{*where};
        Json left = Json::array();
        for (const Json& part : parts) {
            if (const auto condition = source_.condition(part)) {
                plan_.grouping_.where = plan_.grouping_.where.and_also(*condition);
            } else {
                left.append(part);
            }
        }
        Json rest;
        if (left.items().size() == 1) {
            rest = left.items()[0];
        } else if (!left.items().empty()) {
            rest = *where;
            rest.set("children", std::move(left));
        }
        select_.set("where_clause", std::move(rest));
    }

    bool is_aggregate(const Json& node) const {
        return text_at(node, "class") == "FUNCTION" &&
               aggregate_names_.contains(text_at(node, "function_name"));
    }

    // The argument of an aggregate that can be counted; nothing: it cannot.
    std::optional<Expression> argument_of(const Json& node) const {
        const std::vector<Json>& children = node.items_at("children");
        if (text_at(node, "function_name") == "count_star" || children.empty()) {
            return filter::integer_constant(1);
        }
        return children.size() == 1 ? source_.value(children[0]) : std::nullopt;
    }

    static bool has_filter(const Json& node) {
        const Json* const filter = node.find("filter");
        return filter != nullptr && !filter->is_null();
    }

    bool can_be_counted(const Json& node) const {
        static const std::set<std::string> kNames{
            "count_star", "count", "sum", "min", "max", "avg"};
        const std::string name = text_at(node, "function_name");
        const Json* const orders = node.find("order_bys");
        if (!kNames.contains(name) || node.get<bool>("distinct").value_or(false) ||
            (has_filter(node) && !source_.condition(*node.find("filter"))) ||
            (orders != nullptr && !orders->items_at("orders").empty())) {
            return false;
        }
        const auto argument = argument_of(node);
        return argument && (argument->type == filter::Type::kInteger || name.starts_with("count"));
    }

    // All its aggregates, and there are some.
    bool can_be_counted() const {
        bool all = true, any = false;
        each_node(select_, [&](const Json& node) {
            if (!is_aggregate(node)) {
                return true;
            }
            any = true;
            all = all && can_be_counted(node);
            return false;
        });
        return any && all;
    }

    // What is grouped by and is more than a column, but still a value of src/filter, is a key of its own.
    void push_keys() {
        const std::vector<Json>& items = select_.items_at("select_list");
        for (const Json& group : select_.items_at("group_expressions")) {
            Json expression = group;
            if (text_at(group, "class") == "CONSTANT") {
                const Json* const value = group.find("value");
                const auto number = value == nullptr
                                        ? std::nullopt
                                        : std::optional(value->get<std::uint64_t>("value"));
                if (number && number->ok() && number->value() >= 1 &&
                    number->value() <= items.size()) {
                    expression = items[number->value() - 1];
                }
            } else if (const std::string name = lone_name(group); !name.empty()) {
                for (const Json& item : items) {
                    if (text_at(item, "alias") == name) {
                        expression = item;
                    }
                }
            }
            auto value = source_.value(expression);
            if (value && filter::is_arithmetic(value->op)) {
                key_trees_.emplace_back(without_place(expression),
                                        fmt::format("_k{}", key_trees_.size()));
                add_key(key_trees_.back().second, *std::move(value));
            }
        }
    }

    static std::string lone_name(const Json& node) {
        const std::vector<Json>& names = node.items_at("column_names");
        return text_at(node, "class") == "COLUMN_REF" && names.size() == 1
                   ? names[0].as<std::string>().value_or("")
                   : "";
    }

    void add_key(std::string name, Expression expression) {
        if (std::find(plan_.key_names_.begin(), plan_.key_names_.end(), name) ==
            plan_.key_names_.end()) {
            plan_.key_names_.push_back(std::move(name));
            plan_.grouping_.keys.push_back(std::move(expression));
        }
    }

    std::optional<std::string> key_of(const Json& node) const {
        if (node.find("query_location") == nullptr) {
            return std::nullopt;
        }
        const Json plain = without_place(node);
        for (const auto& [tree, name] : key_trees_) {
            if (tree == plain) {
                return name;
            }
        }
        return std::nullopt;
    }

    // Columns that stand outside of what is counted are keys.
    Result<void> find_columns() {
        Result<void> found;
        each_node(select_, [&](const Json& node) {
            if ((!plan_.repeats_rows_ && is_aggregate(node)) || key_of(node)) {
                return false;
            }
            const std::vector<Json>& names = node.items_at("column_names");
            if (text_at(node, "class") != "COLUMN_REF" || names.empty()) {
                return true;
            }
            const std::string name = names.back().as<std::string>().value_or("");
            auto column = source_.column(name);
            if (!column.ok()) {
                found = column.error();
            } else if (auto expression = std::move(column).value()) {
                add_key(name, *std::move(expression));
            }
            return false;
        });
        return found;
    }

    // The part of a tree that `expression` is, as DuckDB takes it apart.
    Result<Json> tree_of(const std::string& expression) {
        TRY(const Json tree, plan_.engine_.tree_of("SELECT " + expression));
        return tree.items_at("statements")[0].find("node")->items_at("select_list")[0];
    }

    std::size_t number_of(AggregateKind kind, Expression argument) {
        const filter::Aggregate wanted{kind, std::move(argument)};
        auto& all = plan_.grouping_.aggregates;
        const auto found = std::find(all.begin(), all.end(), wanted);
        if (found == all.end()) {
            all.push_back(wanted);
            return all.size() - 1;
        }
        return static_cast<std::size_t>(found - all.begin());
    }

    // An aggregate's FILTER: whether it holds is a key.
    std::string filter_of(const Json& node) {
        if (!has_filter(node)) {
            return "";
        }
        const Expression filter = source_.condition(*node.find("filter"))->expression();
        if (!filter::is_condition(filter)) {
            return fmt::format(" FILTER (WHERE {})", filter::sql_text(filter));
        }
        auto found = std::find(plan_.grouping_.keys.begin(), plan_.grouping_.keys.end(), filter);
        const auto i = static_cast<std::size_t>(found - plan_.grouping_.keys.begin());
        if (found == plan_.grouping_.keys.end()) {
            add_key(fmt::format("_f{}", i), filter);
        }
        return fmt::format(" FILTER (WHERE {} = 1)", plan_.key_names_[i]);
    }

    // What stands for a counted aggregate in the answer; it keeps the type that it had.
    Result<Json> merged(const Json& node) {
        const std::string name = text_at(node, "function_name");
        const std::string filter = filter_of(node);
        Expression argument = *argument_of(node);
        std::string text;
        if (name.starts_with("count")) {
            text = fmt::format("CAST(coalesce(sum(_c{}){}, 0) AS BIGINT)",
                               number_of(AggregateKind::kCount, std::move(argument)),
                               filter);
        } else if (name == "sum") {
            text = fmt::format(
                "sum(_v{}){}", number_of(AggregateKind::kSum, std::move(argument)), filter);
        } else if (name == "avg") {
            const std::size_t i = number_of(AggregateKind::kSum, std::move(argument));
            text = fmt::format("sum(_v{0}){1} / sum(_c{0}){1}", i, filter);
        } else {
            TRY(const std::string expression, expression_text(node));
            TRY(const auto columns,
                plan_.engine_.columns_of(
                    fmt::format("SELECT {} FROM {}", expression, source_.table())));
            text = fmt::format(
                "CAST({}(_v{}){} AS {})",
                name,
                number_of(name == "min" ? AggregateKind::kLeast : AggregateKind::kGreatest,
                          std::move(argument)),
                filter,
                columns[0].type);
        }
        TRY(Json tree, tree_of(text));
        tree.set("alias", text_at(node, "alias"));
        return tree;
    }

    Result<std::string> expression_text(const Json& node) {
        TRY(const Json tree, plan_.engine_.tree_of("SELECT 1"));
        Json items = Json::array();
        Json item = node;
        item.set("alias", "");
        items.append(std::move(item));
        Json select = *tree.items_at("statements")[0].find("node");
        select.set("select_list", std::move(items));
        TRY(const std::string text, plan_.engine_.text_of(of_select(std::move(select))));
        return text.substr(std::string_view("SELECT ").size());
    }

    Result<void> make_answer() {
        Result<void> done;
        Json answer = changed(select_, [&](const Json& node) -> std::optional<Json> {
            if (const auto key = key_of(node)) {
                auto tree = tree_of(*key);
                done = tree.ok() ? std::move(done) : Result<void>(tree.error());
                if (tree.ok()) {
                    Json named = std::move(tree).value();
                    named.set("alias", text_at(node, "alias"));
                    return named;
                }
            }
            if (plan_.repeats_rows_ || !is_aggregate(node)) {
                return std::nullopt;
            }
            auto tree = merged(node);
            done = tree.ok() ? std::move(done) : Result<void>(tree.error());
            return tree.ok() ? std::optional(std::move(tree).value()) : std::nullopt;
        });
        TRY(std::move(done));
        Json from = *answer.find("from_table");
        const std::string alias = text_at(from, "alias");
        from.set("alias", alias.empty() ? source_.table() : alias);
        from.set("table_name", plan_.repeats_rows_ ? kRepeated : kCounted);
        answer.set("from_table", std::move(from));
        TRY(plan_.answer_, plan_.engine_.text_of(with_select(answer)));
        if (plan_.repeats_rows_) {
            plan_.grouping_.aggregates = {{AggregateKind::kCount, filter::integer_constant(1)}};
        }
        return {};
    }

    // The statement with something else in place of what reads events.
    Json with_select(const Json& select) const {
        return changed(tree_, [&](const Json& node) {
            return node == reader_ ? std::optional(select) : std::nullopt;
        });
    }

    // A statement that is nothing but this node.
    Json of_select(Json select) const {
        Json statement = tree_.items_at("statements")[0];
        statement.set("node", std::move(select));
        Json tree = tree_;
        tree.set("statements", Json::array().append(std::move(statement)));
        return tree;
    }

    Result<void> make_tables() {
        std::string columns;
        for (std::size_t i = 0; i < plan_.key_names_.size(); ++i) {
            const Expression& key = plan_.grouping_.keys[i];
            TRY(const auto typed,
                plan_.engine_.columns_of(
                    fmt::format("SELECT {} FROM {}", filter::sql_text(key), source_.table())));
            columns += fmt::format("{} {}, ",
                                   filter::quoted_name(plan_.key_names_[i]),
                                   filter::is_condition(key) ? "TINYINT" : typed[0].type);
        }
        for (std::size_t i = 0; i < plan_.grouping_.aggregates.size(); ++i) {
            columns += fmt::format("_c{0} HUGEINT, _v{0} HUGEINT, ", i);
        }
        TRY(plan_.engine_.define(
            fmt::format("CREATE TABLE {} ({}_last BOOLEAN)", kCounted, columns)));
        return plan_.engine_.define(
            fmt::format("CREATE VIEW {} AS SELECT * FROM {} AS c, range(c._c0::BIGINT) AS r(_time)",
                        kRepeated,
                        kCounted));
    }

    LivePlan& plan_;
    Json tree_, reader_, select_;  // select_ is what becomes of reader_, which is a part of tree_
    LiveSource source_;
    std::set<std::string> aggregate_names_;
    std::vector<std::pair<Json, std::string>> key_trees_;
};

Result<LivePlan> LivePlan::of(const std::string& statement, const FindProbe& find) {
    TRY(store::StatementEngine engine, store::StatementEngine::open());
    TRY(Json tree, engine.tree_of(statement));
    LivePlan plan(std::move(engine));
    TRY(Maker(plan, std::move(tree)).make(find));
    return plan;
}

}  // namespace dyetrace::query
