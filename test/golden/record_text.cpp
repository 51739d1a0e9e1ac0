#include "record_text.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <regex>
#include <span>
#include <sstream>
#include <utility>

#include "content/fingerprint.h"
#include "schema/generated/enum_names.h"
#include "schema/record_info.h"
#include "schema/shared/found.h"
#include "schema/syscalls.h"
#include "schema/text.h"
#include "trace/segment_writer.h"
#include "trace/trace_folder.h"

namespace dyetrace::query {
namespace {

using schema::ColumnInfo;
using schema::ColumnSource;

constexpr std::uint16_t kCpus = 4;  // of each host

// Columns whose values have names.
const std::map<std::string_view, std::span<const std::string_view>> kEnums = {
    {"object_type", schema::object_type_names()},
    {"event_class", schema::class_names()},
    {"form", schema::dye_form_names()},
    {"congestion_state", schema::congestion_state_names()},
    {"role", schema::event_role_names()},
};

std::uint64_t number_of(std::string_view column, const std::string& value) {
    if (const auto names = kEnums.find(column); names != kEnums.end()) {
        const auto found = std::ranges::find(names->second, value);
        if (found != names->second.end()) {
            return static_cast<std::uint64_t>(found - names->second.begin());
        }
    }
    const bool is_negative = value.starts_with('-');
    const char* const end = value.data() + value.size();
    std::uint64_t number = 0;
    const auto read = std::from_chars(value.data() + (is_negative ? 1 : 0), end, number);
    EXPECT_TRUE(read.ec == std::errc() && read.ptr == end) << column << "=" << value;
    return is_negative ? ~number + 1 : number;
}

void put(std::string& bytes, std::size_t at, const void* value, std::size_t size) {
    bytes.resize(std::max(bytes.size(), at + size), '\0');
    std::memcpy(bytes.data() + at, value, size);
}

class RecordText {
  public:
    RecordText(const schema::RecordInfo& info, std::uint64_t sequence)
        : info_(info), fields_(info.size, '\0') {
        const auto type = static_cast<std::uint16_t>(info.id);
        put(fields_, offsetof(schema::RecordHeader, type), &type, sizeof(type));
        put(fields_, offsetof(schema::RecordHeader, sequence), &sequence, sizeof(sequence));
    }

    bool has(std::string_view column) const { return column_called(column) != nullptr; }

    void set(std::string_view name, const std::string& value) {
        const ColumnInfo* const column = column_called(name);
        if (column == nullptr) {
            ADD_FAILURE() << info_.name << " has no column " << name;
            return;
        }
        fill(*column, value);
        if (column->present_bit >= 0) {
            std::uint32_t present = 0;
            std::memcpy(&present, fields_.data() + info_.present_offset, sizeof(present));
            present |= 1u << column->present_bit;
            put(fields_, info_.present_offset, &present, sizeof(present));
        }
    }

    // The whole record, 8-aligned.
    std::vector<std::uint64_t> words() const {
        std::string bytes = fields_;
        for (const auto& [kind, content] : attachments_) {
            const schema::AttachmentHeader header{
                kind, static_cast<std::uint16_t>(content.size()), 0};
            put(bytes, bytes.size(), &header, sizeof(header));
            bytes += content;
            bytes.resize((bytes.size() + 7) / 8 * 8, '\0');
        }
        const auto size = static_cast<std::uint32_t>(bytes.size());
        put(bytes, offsetof(schema::RecordHeader, size), &size, sizeof(size));
        if (info_.attachments_offset != 0) {
            const auto attached = static_cast<std::uint16_t>(size - info_.size);
            put(bytes, info_.attachments_offset, &attached, sizeof(attached));
        }
        std::vector<std::uint64_t> words(bytes.size() / 8);
        std::memcpy(words.data(), bytes.data(), bytes.size());
        return words;
    }

  private:
    const ColumnInfo* column_called(std::string_view name) const {
        const auto found = std::ranges::find(info_.columns, name, &ColumnInfo::name);
        return found == info_.columns.end() ? nullptr : &*found;
    }

