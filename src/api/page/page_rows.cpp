#include "api/page/page_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/page/examples.h"
#include "api/page/sql.h"
#include "query/named_sql.h"

namespace dyetrace::api {
namespace {

using base::Json;

// Files that end where space_time.sql goes on, and only together with it are a statement.
constexpr std::string_view kSpaceTime[] = {
    "space_time_cluster", "space_time_order", "space_time_raw"};

Result<std::string> text_of(const std::string& name) {
    const auto* const file = std::ranges::find(page::sql::kAll, name, &page::sql::NamedText::first);
    if (file == page::sql::kAll.end() || name == "space_time") {
        return Error(ErrorCode::kInvalidArgument, fmt::format("no rows are called '{}'", name));
    }
    std::string text(file->second);
    if (std::ranges::find(kSpaceTime, name) != std::end(kSpaceTime)) {
        text.append("\n").append(page::sql::kSpaceTime);
    }
    return text;
}

}  // namespace

Result<std::string> page_statement(const Json& question) {
    TRY(const std::string name, question.get<std::string>("name"));
    TRY(const std::string text, text_of(name));
    const Json* const values = question.find("parameters");
    return query::with_values(text, values == nullptr ? Json::object() : *values);
}

Json page_examples() {
    Json examples = Json::object();
    for (const auto& [name, text] : page::examples::kAll) {
        examples.set(name, text);
    }
    return examples;
}

}  // namespace dyetrace::api
