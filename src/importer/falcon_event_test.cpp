#include "importer/falcon_event.h"

#include <gtest/gtest.h>

#include <vector>

#include "importer/falcon_clock.h"
#include "importer/json_objects.h"

namespace dyetrace::importer {
namespace {

std::string error_of(const char* json) {
    const auto event = parse_falcon_event(json);
    return event.ok() ? "none" : event.error().message();
}

TEST(FalconEvent, reads_a_message_of_falcon) {
    const FalconEvent event =
        parse_falcon_event(
            R"({"timestamp":"1525880628677","type":"SND","thread":"5682@web1","socket":"a","socket_type":"UDP","src":"10.0.0.2",
        "src_port":54392,"dst":"10.0.0.1","dst_port":53,"size":50,"message":"17","data":{"host":"web1"}})")
            .value();
    EXPECT_EQ(event.type, FalconType::kSend);
    EXPECT_EQ(event.timestamp, 1525880628677u);
    EXPECT_EQ(event.host, "web1");
    EXPECT_EQ(event.source, (FalconEnd{"10.0.0.2", 54392}));
    EXPECT_TRUE(event.is_udp);
    EXPECT_EQ(event.bytes(), 50u);
    EXPECT_EQ(unit_of(event), TimeUnit::kMilliseconds);
}

TEST(FalconEvent, reads_a_file_access_of_cat) {
    const FalconEvent event =
        parse_falcon_event(
            R"({"timestamp":1323112987251038,"type":21,"thread":"71@h","pid":71,"data":{"host":"h","comm":"dd","signature":[81806443243320592]},
        "filename":"/tmp/x","fd":3,"offset":4096,"size":8192,"returned_value":100})")
            .value();
    EXPECT_EQ(event.type, FalconType::kFileWrite);
    EXPECT_EQ(event.comm, "dd");
    EXPECT_EQ(event.offset, 4096);
    EXPECT_EQ(event.bytes(), 100u);
    EXPECT_EQ(unit_of(event), TimeUnit::kNanoseconds);
}

TEST(FalconEvent, tells_13_apart_by_its_socket) {
    EXPECT_EQ(parse_falcon_event(R"({"type":13,"thread":"1@h","timestamp":1,"pid":1,"fd":3})")
                  .value()
                  .type,
              FalconType::kFileSync);
    EXPECT_EQ(
        parse_falcon_event(
            R"({"type":13,"thread":"1@h","timestamp":1,"socket":"s","src":"::1","dst":"::1"})")
            .value()
            .type,
        FalconType::kShutdown);
}

TEST(FalconEvent, says_what_is_wrong_with_an_object) {
    EXPECT_EQ(error_of("{"), "no JSON object");
    EXPECT_EQ(error_of("[]"), "no JSON object");
    EXPECT_EQ(error_of("{}"), "an event without 'type'");
    EXPECT_EQ(error_of(R"({"type":99})"), "an event of a type that is neither Falcon's nor CaT's");
    EXPECT_EQ(error_of(R"({"type":{}})"), "an event of a type that is neither Falcon's nor CaT's");
    EXPECT_EQ(error_of(R"({"type":"END"})"), "an event without 'thread'");
    EXPECT_EQ(error_of(R"({"type":"END","thread":[1]})"), "an event whose 'thread' is no text");
    EXPECT_EQ(error_of(R"({"type":"END","thread":"1@h"})"), "an event without 'timestamp'");
    EXPECT_EQ(error_of(R"({"type":"END","thread":"1@h","timestamp":-1})"),
              "an event whose 'timestamp' is no number or too large");
    EXPECT_EQ(error_of(R"({"type":"JOIN","thread":"1@h","timestamp":1})"),
              "an event without 'child'");
    EXPECT_EQ(error_of(R"({"type":"LOCK","thread":"1@h","timestamp":1})"),
              "an event without 'variable'");
    EXPECT_EQ(error_of(R"({"type":"SND","thread":"1@h","timestamp":1,"src":"a","dst":"b"})"),
              "an event without 'size'");
    EXPECT_EQ(
        error_of(
            R"({"type":"SND","thread":"1@h","timestamp":1,"src":"a","dst":"b","size":1,"src_port":70000})"),
        "an event whose 'src_port' is no number or too large");
}