    void fill(const ColumnInfo& column, const std::string& value) {
        std::string& attached = attachments_[column.attachment];
        switch (column.source) {
            case ColumnSource::kField:
                put_number(fields_, column, value);
                break;
            case ColumnSource::kText:
                EXPECT_LT(value.size(), column.size) << column.name;
                put(fields_, column.offset, value.data(), value.size());
                break;
            case ColumnSource::kIp:
                put_address(column, value);
                break;
            case ColumnSource::kCpu:
                break;  // The block says it.
            case ColumnSource::kBit:
                EXPECT_EQ(value, "1") << column.name;
                break;
            case ColumnSource::kAttachment:
                attached = schema::unescaped(value).value_or(value);
                break;
            case ColumnSource::kAttachmentField:
                static_assert(offsetof(content_found, sum) == sizeof(dyes_found));
                attached.resize(std::max(attached.size(), sizeof(dyes_found)), '\0');
                put_number(attached, column, value);
                break;
            case ColumnSource::kAttachedNumbers:
                put_list(attached, column, value);
                break;
            default:
                ADD_FAILURE() << column.name << " cannot be filled in";
        }
        std::erase_if(attachments_, [](const auto& each) { return each.second.empty(); });
    }

    static void put_number(std::string& bytes, const ColumnInfo& column, const std::string& value) {
        const std::uint64_t number = number_of(column.name, value);
        put(bytes, column.offset, &number, column.size);
    }

    static void put_list(std::string& bytes, const ColumnInfo& column, const std::string& value) {
        std::istringstream numbers(value);
        for (std::string each; std::getline(numbers, each, ',');) {
            const std::uint64_t number = number_of(column.name, each);
            put(bytes, bytes.size(), &number, column.size);
        }
    }

    void put_address(const ColumnInfo& column, const std::string& value) {
        std::array<std::uint8_t, 16> address{};
        const int family = value.find(':') == std::string::npos ? AF_INET : AF_INET6;
        EXPECT_EQ(inet_pton(family, value.c_str(), address.data()), 1) << value;
        put(fields_, column.offset, address.data(), address.size());
    }

    const schema::RecordInfo& info_;
    std::string fields_;
    std::map<std::uint16_t, std::string> attachments_;  // by kind
};

using Values = std::vector<std::pair<std::string, std::string>>;  // in the order of the line

struct Line {
    std::string word;
    Values values;
};

Line line_of(const std::string& text) {
    static const std::regex kLine(R"((\w+)((?: +\w+=(?:"[^"]*"|\S+))*) *)");
    static const std::regex kHost(R"(host +(\w+)(.*))");
    static const std::regex kValue(R"re((\w+)=(?:"([^"]*)"|(\S+)))re");
    std::smatch host, parts;
    const bool is_host = std::regex_match(text, host, kHost);
    const std::string rest = is_host ? "host name=" + host.str(1) + host.str(2) : text;
    if (!std::regex_match(rest, parts, kLine)) {
        ADD_FAILURE() << "not understood: " << text;
        return {};
    }
    Line line{.word = parts[1], .values = {}};
    const std::string values = parts[2];
    for (std::sregex_iterator at(values.begin(), values.end(), kValue), end; at != end; ++at) {
        line.values.emplace_back(at->str(1), (*at)[2].matched ? at->str(2) : at->str(3));
    }
    return line;
}

// The records of one host.
class HostText {
  public:
    HostText(const trace::TraceFolder& whole, std::uint16_t index, const Values& values) {
        trace::Host host{.index = index,
                         .name = "",
                         .boot_id = "b" + std::to_string(index),
                         .kernel = "6.1.0",
                         .machine = "x86_64",
                         .cpus = kCpus};
        for (const auto& [name, value] : values) {
            if (name == "name") {
                host.name = value;
            } else if (name == "boot_id") {
                host.boot_id = value;
            } else if (name == "machine") {
                host.machine = value;
                abi_ = value == "aarch64" ? schema::Abi::kArm64 : schema::Abi::kX8664;
            } else {
                EXPECT_EQ(name, "wall_offset_ns");
                host.wall_offset_ns = static_cast<std::int64_t>(number_of(name, value));
            }
        }
        trace::TraceInfo info;
        info.program = "test";
        info.hosts = {host};
        folder_ = std::make_unique<trace::TraceFolder>(
            trace::TraceFolder::create(whole.part_path(index), info).value());
        writer_ = std::make_unique<trace::SegmentWriter>(
            trace::SegmentWriter::create(*folder_, index, {}).value());
    }

