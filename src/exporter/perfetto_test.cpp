#include "exporter/perfetto.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

namespace dyetrace::exporter {
namespace {

// What a reader finds in a message, by number of the field; written from the description of the wire format, not from protobuf.cpp.
struct Fields {
    std::multimap<std::uint64_t, std::uint64_t> numbers;
    std::multimap<std::uint64_t, std::string_view> texts;

    std::uint64_t number(std::uint64_t field) const {
        const auto found = numbers.find(field);
        return found == numbers.end() ? UINT64_MAX : found->second;
    }
    std::string_view text(std::uint64_t field) const {
        const auto found = texts.find(field);
        return found == texts.end() ? std::string_view() : found->second;
    }
};

std::uint64_t take_varint(std::string_view& from) {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(from.front());
        from.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) {
            return value;
        }
    }
}

Fields fields_of(std::string_view message) {
    Fields fields;
    while (!message.empty()) {
        const std::uint64_t tag = take_varint(message);
        if (tag % 8 == 0) {
            fields.numbers.emplace(tag / 8, take_varint(message));
            continue;
        }
        const std::uint64_t length = tag % 8 == 1 ? 8 : take_varint(message);
        if (length > message.size()) {
            ADD_FAILURE() << "field " << tag / 8 << " goes beyond its message";
            return fields;
        }
        fields.texts.emplace(tag / 8, message.substr(0, length));
        message.remove_prefix(length);
    }
    return fields;
}

const std::vector<ValueName> kNames = {
    {"path", ValueKind::kName}, {"bytes", ValueKind::kNumber}, {"arguments", ValueKind::kJson}};

Scene scene() {
    Scene scene;
    scene.hosts = {{0, "web1", "a", "6.1"}, {1, "web2", "b", "6.1"}};
    scene.processes[10] = {
        .host_index = 0, .pid = 7, .ppid = 1, .comm = "cat", .exe = "/cat", .container = ""};
    scene.processes[20] = {
        .host_index = 1, .pid = 7, .ppid = 1, .comm = "tee", .exe = "/tee", .container = ""};
    scene.threads[10] = {10, 7, "cat"};
    scene.threads[20] = {20, 7, "tee"};
    return scene;
}

Event call(std::uint64_t thread, std::int64_t begin, std::optional<std::uint64_t> duration) {
    return {.process_id = thread,
            .thread_id = thread,
            .begin_ns = begin,
            .duration_ns = duration,
            .event_class = "file",
            .name = "read"};
}

// "cat 7: +10 read, -20" …: tracks by their full names, and on each its beginnings, ends and instants as they lie in the file.
class Written {
  public:
    explicit Written(Scene people) : people_(std::move(people)), writer_(people_, kNames, sink()) {}

    PerfettoWriter& writer() { return writer_; }
    void add(const Event& event) { EXPECT_TRUE(writer_.add(event).ok()); }

    std::map<std::string, std::string> tracks() {
        EXPECT_TRUE(writer_.end().ok());
        read();
        return lines_;
    }
    const std::vector<Fields>& events() const { return events_; }
    const std::string& bytes() const { return bytes_; }

  private:
    Sink sink() {
        return [this](std::string_view bytes) {
            bytes_ += bytes;
            return Result<void>();
        };
    }

    void read() {
        for (const auto& [field, packet] : fields_of(bytes_).texts) {
            ASSERT_EQ(field, 1u);
            const Fields fields = fields_of(packet);
            if (!fields.text(60).empty()) {
                const Fields track = fields_of(fields.text(60));
                const auto parent = names_.find(track.number(5));
                EXPECT_TRUE(track.number(5) == UINT64_MAX || parent != names_.end());
                names_[track.number(1)] = (parent == names_.end() ? "" : parent->second + " / ") +
                                          std::string(track.text(2));
            }
            if (!fields.text(11).empty()) {
                read_event(fields);
            }
        }
    }

    void read_event(const Fields& packet) {
        if (packet.number(13) != UINT64_MAX && (packet.number(13) & 1) != 0) {
            event_names_.clear();
        }
        for (const auto& [field, entry] : fields_of(packet.text(12)).texts) {
            if (field == 2) {
                event_names_[fields_of(entry).number(1)] = fields_of(entry).text(2);
            }
        }
        const Fields event = fields_of(packet.text(11));
        std::string& line = lines_[names_.at(event.number(11))];
        line += fmt::format("{}{}{} ",
                            event.number(9) == 1   ? "+"
                            : event.number(9) == 2 ? "-"
                                                   : "!",
                            packet.number(8),
                            event.number(9) == 2 ? "" : " " + event_names_.at(event.number(10)));
        events_.push_back(event);
    }

    Scene people_;
    std::string bytes_;
    PerfettoWriter writer_;
    std::map<std::uint64_t, std::string> names_, event_names_;
    std::map<std::string, std::string> lines_;
    std::vector<Fields> events_;
};

TEST(Perfetto, tracks_of_equal_pids_on_two_hosts_are_two) {
    Written written(scene());
    written.add(call(10, 100, 5));
    written.add(call(20, 101, 5));
    const std::map<std::string, std::string> expected = {
        {"web1 / cat 7 / cat 7", "+100 read -105 "}, {"web2 / tee 7 / tee 7", "+101 read -106 "}};
    EXPECT_EQ(written.tracks(), expected);
}

