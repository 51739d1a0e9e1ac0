#include "recorder/probe_recorder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/json_string.h"
#include "base/text.h"

namespace dyetrace::recorder {
namespace {

using capture::ProbeCounter;

constexpr std::size_t kNoColumn = SIZE_MAX;
constexpr std::size_t kStackTextMax = 30'000;  // of each of two, in a record

std::size_t column_named(const capture::RecordedProbe& found, std::string_view name) {
    const auto& row = found.probe.row;
    const auto at = std::find_if(
        row.begin(), row.end(), [&](const filter::RowColumn& each) { return each.name == name; });
    return at == row.end() ? kNoColumn : static_cast<std::size_t>(at - row.begin());
}

// What is innermost says more: the rest goes.
std::string shortened(std::string text) {
    return text.size() <= kStackTextMax
               ? text
               : "…" + text.substr(text.find(';', text.size() - kStackTextMax));
}

// The value's number, of whatever sign; nothing: it is NULL.
std::optional<std::uint64_t> number_of(const capture::RecordedProbe& found,
                                       const filter::RowValues& row,
                                       std::size_t column) {
    if (column == kNoColumn) {
        return std::nullopt;
    }
    const filter::Value value = row.of(found.probe.layout.fields()[column]);
    return value.type == filter::Type::kInteger
               ? std::optional(static_cast<std::uint64_t>(value.integer))
               : std::nullopt;
}

}  // namespace

ProbeRecorder::Columns ProbeRecorder::columns_of(const capture::RecordedProbe& found) {
    const auto at = [&](std::string_view name) { return column_named(found, name); };
    return {.context = at(capture::kRecordedContext),
            .thread = at(capture::kRecordedThread),
            .thread_start = at(capture::kRecordedThreadStart),
            .process_start = at(capture::kRecordedProcessStart),
            .comm = at("comm"),
            .time = at("time_ns"),
            .cpu = at("cpu"),
            .place = at("function"),
            .duration = at("duration_ns"),
            .result = at("result"),
            .kernel_stack = at("kernel_stack"),
            .user_stack = at("user_stack"),
            .arguments = found.probe.row.size() - found.arguments.size()};
}

Result<ProbeRecorder> ProbeRecorder::load(const ProbeOptions& options,
                                          const capture::WatchedTasks& watched) {
    ProbeRecorder made;
    std::uint32_t places = 0;
    for (const std::string& text : options.probes) {
        auto found = capture::find_recorded_probe(text, options.stacks);
        if (!found.ok()) {
            return found.error().with_context("--probe \"" + text + '"');
        }
        auto one = std::make_unique<One>();
        one->text = text;
        one->found = std::move(found).value();
        one->columns = columns_of(one->found);
        const filter::Expression& where = one->found.where.expression();
        auto loaded = capture::LoadedProbe::load(
            one->found.probe,
            watched,
            {.where = one->found.where.selects_all() ? nullptr : &where},
            [one = one.get()](std::span<const std::byte> row) {
                // the kernel hands out what it cannot decide, too
                if (filter::truth_of(one->found.where.expression(), filter::RowValues(row)) ==
                    filter::Truth::kTrue) {
                    one->rows.insert(one->rows.end(), row.begin(), row.end());
                } else {
                    ++one->left_out;
                }
            });
        if (!loaded.ok()) {
            return loaded.error().with_context("--probe \"" + text + '"');
        }
        one->loaded = std::move(loaded).value();
        one->first_place = places;
        places += static_cast<std::uint32_t>(one->loaded->places().size());
        made.probes_.push_back(std::move(one));
    }
    return made;
}

Result<filter::Predicate> ProbeRecorder::without_its_calls(const filter::Predicate& predicate) {
    TRY(const filter::Predicate own,
        filter::Predicate::parse("name NOT IN ('uretprobe', 'uprobe')"));
    return predicate.and_also(own);
}

Result<void> ProbeRecorder::attach(FactWriter& facts, RecordWriter::Append events) {
    events_.emplace(std::move(events));
    for (const std::unique_ptr<One>& one : probes_) {
        auto attached = one->loaded->attach();
        if (!attached.ok()) {
            return attached.error().with_context("--probe \"" + one->text + '"');
        }
        for (std::size_t i = 0; i < one->loaded->places().size(); ++i) {
            TRY(facts.write_probed_place(one->first_place + static_cast<std::uint32_t>(i),
                                         one->loaded->places()[i],
                                         one->text));
        }
        capture::Source source{
            .name = "probe " + one->text, .state = schema::CoverageState::kOn, .reason = ""};
        if (!one->found.left_out.empty()) {
            source.state = schema::CoverageState::kPartial;
            source.reason =
                fmt::format("without arguments: {}", fmt::join(one->found.left_out, "; "));
        }
        TRY(facts.write_coverage(source));
    }
    collected_ns_ = static_cast<std::uint64_t>(base::boot_time_ns());
    return {};
}

void ProbeRecorder::detach() {
    for (const std::unique_ptr<One>& one : probes_) {
        one->loaded->detach();
    }
}

void ProbeRecorder::collect() {
    const std::int64_t now = base::boot_time_ns();
    for (const std::unique_ptr<One>& one : probes_) {
        one->loaded->drain();
    }
    collected_ns_ = static_cast<std::uint64_t>(now);
}

Result<std::uint64_t> ProbeRecorder::write(FactWriter& facts, const Hide& hide) {
    std::uint64_t bytes = 0;
    for (const std::unique_ptr<One>& one : probes_) {
        const std::size_t row_bytes = one->found.probe.layout.bytes();
        for (std::span<const std::byte> rows = one->rows; !rows.empty();
             rows = rows.subspan(row_bytes)) {
            TRY(write_row(*one, rows.first(row_bytes), facts, hide));
        }
        bytes += one->rows.size();
        one->rows.clear();
    }
    return bytes;
}

Result<void> ProbeRecorder::write_row(One& one,
                                      std::span<const std::byte> row,
                                      FactWriter& facts,
                                      const Hide& hide) {
    const filter::RowValues values(row);
    const auto number = [&](std::size_t column) { return number_of(one.found, values, column); };
    schema::ProbeEvent event{};
    event.start_ns = number(one.columns.time).value_or(0);
    event.on_cpu = static_cast<std::uint32_t>(number(one.columns.cpu).value_or(0));
    event.probe_id =
        one.first_place + static_cast<std::uint32_t>(number(one.columns.place).value_or(0));
    if (const auto duration = number(one.columns.duration)) {
        event.duration_ns = *duration;
        event.start_ns -= *duration;
        event.present |= schema::ProbeEvent::kHasDuration;
    }
    if (const auto result = number(one.columns.result)) {
        event.result = static_cast<std::int64_t>(*result);
        event.present |= schema::ProbeEvent::kHasResult;
    }
    TRY(event.context_id, context_of(one, values, facts));
    TRY(event.stack_id, stack_of(one, values, facts));
    event.present |= event.stack_id != 0 ? schema::ProbeEvent::kHasStack : 0u;
    append_arguments(one, values, hide);
    events_->attach(schema::Attachment::kArguments, text_, text_.size());
    return events_->write(event);
}

// Nobody has announced a stranger.
Result<std::uint32_t> ProbeRecorder::context_of(const One& one,
                                                const filter::RowValues& row,
                                                FactWriter& facts) {
    const auto number = [&](std::size_t column) {
        return number_of(one.found, row, column).value_or(0);
    };
    if (const std::uint64_t known = number(one.columns.context); known != 0) {
        return static_cast<std::uint32_t>(known);
    }
    const std::uint64_t thread = number(one.columns.thread);
    const std::uint64_t start_ns = number(one.columns.thread_start);
    const auto next = UINT32_MAX - static_cast<std::uint32_t>(strangers_.size());
    const auto [found, is_new] = strangers_.try_emplace({thread, start_ns}, next);
    if (is_new) {
        const filter::Value comm = row.of(one.found.probe.layout.fields()[one.columns.comm]);
        TRY(facts.write_thread({.context_id = found->second,
                                .pid = static_cast<std::uint32_t>(thread >> 32),
                                .tid = static_cast<std::uint32_t>(thread),
                                .process_start_ns = number(one.columns.process_start),
                                .thread_start_ns = start_ns,
                                .comm = std::string(comm.text)}));
    }
    return found->second;
}

// 0: it has none.
Result<std::uint32_t> ProbeRecorder::stack_of(One& one,
                                              const filter::RowValues& row,
                                              FactWriter& facts) {
    const auto kernel = number_of(one.found, row, one.columns.kernel_stack);
    const auto user = number_of(one.found, row, one.columns.user_stack);
    if (!kernel && !user) {
        return 0u;
    }
    const auto [found, is_new] =
        one.stacks.try_emplace({kernel.value_or(UINT64_MAX), user.value_or(UINT64_MAX)}, 0);
    if (is_new) {
        const auto text = [&](capture::RowSource source, std::optional<std::uint64_t> number) {
            const filter::Constant name =
                number ? one.loaded->name_of(source, *number) : filter::Constant();
            const auto* const named = std::get_if<std::string>(&name);
            return named != nullptr ? shortened(*named) : std::string();
        };
        found->second = next_stack_++;
        TRY(facts.write_stack(found->second,
                              text(capture::RowSource::kKernelStack, kernel),
                              text(capture::RowSource::kUserStack, user)));
    }
    return found->second;
}

// Writes them as JSON, which the arguments of calls are, too.
void ProbeRecorder::append_arguments(const One& one,
                                     const filter::RowValues& row,
                                     const Hide& hide) {
    text_ = "{";
    for (std::size_t i = 0; i < one.found.arguments.size(); ++i) {
        const filter::Value value =
            row.of(one.found.probe.layout.fields()[one.columns.arguments + i]);
        if (value.type == filter::Type::kNull) {
            continue;
        }
        text_ += text_.size() > 1 ? "," : "";
        base::append_json_string(text_, one.found.arguments[i], base::JsonEscapes::kRequired);
        text_ += ':';
        if (value.type == filter::Type::kText) {
            base::append_json_string(
                text_, hide(std::string(value.text)), base::JsonEscapes::kRequired);
        } else if (value.integer < 0) {
            text_ += fmt::to_string(static_cast<std::int64_t>(value.integer));
        } else {
            text_ += fmt::to_string(static_cast<std::uint64_t>(value.integer));
        }
    }
    text_ += '}';
}

capture::Accounting ProbeRecorder::accounting() const {
    capture::Accounting sum;
    for (const std::unique_ptr<One>& one : probes_) {
        sum.delivered += one->loaded->counted(ProbeCounter::kHandedOut) - one->left_out;
        sum.filtered += one->loaded->counted(ProbeCounter::kFiltered) + one->left_out;
        sum.lost += one->loaded->counted(ProbeCounter::kLost) +
                    one->loaded->counted(ProbeCounter::kNotKept) + one->loaded->left_out();
    }
    sum.generated = sum.filtered + sum.delivered + sum.lost;
    sum.last_lost_ns = sum.lost > 0 ? static_cast<std::uint64_t>(base::boot_time_ns()) : 0;
    return sum;
}

std::vector<std::string> ProbeRecorder::missing() const {
    std::vector<std::string> lines;
    for (const std::unique_ptr<One>& one : probes_) {
        const auto add = [&](std::uint64_t number, std::string_view why) {
            if (number > 0) {
                lines.push_back(fmt::format("{} firings of {} are not there: {}",
                                            base::with_separators(number),
                                            one->text,
                                            why));
            }
        };
        add(one->loaded->counted(ProbeCounter::kLost), "their ring was full");
        add(one->loaded->counted(ProbeCounter::kNotKept), "too many calls were under way at once");
        add(one->loaded->left_out(), "it fired while a probe was being written");
    }
    return lines;
}

}  // namespace dyetrace::recorder