TEST(FalconClock, has_a_day_of_room_before_the_first_event) {
    const HostClock clock = clock_from(1'525'880'628'677'000'000);
    EXPECT_TRUE(clock.has_wall_clock);
    EXPECT_EQ(time_on(clock, 1525880628677, TimeUnit::kMilliseconds).value() +
                  static_cast<std::uint64_t>(clock.wall_offset_ns),
              1'525'880'628'677'000'000u);
    EXPECT_FALSE(time_on(clock, 1, TimeUnit::kMilliseconds));
    EXPECT_FALSE(time_on({}, UINT64_MAX, TimeUnit::kSeconds));
}

// "text@line" of each object, or its damage.
std::vector<std::string> objects_in(const std::string& text) {
    TextInput input = TextInput::of_text(text);
    JsonObjects objects(input);
    std::vector<std::string> found;
    for (;;) {
        const auto next = objects.next().value();
        if (!next) {
            return found;
        }
        found.push_back((next->text.empty() ? std::string(next->damage) : std::string(next->text)) +
                        "@" + std::to_string(next->line));
    }
}

using Found = std::vector<std::string>;

TEST(JsonObjects, finds_objects_in_any_layout) {
    EXPECT_EQ(objects_in("{\"a\":1}\n{\"b\":\"}\"}\n"), (Found{"{\"a\":1}@1", "{\"b\":\"}\"}@2"}));
    EXPECT_EQ(objects_in("[{\"a\":{}},{\"b\":2}]"), (Found{"{\"a\":{}}@1", "{\"b\":2}@1"}));
    EXPECT_EQ(objects_in("[\n {\n  \"a\": 1\n },\n {\n  \"b\": 2\n }\n]\n"),
              (Found{"{\n  \"a\": 1\n }@2", "{\n  \"b\": 2\n }@5"}));
    EXPECT_EQ(objects_in("\xef\xbb\xbf{\"a\":1}"), (Found{"{\"a\":1}@1"}));
    EXPECT_TRUE(objects_in("").empty());
    EXPECT_TRUE(objects_in("[ , ]\n\n").empty());
}

TEST(JsonObjects, loses_no_more_than_what_is_damaged) {
    EXPECT_EQ(objects_in("{\"a\":1}\n{\"b\":\"tru\n{\"c\":3}\n"),
              (Found{"{\"a\":1}@1", "a JSON object that is not closed@2", "{\"c\":3}@3"}));
    EXPECT_EQ(objects_in("{\"b\":\"tru\n{\"c\":3}\n"),
              (Found{"a JSON object that is not closed@1", "{\"c\":3}@2"}));
    EXPECT_EQ(objects_in("{\"a\":1}\nrubbish\n{\"c\":3}"),
              (Found{"{\"a\":1}@1", "no JSON object@2", "{\"c\":3}@3"}));
    EXPECT_EQ(objects_in("{\"a\":1}\n{\"c\":3"),
              (Found{"{\"a\":1}@1", "a JSON object that is not closed@2"}));
    const std::string large(3u << 20, 'x');
    EXPECT_EQ(objects_in("{\"a\":1}\n{\"b\":\"" + large + "\"}\n{\"c\":3}\n"),
              (Found{"{\"a\":1}@1", "longer than 2 MiB@2", "{\"c\":3}@3"}));
}

TEST(JsonObjects, ends_wherever_the_log_is_cut) {
    const std::string text = "[{\"a\":\"\\\"\"},\n{\"b\":[{}]}\n, {\"c\":3}]";
    for (std::size_t size = 0; size <= text.size(); ++size) {
        (void)objects_in(text.substr(0, size));
        (void)objects_in(text.substr(size));
    }
}

}  // namespace
}  // namespace dyetrace::importer