TEST(Perfetto, slices_nest_whatever_overlaps_and_ends_come_before_what_begins_then) {
    Written written(scene());
    written.add(call(10, 100, 50));            // a call
    written.add(call(10, 100, 20));            // its part
    written.add(call(10, 110, 30));            // a part that goes beyond the first one
    written.add(call(10, 115, std::nullopt));  // a signal
    written.add(call(10, 120, 0));
    written.add(call(10, 150, 10));
    const std::map<std::string, std::string> expected = {
        {"web1 / cat 7 / cat 7",
         "+100 read +100 read !115 read -120 +120 read -120 -150 +150 read -160 "},
        {"web1 / cat 7 / cat 7 / cat 7, overlapping", "+110 read -140 "}};
    EXPECT_EQ(written.tracks(), expected);
}

TEST(Perfetto, a_call_that_did_not_return_has_no_end) {
    Written written(scene());
    Event waits = call(10, 100, std::nullopt);
    waits.is_unfinished = true;
    written.add(waits);
    EXPECT_EQ(written.tracks().at("web1 / cat 7 / cat 7"), "+100 read ");
}

TEST(Perfetto, more_calls_at_once_than_there_are_lanes_are_instants_and_counted) {
    Written written(scene());
    for (std::uint64_t i = 0; i < PerfettoWriter::kLanesMax + 3; ++i) {
        written.add(call(10, 100 + static_cast<std::int64_t>(i), 1000));
    }
    EXPECT_EQ(written.writer().crowded(), 3u);
    std::string all;
    for (const auto& [track, line] : written.tracks()) {
        all += line;
    }
    EXPECT_EQ(std::count(all.begin(), all.end(), '+'), PerfettoWriter::kLanesMax);
    EXPECT_EQ(std::count(all.begin(), all.end(), '-'), PerfettoWriter::kLanesMax);
    EXPECT_EQ(std::count(all.begin(), all.end(), '!'), 3);
}

TEST(Perfetto, values_and_flows_are_annotations_of_the_slice) {
    Written written(scene());
    const std::vector<OptionalText> values = {"/a/\\xff<b>", "-7", R"({"flags":"0"})"};
    const std::vector<Flow> from = {{77, 1, 1}}, to = {{78, 1, 1}, {79, 1, 1}};
    Event event = call(10, 100, 5);
    event.values = values;
    event.flows_from = from;
    event.flows_to = to;
    written.add(event);
    written.tracks();
    const Fields& slice = written.events().front();
    EXPECT_EQ(slice.texts.count(47), 2u);
    EXPECT_EQ(slice.text(48), std::string_view("\x4d\0\0\0\0\0\0\0", 8));
    std::vector<Fields> annotations;
    for (auto [at, end] = slice.texts.equal_range(4); at != end; ++at) {
        annotations.push_back(fields_of(at->second));
    }
    ASSERT_EQ(annotations.size(), 3u);
    EXPECT_EQ(annotations[0].number(17), 1u);  // the first text that was given a number
    EXPECT_EQ(static_cast<std::int64_t>(annotations[1].number(4)), -7);
    EXPECT_EQ(annotations[2].text(9), R"({"flags":"0"})");
    EXPECT_NE(written.bytes().find("/a/\\xff<b>"), std::string::npos);
}

TEST(Perfetto, names_are_said_once_and_said_anew_when_there_are_too_many) {
    Written written(scene());
    for (std::size_t i = 0; i <= PerfettoWriter::kNamesMax; ++i) {
        const std::string path = fmt::format("/file/{}", i);
        const std::vector<OptionalText> values = {path, "1", std::nullopt};
        Event event = call(10, static_cast<std::int64_t>(i), 1);
        event.values = values;
        written.add(event);
    }
    written.tracks();  // it reads every name by its number: a number without a name would throw
    std::size_t reads = 0;
    for (std::size_t at = 0; (at = written.bytes().find("read", at)) != std::string::npos; ++at) {
        ++reads;
    }
    EXPECT_EQ(reads, 2u);
}

TEST(Perfetto, a_gap_is_a_slice_below_its_host) {
    Written written(scene());
    EXPECT_TRUE(written.writer()
                    .add(LostEvents{.host_index = 1,
                                    .begin_ns = 5,
                                    .duration_ns = 3,
                                    .lost = 12,
                                    .reason = "ring_full"})
                    .ok());
    EXPECT_EQ(written.tracks().at("web2 / lost events"), "+5 12 events lost -8 ");
}

// As a damaged trace may say: found by tools/fuzz_trace.
TEST(Perfetto, what_lasts_longer_than_time_never_ends) {
    constexpr std::uint64_t kTooLong = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(end_of(5, kTooLong - 5), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(end_of(-5, 3), -2);
    Written written(scene());
    written.add(call(10, 5, kTooLong));
    EXPECT_TRUE(
        written.writer()
            .add(LostEvents{
                .host_index = 1, .begin_ns = 5, .duration_ns = kTooLong, .reason = "ring_full"})
            .ok());
    EXPECT_EQ(written.tracks().at("web2 / lost events"), "+5 events lost ");
}

TEST(Perfetto, the_sink_s_failure_ends_it) {
    const Scene people = scene();
    PerfettoWriter writer(people, kNames, [](std::string_view) -> Result<void> {
        return Error(ErrorCode::kLimitReached, "full");
    });
    EXPECT_TRUE(writer.begin({}).ok());
    EXPECT_FALSE(writer.end().ok());
}

}  // namespace
}  // namespace dyetrace::exporter
