#include "exporter/otlp.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/json_string.h"

namespace dyetrace::exporter {
namespace {

constexpr int kKindInternal = 1, kKindProducer = 4, kKindConsumer = 5;
constexpr int kStatusError = 2;
constexpr std::uint64_t kProcessSpan =
    0x70726f63657373;  // "process": no event has this id's spread

constexpr std::pair<std::string_view, std::string_view> kConventions[] = {
    {"path", "file.path"},
    {"local_address", "network.local.address"},
    {"local_port", "network.local.port"},
    {"remote_address", "network.peer.address"},
    {"remote_port", "network.peer.port"},
    {"error", "error.type"},
};

// FNV-1a: of a few texts, for ids.
std::uint64_t number_of_text(std::string_view text) {
    std::uint64_t number = 0xcbf29ce484222325u;
    for (const char c : text) {
        number = (number ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
    return number;
}

std::uint64_t not_zero(std::uint64_t id) {
    return id == 0 ? 1 : id;
}

void append_key(std::string& out, std::string_view key) {
    out.append(out.ends_with('[') ? R"({"key":)" : R"(,{"key":)");
    base::append_json_string(out, key);
    out.append(R"(,"value":)");
}

void append_text(std::string& out, std::string_view key, std::string_view text) {
    if (text.empty()) {
        return;
    }
    append_key(out, key);
    out.append(R"({"stringValue":)");
    base::append_json_string(out, text);
    out.append("}}");
}

void append_number(std::string& out, std::string_view key, std::int64_t number) {
    append_key(out, key);
    fmt::format_to(std::back_inserter(out), R"({{"intValue":"{}"}}}})", number);
}

void append_value(std::string& out, ValueKind kind, std::string_view text) {
    switch (kind) {
        case ValueKind::kNumber:
            out.append(R"({"intValue":")").append(text).append(R"("}})");
            return;
        case ValueKind::kBool:
            out.append(R"({"boolValue":)").append(text).append("}}");
            return;
        case ValueKind::kId:
            out.append(R"({"stringValue":")").append(text).append(R"("}})");
            return;
        case ValueKind::kText:
        case ValueKind::kName:
        case ValueKind::kJson:
            break;
    }
    out.append(R"({"stringValue":)");
    base::append_json_string(out, text);
    out.append("}}");
}

// Bytes that go to another process, or come from one.
int kind_of(const Event& event) {
    const auto elsewhere = [&](const Flow& flow) { return flow.process != event.process_id; };
    return std::any_of(event.flows_from.begin(), event.flows_from.end(), elsewhere) ? kKindConsumer
           : std::any_of(event.flows_to.begin(), event.flows_to.end(), elsewhere)   ? kKindProducer
                                                                                    : kKindInternal;
}

}  // namespace

std::string otlp_name(std::string_view name) {
    const auto* const convention =
        std::find_if(std::begin(kConventions), std::end(kConventions), [&](const auto& known) {
            return known.first == name;
        });
    return convention != std::end(kConventions) ? std::string(convention->second)
                                                : fmt::format("dyetrace.{}", name);
}

OtlpWriter::OtlpWriter(const Scene& scene, const std::vector<ValueName>& names, Sink sink)
    : scene_(scene), sink_(std::move(sink)) {
    for (const ValueName& name : names) {
        Key key{"[", name.kind};
        append_key(key.text, otlp_name(name.name));
        key.text.erase(0, 1);
        keys_.push_back(std::move(key));
    }
}

std::uint64_t OtlpWriter::seed_of(std::uint64_t process_id) const {
    const auto process = scene_.processes.find(process_id);
    const Host* const host =
        process != scene_.processes.end() ? scene_.host_of(process->second.host_index) : nullptr;
    return host != nullptr ? number_of_text(host->boot_id) : 0;
}

std::uint64_t OtlpWriter::span_of_event(std::uint64_t process_id, std::uint64_t event) const {
    return not_zero(spread(seed_of(process_id) ^ spread(event + 1)));
}

std::uint64_t OtlpWriter::span_of_process(std::uint64_t process_id) const {
    return not_zero(spread(seed_of(process_id) ^ spread(process_id + 1) ^ kProcessSpan));
}

void OtlpWriter::append_ids(std::uint64_t process_id, std::uint64_t span) {
    const std::uint64_t seed = seed_of(process_id);
    fmt::format_to(std::back_inserter(out_),
                   R"("traceId":"{:016x}{:016x}","spanId":"{:016x}")",
                   not_zero(seed),
                   spread(seed ^ (process_id + 1)),
                   span);
}

void OtlpWriter::begin_line(std::uint64_t process_id) {
    out_.append(R"({"resourceSpans":[{"resource":{"attributes":[)");
    if (const auto known = scene_.processes.find(process_id); known != scene_.processes.end()) {
        const Process& process = known->second;
        append_text(out_, "service.name", process.comm);
        if (const Host* const host = scene_.host_of(process.host_index); host != nullptr) {
            append_text(out_, "host.name", host->name);
            append_text(out_, "os.type", "linux");
            append_text(out_, "os.version", host->kernel);
            append_text(out_, "dyetrace.boot_id", host->boot_id);
        }
        append_number(out_, "process.pid", process.pid);
        append_number(out_, "process.parent_pid", process.ppid);
        append_text(out_, "process.executable.name", process.comm);
        append_text(out_, "process.executable.path", process.exe);
        append_text(out_, "container.id", process.container);
    }
    append_text(out_, "dyetrace.process_id", fmt::format("{}", process_id));
    out_.append(R"(]},"scopeSpans":[{"scope":{"name":"dyetrace"},"spans":[)");
}

void OtlpWriter::end_line() {
    out_.append("]}]}]}\n");
    spans_ = 0;
}

void OtlpWriter::append_links(const Event& event) {
    if (event.flows_from.empty()) {
        return;
    }
    out_.append(R"(,"links":[)");
    for (const Flow& flow : event.flows_from) {
        out_.append(out_.ends_with('[') ? "{" : ",{");
        append_ids(flow.process, span_of_event(flow.process, flow.event));
        out_.push_back('}');
    }
    out_.push_back(']');
}

void OtlpWriter::append_span(const Event& event) {
    const std::int64_t end = end_of(event.begin_ns, event.duration_ns.value_or(0));
    first_ns_ = std::min(first_ns_, event.begin_ns);
    last_ns_ = std::max(last_ns_, end);
    out_.append(out_.ends_with('[') ? "{" : ",{");
    append_ids(event.process_id, span_of_event(event.process_id, event.id));
    fmt::format_to(std::back_inserter(out_),
                   R"(,"parentSpanId":"{:016x}","name":)",
                   event.parent_id != 0 ? span_of_event(event.process_id, event.parent_id)
                                        : span_of_process(event.process_id));
    base::append_json_string(out_, event.name);
    fmt::format_to(std::back_inserter(out_),
                   R"(,"kind":{},"startTimeUnixNano":"{}","endTimeUnixNano":"{}","attributes":[)",
                   kind_of(event),
                   event.begin_ns,
                   end);
    append_text(out_, "dyetrace.class", event.event_class);
    if (const auto thread = scene_.threads.find(event.thread_id); thread != scene_.threads.end()) {
        append_number(out_, "thread.id", thread->second.tid);
        append_text(out_, "thread.name", thread->second.comm);
    }
    if (event.is_unfinished) {
        append_text(out_, "dyetrace.state", "unfinished");
    }
    for (std::size_t i = 0; i < event.values.size() && i < keys_.size(); ++i) {
        if (event.values[i]) {
            out_.append(out_.ends_with('[') ? "" : ",").append(keys_[i].text);
            append_value(out_, keys_[i].kind, *event.values[i]);
        }
    }
    out_.push_back(']');
    append_links(event);
    if (!event.error.empty()) {
        fmt::format_to(
            std::back_inserter(out_), R"(,"status":{{"code":{},"message":)", kStatusError);
        base::append_json_string(out_, event.error);
        out_.push_back('}');
    }
    out_.push_back('}');
}

void OtlpWriter::append_process_span() {
    const auto process = scene_.processes.find(*process_);
    const std::string name = process != scene_.processes.end()
                                 ? fmt::format("{} {}", process->second.comm, process->second.pid)
                                 : fmt::format("process {}", *process_);
    out_.append(out_.ends_with('[') ? "{" : ",{");
    append_ids(*process_, span_of_process(*process_));
    out_.append(R"(,"name":)");
    base::append_json_string(out_, name);
    fmt::format_to(std::back_inserter(out_),
                   R"(,"kind":{},"startTimeUnixNano":"{}","endTimeUnixNano":"{}"}})",
                   kKindInternal,
                   first_ns_,
                   last_ns_);
}

Result<void> OtlpWriter::end_process() {
    if (!process_) {
        return {};
    }
    if (spans_ == 0) {
        begin_line(*process_);
    }
    append_process_span();
    end_line();
    process_.reset();
    return flush(kSinkBytes);
}

Result<void> OtlpWriter::flush(std::size_t at_least) {
    if (out_.size() < at_least || out_.empty()) {
        return {};
    }
    Result<void> written = sink_(out_);
    out_.clear();
    return written;
}

Result<void> OtlpWriter::add(const Event& event) {
    if (process_ != event.process_id) {
        TRY(end_process());
        process_ = event.process_id;
        first_ns_ = event.begin_ns;
        last_ns_ = event.begin_ns;
    }
    if (spans_ == 0) {
        begin_line(event.process_id);
    }
    append_span(event);
    if (++spans_ < kSpansMax) {
        return {};
    }
    end_line();
    return flush(kSinkBytes);
}

Result<void> OtlpWriter::end() {
    TRY(end_process());
    return flush(0);
}

}  // namespace dyetrace::exporter
