#include "query/payload/content_functions.h"

#include <fmt/format.h>

#include <string>

#include "base/file.h"
#include "content/content_sum.h"
#include "schema/text.h"

namespace dyetrace::query {

// A function that is registered gives text; the macro makes it the number that the column has.
Result<void> register_content_functions(store::Database& database,
                                        const std::optional<content::ContentKey>& key) {
    TRY(database.register_function(
        {.name = "_fingerprint_text",
         .arguments = 1,
         .call = [key](const auto& arguments) -> std::optional<std::string> {
             const auto bytes = arguments[0] ? schema::unescaped(*arguments[0]) : std::nullopt;
             if (!bytes) {
                 return std::nullopt;
             }
             return fmt::format(
                 "{}",
                 static_cast<std::int64_t>(content::fingerprint(base::bytes_of(*bytes), key)));
         }}));
    TRY(database.register_function(
        {.name = "_content_sum_text",
         .arguments = 1,
         .call = [](const auto& arguments) -> std::optional<std::string> {
             const auto bytes = arguments[0] ? schema::unescaped(*arguments[0]) : std::nullopt;
             if (!bytes) {
                 return std::nullopt;
             }
             return fmt::format(
                 "{}", static_cast<std::int64_t>(content::content_sum(base::bytes_of(*bytes))));
         }}));
    return database.query(
        "CREATE OR REPLACE TEMP MACRO fingerprint_of(bytes) AS _fingerprint_text(bytes)::BIGINT; "
        "CREATE OR REPLACE TEMP MACRO content_sum_of(bytes) AS _content_sum_text(bytes)::BIGINT",
        [](store::Rows&) { return Result<void>(); });
}

}  // namespace dyetrace::query
