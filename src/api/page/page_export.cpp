#include "api/page/page_export.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "reports/export/export_formats.h"

namespace dyetrace::api {
namespace {

struct Saved {
    std::string_view word;
    reports::ExportFormat format;
    const char* file_name;
    const char* content_type;
};

constexpr Saved kSaved[] = {
    {"perfetto", reports::ExportFormat::kPerfetto, "trace.pftrace", "application/octet-stream"},
    {"otlp", reports::ExportFormat::kOtlp, "spans.jsonl", "application/jsonl"},
    {"pcapng", reports::ExportFormat::kPcapng, "trace.pcapng", "application/octet-stream"},
};

Result<Saved> saved_in(const base::Json& question) {
    TRY(const std::string word, question.get<std::string>("format"));
    for (const Saved& saved : kSaved) {
        if (saved.word == word) {
            return saved;
        }
    }
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("no format '{}': perfetto, otlp or pcapng", word));
}

Result<std::shared_ptr<const base::Fd>> nameless_file() {
    const std::string path = base::TemporaryFolder::free_path();
    TRY(base::Fd file, base::open_file(path, O_RDWR | O_CREAT | O_EXCL, 0600));
    TRY(base::remove_file(path));
    return std::shared_ptr<const base::Fd>(std::make_shared<base::Fd>(std::move(file)));
}

// The stretch of time that is selected, by the clock of the events; nothing: all of it.
Result<std::optional<std::pair<std::int64_t, std::int64_t>>> stretch_in(
    store::Database& database, query::SelectedEvents& trace, const base::Json& question) {
    using Stretch = std::pair<std::int64_t, std::int64_t>;
    const auto from_ns = query::selected_bound(question, "from_ns");
    const auto to_ns = query::selected_bound(question, "to_ns");
    if (!from_ns && !to_ns) {
        return std::optional<Stretch>();
    }
    TRY(const query::TraceSpan span, trace.span(database));
    return std::optional<Stretch>(
        {span.begin_ns + from_ns.value_or(0), to_ns ? span.begin_ns + *to_ns : span.end_ns});
}

Error too_large(const Saved& saved) {
    return Error(ErrorCode::kLimitReached,
                 fmt::format("the file would be larger than {} MB: select less, or take `dyetrace "
                             "export TRACE --{} -o FILE`",
                             kSavedBytesMax >> 20,
                             saved.word));
}

}  // namespace

Result<api::Answer> export_answer(store::Database& database,
                                  query::SelectedEvents& trace,
                                  std::string_view clock,
                                  const base::Json& question,
                                  const std::atomic<bool>& cancelled) {
    TRY(const Saved saved, saved_in(question));
    reports::ExportPlan plan{.format = saved.format, .from = "selected", .clock = clock};
    TRY(plan.gaps_within_ns, stretch_in(database, trace, question));
    TRY(trace.select(database, question, reports::exported_table("selected"), cancelled));
    TRY(std::shared_ptr<const base::Fd> file, nameless_file());
    std::uint64_t bytes_so_far = 0;
    TRY(const reports::Exported done,
        reports::write_export(
            database, plan, cancelled, [&](std::string_view bytes) -> Result<void> {
                bytes_so_far += bytes.size();
                return bytes_so_far > kSavedBytesMax
                           ? too_large(saved)
                           : base::write_all(*file, base::bytes_of(bytes));
            }));
    return api::Answer{.content_type = saved.content_type,
                       .file_name = saved.file_name,
                       .file = std::move(file),
                       .note = fmt::format("{}", fmt::join(done.warnings, "; "))};
}

}  // namespace dyetrace::api
