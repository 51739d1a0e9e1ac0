#include "recorder/test_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "schema/record.h"
#include "schema/record_info.h"

namespace dyetrace::recorder {
namespace {

Error nonsense(std::string_view part) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is no part of a test clock: offset=SECONDSs, drift=NUMBERppm, "
                             "step=SECONDSs@NANOSECONDS, zero=NANOSECONDS",
                             part));
}

// "1.5s" with unit "s" and 1e9: 1,500,000,000.
std::optional<std::int64_t> amount_in(std::string_view text, std::string_view unit, double scale) {
    if (!text.ends_with(unit)) {
        return std::nullopt;
    }
    text.remove_suffix(unit.size());
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(value * scale);
}

std::optional<std::uint64_t> instant_in(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
}

constexpr double kNsInSecond = 1e9;
constexpr double kPpbInPpm = 1e3;

enum class Time { kNone, kInstant, kDuration, kOtherClock };

// Fields are named by what they are: `…_ns`, of CLOCK_BOOTTIME unless they say otherwise.
Time time_in(const schema::ColumnInfo& column) {
    const std::string_view name = column.name;
    if (column.source != schema::ColumnSource::kField || !name.ends_with("_ns") ||
        column.size != sizeof(std::uint64_t) || name == "error_ns") {
        return Time::kNone;
    }
    if (name == "wall_ns" || name == "monotonic_ns") {
        return Time::kOtherClock;
    }
    return name == "duration_ns" || name == "off_cpu_ns" ? Time::kDuration : Time::kInstant;
}

std::uint64_t load(std::span<const std::byte> record, std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, record.data() + at, sizeof(value));
    return value;
}

void store(std::span<std::byte> record, std::size_t at, std::uint64_t value) {
    std::memcpy(record.data() + at, &value, sizeof(value));
}

void apply_to(const TestClock& clock, std::span<std::byte> record, const schema::RecordInfo& info) {
    std::uint64_t start_ns = 0;
    for (const schema::ColumnInfo& column : info.columns) {
        const std::size_t at = column.offset;
        const Time time = time_in(column);
        if (time == Time::kNone || at + sizeof(std::uint64_t) > record.size()) {
            continue;
        }
        const std::uint64_t value = load(record, at);
        if (time == Time::kDuration) {  // these stand after the start
            store(record, at, clock.at(start_ns + value) - clock.at(start_ns));
        } else if (time == Time::kOtherClock) {
            store(record, at, value + clock.at(start_ns) - start_ns);
        } else if (value != 0 && value != UINT64_MAX) {  // those say that there is none
            start_ns = value;
            store(record, at, clock.at(value));
        }
    }
}

}  // namespace

Result<TestClock> TestClock::parse(std::string_view text) {
    TestClock clock;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        const std::size_t sign = std::min(part.size(), part.find('=') + 1);
        const std::string_view name = part.substr(0, sign), value = part.substr(sign);
        if (const auto offset = amount_in(value, "s", kNsInSecond); name == "offset=" && offset) {
            clock.offset_ns_ = *offset;
        } else if (const auto drift = amount_in(value, "ppm", kPpbInPpm);
                   name == "drift=" && drift) {
            clock.drift_ppb_ = *drift;
        } else if (const auto zero = instant_in(value); name == "zero=" && zero) {
            clock.zero_ns_ = *zero;
        } else if (const std::size_t at = value.find('@');
                   name == "step=" && at != std::string_view::npos) {
            const auto step = amount_in(value.substr(0, at), "s", kNsInSecond);
            const auto from = instant_in(value.substr(at + 1));
            if (!step || !from) {
                return nonsense(part);
            }
            clock.steps_.push_back({*step, *from});
        } else {
            return nonsense(part);
        }
    }
    return clock;
}

std::uint64_t TestClock::at(std::uint64_t boot_ns) const {
    constexpr __int128 kPpb = 1'000'000'000;
    const __int128 since = static_cast<__int128>(boot_ns) - static_cast<__int128>(zero_ns_);
    __int128 shown = static_cast<__int128>(boot_ns) + offset_ns_ + since * drift_ppb_ / kPpb;
    for (const Step& step : steps_) {
        shown += boot_ns >= step.from_ns ? step.ns : 0;
    }
    return shown < 1 ? 1 : static_cast<std::uint64_t>(shown);
}

std::span<const std::byte> TestClock::apply(std::span<const std::byte> records) {
    records_.assign(records.begin(), records.end());
    std::span<std::byte> rest = records_;
    for (schema::RecordBytes record = schema::first_record(rest); !record.empty();
         record = schema::first_record(rest)) {
        const auto id = static_cast<schema::RecordId>(schema::header_of(record).type);
        if (const schema::RecordInfo* const info = schema::find_record(id)) {
            apply_to(*this, rest.first(record.size()), *info);
        }
        rest = rest.subspan(record.size());
    }
    return records_;
}

}  // namespace dyetrace::recorder
