#include "exporter/otlp.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace dyetrace::exporter {
namespace {

using base::Json;

const std::vector<ValueName> kSpanNames = {{"path", ValueKind::kName},
                                           {"bytes", ValueKind::kNumber},
                                           {"error", ValueKind::kName},
                                           {"event_id", ValueKind::kId}};

Scene spans_scene() {
    Scene scene;
    scene.hosts = {{0, "web1", "boot", "6.1"}};
    scene.processes[10] = {
        .host_index = 0, .pid = 7, .ppid = 1, .comm = "cat", .exe = "/bin/cat", .container = ""};
    scene.processes[20] = {
        .host_index = 0, .pid = 8, .ppid = 1, .comm = "t\"ee", .exe = "/bin/tee", .container = ""};
    scene.threads[10] = {10, 7, "cat"};
    return scene;
}

struct Lines {
    std::vector<Json> requests;

    std::vector<Json> spans_of(std::size_t line) const {
        const Json& resource = requests[line].items_at("resourceSpans").front();
        return resource.items_at("scopeSpans").front().items_at("spans");
    }
};

Lines write(const std::vector<Event>& events) {
    const Scene people = spans_scene();
    std::string out;
    OtlpWriter writer(people, kSpanNames, [&](std::string_view bytes) {
        out += bytes;
        return Result<void>();
    });
    for (const Event& event : events) {
        EXPECT_TRUE(writer.add(event).ok());
    }
    EXPECT_TRUE(writer.end().ok());
    Lines lines;
    while (!out.empty()) {
        const std::size_t end = out.find('\n');
        auto request = Json::parse(out.substr(0, end));
        EXPECT_TRUE(request.ok()) << out.substr(0, end);
        lines.requests.push_back(request.ok() ? std::move(request).value() : Json());
        out.erase(0, end + 1);
    }
    return lines;
}

std::string text_at(const Json& json, std::string_view name) {
    return json.get<std::string>(name).value_or("(none)");
}

Event event(std::uint64_t id, std::uint64_t process) {
    return {.id = id,
            .process_id = process,
            .thread_id = process,
            .begin_ns = 1'000 + static_cast<std::int64_t>(id),
            .duration_ns = 50,
            .event_class = "file",
            .name = "read"};
}

TEST(Otlp, each_process_is_a_trace_with_a_span_around_its_events) {
    const Lines lines = write({event(1, 10), event(2, 10), event(3, 20)});
    ASSERT_EQ(lines.requests.size(), 2u);
    const std::vector<Json> cat = lines.spans_of(0);
    ASSERT_EQ(cat.size(), 3u);
    EXPECT_EQ(text_at(cat[2], "name"), "cat 7");
    EXPECT_EQ(text_at(cat[2], "startTimeUnixNano"), "1001");
    EXPECT_EQ(text_at(cat[2], "endTimeUnixNano"), "1052");
    EXPECT_EQ(text_at(cat[0], "parentSpanId"), text_at(cat[2], "spanId"));
    EXPECT_EQ(text_at(cat[0], "traceId"), text_at(cat[2], "traceId"));
    EXPECT_NE(text_at(cat[0], "spanId"), text_at(cat[1], "spanId"));
    EXPECT_NE(text_at(cat[0], "traceId"), text_at(lines.spans_of(1)[0], "traceId"));
    EXPECT_EQ(text_at(lines.spans_of(1)[1], "name"), "t\"ee 8");
    EXPECT_EQ(text_at(cat[0], "traceId").size(), 32u);
}

TEST(Otlp, values_have_the_names_of_the_conventions_and_errors_are_a_status) {
    Event failed = event(1, 10);
    const std::vector<OptionalText> values = {
        "/a\"<b>", std::nullopt, "ENOENT", "18446744073709551615"};
    failed.values = values;
    failed.error = "ENOENT";
    const Json span = write({failed}).spans_of(0)[0];
    std::string attributes;
    for (const Json& attribute : span.items_at("attributes")) {
        attributes += text_at(attribute, "key") + "=" + attribute.find("value")->text() + "\n";
    }
    EXPECT_EQ(attributes,
              "dyetrace.class={\"stringValue\":\"file\"}\n"
              "thread.id={\"intValue\":\"7\"}\n"
              "thread.name={\"stringValue\":\"cat\"}\n"
              "file.path={\"stringValue\":\"/a\\\"<b>\"}\n"
              "error.type={\"stringValue\":\"ENOENT\"}\n"
              "dyetrace.event_id={\"stringValue\":\"18446744073709551615\"}\n");
    EXPECT_EQ(span.find("status")->text(), R"({"code":2,"message":"ENOENT"})");
}

TEST(Otlp, a_link_leads_to_the_span_that_had_the_bytes_before) {
    Event takes = event(2, 20);
    const std::vector<Flow> from = {{99, 1, 10}};
    takes.flows_from = from;
    const Lines lines = write({event(1, 10), takes});
    const Json link = lines.spans_of(1)[0].find("links")->items().front();
    EXPECT_EQ(text_at(link, "spanId"), text_at(lines.spans_of(0)[0], "spanId"));
    EXPECT_EQ(text_at(link, "traceId"), text_at(lines.spans_of(0)[0], "traceId"));
    EXPECT_EQ(lines.spans_of(1)[0].get<std::uint64_t>("kind").value_or(0), 5u);
}

TEST(Otlp, a_part_is_below_its_call_and_a_line_has_so_many_spans) {
    std::vector<Event> events;
    for (std::uint64_t i = 1; i <= OtlpWriter::kSpansMax + 1; ++i) {
        events.push_back(event(i, 10));
    }
    events[1].parent_id = 1;
    const Lines lines = write(events);
    ASSERT_EQ(lines.requests.size(), 2u);
    EXPECT_EQ(lines.spans_of(0).size(), OtlpWriter::kSpansMax);
    EXPECT_EQ(lines.spans_of(1).size(), 2u);
    EXPECT_EQ(text_at(lines.spans_of(0)[1], "parentSpanId"),
              text_at(lines.spans_of(0)[0], "spanId"));
}

TEST(Otlp, no_events_are_no_lines) {
    EXPECT_TRUE(write({}).requests.empty());
}

}  // namespace
}  // namespace dyetrace::exporter
