#include "recorder/live_counter.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "capture/kernel_groups.h"
#include "schema/dictionary.h"
#include "schema/record.h"

namespace dyetrace::recorder {
namespace {

using base::with_separators;
using capture::ProbeCounter;

class EventCounter : public LiveCounter {
  public:
    EventCounter(Listener listener, const filter::Grouping& grouping, const std::string& host)
        : LiveCounter(std::move(listener), grouping, host) {}

    void drain() override {
        listener_.capture().drain(
            [this](std::uint32_t cpu, schema::Stream stream, std::span<const std::byte> records) {
                for (schema::RecordBytes record = schema::first_record(records); !record.empty();
                     record = schema::first_record(records)) {
                    if (stream == schema::Stream::kFacts) {
                        dictionary_.add(record);
                    } else if (table_.add(record, static_cast<std::uint16_t>(cpu), dictionary_)) {
                        ++counted_;
                    }
                    records = records.subspan(record.size());
                }
            });
    }

    Result<void> take() override {
        drain();
        return listener_.capture().groups()->take(table_);
    }

    std::string summary() const override {
        const std::string& refused = const_cast<Listener&>(listener_).capture().groups()->refused();
        return fmt::format("events counted in the kernel: {}, here: {}{}",
                           with_separators(listener_.capture().accounting().aggregated),
                           with_separators(counted_),
                           refused.empty() ? "" : ", as " + refused);
    }

    std::string missing() const override {
        const std::uint64_t lost = listener_.capture().accounting().lost;
        return lost > 0 ? fmt::format("{} events lost since the beginning", with_separators(lost))
                        : "";
    }

  private:
    schema::Dictionary dictionary_;
    std::uint64_t counted_ = 0;
};

class ProbeRowCounter : public LiveCounter {
  public:
    ProbeRowCounter(Listener listener, capture::KernelProbe probe, const filter::Grouping& grouping)
        : LiveCounter(std::move(listener), grouping, ""), probe_(std::move(probe)) {}

    Result<void> begin(pid_t without) override {
        TRY(listener_.capture().exclude(without));
        TRY(listener_.attach());
        TRY(probe_.attach());
        return listener_.release();
    }

    void drain() override { probe_.drain(); }
    Result<void> take() override { return probe_.take(table_); }

    Result<void> end() override {
        probe_.detach();
        return listener_.end();
    }

    std::string summary() const override {
        return fmt::format("rows counted in the kernel: {}, here: {}{}",
                           with_separators(probe_.counted_in_kernel()),
                           with_separators(probe_.counted(ProbeCounter::kHandedOut)),
                           probe_.refused().empty() ? "" : ", as " + probe_.refused());
    }

    std::string missing() const override {
        std::string text;
        const auto add = [&](std::uint64_t number, std::string_view what) {
            if (number > 0) {
                text +=
                    fmt::format("{}{} {}", text.empty() ? "" : ", ", with_separators(number), what);
            }
        };
        add(probe_.counted(ProbeCounter::kLost), "rows lost since the beginning");
        add(probe_.counted(ProbeCounter::kNotKept),
            "calls not counted, as too many were under way at once");
        add(probe_.left_out(), "times not counted, as it fired while a probe was being counted");
        return text;
    }

  private:
    capture::KernelProbe probe_;
};

}  // namespace

Result<std::unique_ptr<LiveCounter>> LiveCounter::of_events(Targets targets,
                                                            const filter::Grouping& grouping,
                                                            const std::string& host) {
    capture::CaptureOptions options;
    options.predicate = grouping.where;
    options.grouping = grouping;
    options.host = host;
    TRY(Listener listener, Listener::start(std::move(targets), options));
    return std::unique_ptr<LiveCounter>(new EventCounter(std::move(listener), grouping, host));
}

Result<std::unique_ptr<LiveCounter>> LiveCounter::of_probe(Targets targets,
                                                           capture::Probe probe,
                                                           const filter::Grouping& grouping) {
    capture::CaptureOptions options;
    options.only_follow = true;
    options.event_ring_bytes = capture::kEventRingBytesMin;
    TRY(Listener listener, Listener::start(std::move(targets), options));
    TRY(capture::KernelProbe loaded,
        capture::KernelProbe::load(std::move(probe), grouping, listener.capture().watched_tasks()));
    return std::unique_ptr<LiveCounter>(
        new ProbeRowCounter(std::move(listener), std::move(loaded), grouping));
}

Result<void> LiveCounter::begin(pid_t without) {
    TRY(listener_.capture().exclude(without));
    TRY(listener_.attach());
    return listener_.release();
}

}  // namespace dyetrace::recorder
