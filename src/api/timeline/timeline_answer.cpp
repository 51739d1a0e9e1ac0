#include "api/timeline/timeline_answer.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <span>
#include <string>

namespace dyetrace::api {
namespace {

using base::Json;

static_assert(std::endian::native == std::endian::little, "answers are written as they lie");

constexpr std::uint32_t kVersion = 1;

// Below 0: gaps may begin before the first event, and so may events whose host's clock turned out to be another one.
std::int64_t since_begin(const Timeline& timeline, std::uint64_t time_ns) {
    return static_cast<std::int64_t>(time_ns - timeline.begin_ns);
}

// A column of the rows, by what is taken of each.
template <typename Take>
Json column(const Timeline& timeline, Take&& take) {
    Json values = Json::array();
    for (std::uint32_t row = 0; row < timeline.rows.size(); ++row) {
        values.append(take(timeline.index.rows()[row], timeline.rows[row]));
    }
    return values;
}

Json rows_json(const Timeline& timeline) {
    using Row = TimelineRow;
    using Label = TimelineRowLabel;
    const auto of = [&](auto take) { return column(timeline, take); };
    return Json::object()
        .set("parent", of([](const Row& row, const Label&) {
                 return row.parent == Row::kNone ? -1 : static_cast<std::int64_t>(row.parent);
             }))
        .set("kind",
             of([](const Row&, const Label& label) { return static_cast<unsigned>(label.kind); }))
        .set("host", of([](const Row&, const Label& label) { return label.host; }))
        .set("label", of([](const Row&, const Label& label) { return label.label; }))
        .set("id", of([](const Row&, const Label& label) { return std::to_string(label.id); }))
        .set("threads", of([](const Row& row, const Label&) { return row.lanes; }))
        .set("events", of([](const Row& row, const Label&) { return row.events; }))
        .set("begin",
             of([&](const Row& row, const Label&) { return since_begin(timeline, row.begin_ns); }))
        .set("end",
             of([&](const Row& row, const Label&) { return since_begin(timeline, row.end_ns); }));
}

Json hosts_json(const Timeline& timeline) {
    Json hosts = Json::array();
    for (const TimelineHost& host : timeline.hosts) {
        hosts.append(Json::object()
                         .set("name", host.name)
                         .set("ahead_min_ns", std::to_string(host.ahead_min_ns))
                         .set("ahead_max_ns", std::to_string(host.ahead_max_ns)));
    }
    return hosts;
}

Json gaps_json(const Timeline& timeline) {
    Json gaps = Json::array();
    for (const TimelineGap& gap : timeline.gaps) {
        gaps.append(Json::object()
                        .set("host", gap.host)
                        .set("begin", since_begin(timeline, gap.begin_ns))
                        .set("end", since_begin(timeline, gap.end_ns))
                        .set("lost", gap.lost)
                        .set("reason", gap.reason));
    }
    return gaps;
}

Result<TimelineColour> colour_in(const Json& question) {
    TRY(const std::string word, question.get<std::string>("colour"));
    if (word == "class") {
        return TimelineColour::kClass;
    }
    if (word == "content") {
        return TimelineColour::kContent;
    }
    if (word == "latency") {
        return TimelineColour::kLatency;
    }
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("colour is class, content or latency, not '{}'", word));
}

template <typename Number>
void put(std::string& bytes, Number number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

template <typename Take>
void put_each(std::string& bytes, std::span<const TimelineRun> runs, Take&& take) {
    for (const TimelineRun& run : runs) {
        put(bytes, take(run));
    }
}

std::uint32_t look_of(const TimelineRun& run) {
    const auto at = [](std::uint32_t value, unsigned bit) { return value << bit; };
    return at(run.colour, 0) | at(run.flags, 4) | at(run.fill, 8) | at(run.work, 16) |
           at(run.ran, 24);
}

void put_singles(std::string& bytes, std::span<const TimelineRun> singles) {
    put_each(bytes, singles, [](const TimelineRun& run) { return run.event; });
    put_each(bytes, singles, [](const TimelineRun& run) { return run.name; });
}

std::string packed(std::uint32_t revision,
                   std::span<const std::uint32_t> rows,
                   std::span<const std::uint32_t> runs_of_row,
                   std::span<const TimelineRun> runs) {
    std::vector<TimelineRun> singles;
    for (const TimelineRun& run : runs) {
        if ((run.flags & TimelineRun::kSingle) != 0) {
            singles.push_back(run);
        }
    }
    std::string bytes = "DTTL";
    bytes.reserve(24 + 8 * rows.size() + 16 * runs.size() + 10 * singles.size());
    for (const std::size_t number :
         {std::size_t{kVersion}, std::size_t{revision}, rows.size(), runs.size(), singles.size()}) {
        put(bytes, static_cast<std::uint32_t>(number));
    }
    for (const std::span<const std::uint32_t> column : {rows, runs_of_row}) {
        bytes.append(reinterpret_cast<const char*>(column.data()), column.size_bytes());
    }
    put_each(bytes, runs, [](const TimelineRun& run) { return run.x0; });
    put_each(bytes, runs, [](const TimelineRun& run) { return run.x1; });
    put_each(bytes, runs, [](const TimelineRun& run) { return run.count; });
    put_each(bytes, runs, look_of);
    put_singles(bytes, singles);
    return bytes;
}

}  // namespace

Answer timeline_rows_answer(const Timeline& timeline) {
    Json names = Json::array();
    for (const std::string& name : timeline.names) {
        names.append(name);
    }
    return {.body = Json::object()
                        .set("revision", timeline.revision)
                        .set("is_recording", timeline.is_recording)
                        .set("begin_ns", std::to_string(timeline.begin_ns))
                        .set("span_ns", timeline.end_ns - timeline.begin_ns)
                        .set("events", timeline.index.events())
                        .set("names", std::move(names))
                        .set("hosts", hosts_json(timeline))
                        .set("rows", rows_json(timeline))
                        .set("gaps", gaps_json(timeline))
                        .text()};
}

Result<TimeWindow> window_in(const Timeline& timeline, const Json& question) {
    std::uint64_t from = 0, to = 0, width = 0;
    TRY(question.read("from", from, "to", to, "width", width));
    constexpr std::uint64_t kTimeMax = std::uint64_t{1} << 62;
    if (from >= to || to > kTimeMax || width == 0 || width > TimeWindow::kWidthMax) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("a window is from one time to a later one, 1 to {} pixels wide",
                                 TimeWindow::kWidthMax));
    }
    return TimeWindow{.from_ns = timeline.begin_ns + from,
                      .to_ns = timeline.begin_ns + to,
                      .width = static_cast<std::uint32_t>(width)};
}