    void add(const Line& line) {
        const auto calls = schema::syscalls_of(abi_);
        const auto call = std::ranges::find(calls, line.word, &schema::SyscallInfo::name);
        const schema::RecordInfo* info = record_called(line.word);
        const bool is_call = info == nullptr && call != calls.end();  // `socket` is a record
        info = is_call ? record_called("syscall_event") : info;
        if (info == nullptr) {
            ADD_FAILURE() << "neither a record nor a call: " << line.word;
            return;
        }
        const std::uint16_t cpu = cpu_of(line);
        const bool is_event = info->stream == schema::Stream::kEvents;
        RecordText record(*info, (is_event ? events_ : facts_)[cpu]);
        if (is_call) {
            record.set("syscall", std::to_string(call->number));
            record.set("abi", std::to_string(static_cast<unsigned>(abi_)));
        }
        if (record.has("parent_sequence")) {
            record.set("parent_sequence", std::to_string(parent_[cpu]));
        } else if (is_event) {
            parent_[cpu] = events_[cpu];
        }
        fill(record, line);
        ++(is_event ? events_ : facts_)[cpu];
        const std::vector<std::uint64_t> words = record.words();
        writer_->append(cpu, info->stream, std::as_bytes(std::span(words))).value();
    }

    void finish() {
        writer_->close().value();
        folder_->finish().value();
    }

  private:
    schema::Abi abi_ = schema::Abi::kX8664;

    static const schema::RecordInfo* record_called(std::string_view name) {
        const auto records = schema::records();
        const auto found = std::ranges::find(records, name, &schema::RecordInfo::name);
        return found == records.end() ? nullptr : &*found;
    }

    static std::uint16_t cpu_of(const Line& line) {
        const auto found = std::ranges::find(line.values, "cpu", &Values::value_type::first);
        const std::uint64_t cpu = found == line.values.end() ? 0 : number_of("cpu", found->second);
        EXPECT_LT(cpu, kCpus);
        return static_cast<std::uint16_t>(std::min<std::uint64_t>(cpu, kCpus - 1));
    }

    static void fill(RecordText& record, const Line& line) {
        for (const auto& [name, value] : line.values) {
            if (name == "moves") {
                record.set("bytes", std::to_string(value.size()));
                record.set("result", std::to_string(value.size()));
                const auto bytes = std::as_bytes(std::span(value));
                record.set("fingerprint", std::to_string(content::fingerprint(bytes)));
            } else {
                record.set(name, value);
            }
        }
    }

    std::unique_ptr<trace::TraceFolder> folder_;
    std::unique_ptr<trace::SegmentWriter> writer_;
    // The next sequence of each CPU, and that of its event that is no part of another one.
    std::array<std::uint64_t, kCpus> events_{}, facts_{}, parent_{};
};

}  // namespace

void write_recorded_trace(const std::string& path, const std::vector<std::string>& lines) {
    trace::TraceInfo info;
    info.program = "test";
    info.has_parts = true;
    auto whole = trace::TraceFolder::create(path, info).value();
    std::vector<std::unique_ptr<HostText>> hosts;
    for (const std::string& text : lines) {
        const Line line = line_of(text);
        if (line.word == "host") {
            const auto index = static_cast<std::uint16_t>(hosts.size());
            hosts.push_back(std::make_unique<HostText>(whole, index, line.values));
        } else if (hosts.empty()) {
            ADD_FAILURE() << "first a host, then records";
        } else {
            hosts.back()->add(line);
        }
    }
    for (const auto& host : hosts) {
        host->finish();
    }
    whole.finish().value();
}

}  // namespace dyetrace::query