Result<std::vector<std::uint32_t>> rows_in(const Timeline& timeline, const Json& question) {
    std::vector<std::uint32_t> rows;
    for (const Json& item : question.items_at("rows")) {
        const auto row = item.as<std::uint64_t>();
        if (!row || *row >= timeline.rows.size() || rows.size() == kRowsAskedMax) {
            return Error(ErrorCode::kInvalidArgument,
                         fmt::format("rows are numbers below {}, {} at the most",
                                     timeline.rows.size(),
                                     kRowsAskedMax));
        }
        rows.push_back(static_cast<std::uint32_t>(*row));
    }
    return rows;
}

Result<Answer> timeline_answer(const Timeline& timeline,
                               const Json& question,
                               const std::atomic<bool>& cancelled) {
    TRY(const std::uint64_t revision, question.get<std::uint64_t>("revision"));
    TRY(const TimelineColour colour, colour_in(question));
    std::vector<std::uint32_t> rows, runs_of_row;
    std::vector<TimelineRun> runs;
    if (revision == timeline.revision) {
        TRY(const TimeWindow window, window_in(timeline, question));
        TRY(rows, rows_in(timeline, question));
        for (const std::uint32_t row : rows) {
            if (cancelled) {
                return Error(ErrorCode::kInterrupted, "nobody waits for the picture any more");
            }
            const std::vector<TimelineRun> drawn = timeline.index.runs(row, window, colour);
            runs_of_row.push_back(static_cast<std::uint32_t>(drawn.size()));
            runs.insert(runs.end(), drawn.begin(), drawn.end());
        }
    }
    return Answer{.content_type = "application/octet-stream",
                  .body = packed(timeline.revision, rows, runs_of_row, runs)};
}

Result<Answer> timeline_flows_answer(const Timeline& timeline,
                                     const TimelineFlows& flows,
                                     const Json& question) {
    TRY(const std::uint64_t revision, question.get<std::uint64_t>("revision"));
    Json drawn = Json::array();
    if (revision == timeline.revision) {
        TRY(const TimeWindow window, window_in(timeline, question));
        TRY(const std::vector<std::uint32_t> rows, rows_in(timeline, question));
        for (const DrawnFlow& flow : flows.drawn(window, rows)) {
            drawn.append(Json::object()
                             .set("from_row", flow.from_row)
                             .set("to_row", flow.to_row)
                             .set("from", since_begin(timeline, flow.from_ns))
                             .set("to", since_begin(timeline, flow.to_ns))
                             .set("count", flow.count)
                             .set("bytes", flow.bytes)
                             .set("is_certain", flow.is_certain)
                             .set("from_event", std::to_string(flow.from_event))
                             .set("to_event", std::to_string(flow.to_event)));
        }
    }
    return Answer{.body = Json::object()
                              .set("revision", timeline.revision)
                              .set("flows", std::move(drawn))
                              .text()};
}

}  // namespace dyetrace::api
