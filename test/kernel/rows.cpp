#include "kernel/rows.h"

#include <fmt/format.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <regex>

#include "filter/event_values.h"
#include "schema/syscalls.h"

namespace dyetrace::test {
namespace {

using filter::EventValues;
using filter::Integer;
using filter::TextBuffers;
using filter::Type;
using schema::EventColumn;
using schema::SyscallInfo;

const SyscallInfo* info_of(const Event& event) {
    return schema::find_syscall(static_cast<schema::Abi>(event.raw().abi), event.raw().syscall);
}

bool has_argument(const SyscallInfo& call, std::initializer_list<std::string_view> types) {
    const auto* end = call.arguments.begin() + call.argument_count;
    return std::any_of(call.arguments.begin(), end, [&](const schema::ArgumentInfo& argument) {
        return std::find(types.begin(), types.end(), argument.type) != types.end();
    });
}

// The columns of one event.
class Columns {
  public:
    explicit Columns(const Event& event) : values_(buffers_, "") {
        EXPECT_TRUE(values_.set(event.record(), event.cpu(), event.dictionary()));
    }
    std::optional<Integer> number(EventColumn column) const {
        const filter::Value value = values_.of(column);
        return value.type == Type::kInteger || value.type == Type::kBoolean
                   ? std::optional(value.integer)
                   : std::nullopt;
    }
    std::optional<std::string> text(EventColumn column) const {
        const filter::Value value = values_.of(column);
        return value.type == Type::kText ? std::optional(std::string(value.text)) : std::nullopt;
    }
    bool has(EventColumn column) const { return values_.of(column).type != Type::kNull; }

  private:
    TextBuffers buffers_;
    EventValues values_;
};

// Numbers things in the order in which they are first seen.
class Numbering {
  public:
    std::size_t of(Integer thing) {
        return numbers_.emplace(thing, numbers_.size() + 1).first->second;
    }
    bool knows(Integer thing) const { return numbers_.contains(thing); }

  private:
    std::map<Integer, std::size_t> numbers_;
};

class RowWriter {
  public:
    RowWriter(std::string folder, std::string file_system)
        : folder_(std::move(folder)), file_system_(std::move(file_system)) {}

    // A task's number and a row, which ends with a line break.
    std::pair<std::size_t, std::string> row(const Event& event) {
        const Columns columns(event);
        const std::size_t who = tasks_.of(event.task() != nullptr ? event.task()->tid : 0);
        row_.clear();
        if (who != 1) {
            add("p{}", who);
        }
        add_call(event, columns);
        add_object(columns);
        add_amounts(columns);
        add_object2(columns);
        add_network(columns);
        add_rest(event, columns);
        return {who, row_ + "\n"};
    }

  private:
    template <typename... Values>
    void add(fmt::format_string<const Values&...> format, const Values&... values) {
        row_ += row_.empty() ? "" : " ";
        row_ += fmt::format(format, values...);
    }

    void add_call(const Event& event, const Columns& columns) {
        if (event.raw().abi != static_cast<std::uint8_t>(schema::kNativeAbi)) {
            add("{}", columns.text(EventColumn::kAbi).value_or("?"));
        }
        add("{} {}", event.name(), columns.text(EventColumn::kClass).value_or("?"));
        if (!columns.has(EventColumn::kResult)) {
            add("{}", columns.text(EventColumn::kState).value_or("?"));
        } else {
            add("={}", columns.text(EventColumn::kError).value_or(result_text(event)));
        }
        if (const auto fd = columns.number(EventColumn::kFd)) {
            add("fd={}", static_cast<long>(*fd));
        }
    }

    std::string result_text(const Event& event) {
        const SyscallInfo* call = info_of(event);
        const bool is_task = call != nullptr && (call->returns == "pid" || call->returns == "int");
        if (is_task && event.result() == getpid()) {
            return "tester";
        }
        if (is_task && event.result() > 1 &&
            (call->returns == "pid" || tasks_.knows(event.result()))) {
            return fmt::format("p{}", tasks_.of(event.result()));
        }
        const bool is_address = call != nullptr && call->returns == "address";
        return is_address && event.result() != 0 ? "0x*" : std::to_string(event.result());
    }

    void add_object(const Columns& columns) {
        static const std::regex kLargeFile(R"(\|O_LARGEFILE)");
        if (const auto object = columns.number(EventColumn::kObjectId)) {
            add("#{} {}",
                objects_.of(*object),
                columns.text(EventColumn::kObjectType).value_or("?"));
        }
        const auto file_system = columns.text(EventColumn::kFileSystem);
        if (file_system && *file_system != file_system_) {
            add("[{}]", *file_system);
        }
        if (const auto path = columns.text(EventColumn::kPath)) {
            add("{}", shown(*path));
        }
        if (const auto given = columns.text(EventColumn::kArgumentPath)) {
            add("\"{}\"", shown(*given));
        }
        if (const auto flags = columns.text(EventColumn::kOpenFlags)) {
            add("{}", std::regex_replace(*flags, kLargeFile, ""));
        }
    }

    void add_amounts(const Columns& columns) {
        if (const auto offset = columns.number(EventColumn::kFileOffset)) {
            const bool certain = columns.number(EventColumn::kOffsetCertain).value_or(0) != 0;
            add("@{}{}", static_cast<long>(*offset), certain ? "" : "?");
        }
        if (const auto size = columns.number(EventColumn::kObjectSize)) {
            add("size={}", static_cast<long>(*size));
        }
        const auto bytes = columns.number(EventColumn::kBytes);
        const auto requested = columns.number(EventColumn::kRequested);
        if (bytes || requested) {
            add("{}/{}", number_or_dash(bytes), number_or_dash(requested));
        }
    }

    void add_object2(const Columns& columns) {
        const auto object = columns.number(EventColumn::kObject2Id);
        const auto path = columns.text(EventColumn::kPath2);
        const auto offset = columns.number(EventColumn::kFileOffset2);
        if (object || path || offset) {
            add("=>");
        }
        if (object) {
            add("#{}", objects_.of(*object));
        }
        if (path) {
            add("{}", shown(*path));
        }
        if (offset) {
            add("@{}", static_cast<long>(*offset));
        }
    }

    void add_network(const Columns& columns) {
        const std::string local =
            end_text(columns, EventColumn::kLocalAddress, EventColumn::kLocalPort);
        const std::string remote =
            end_text(columns, EventColumn::kRemoteAddress, EventColumn::kRemotePort);
        if (!local.empty() || !remote.empty()) {
            add("{} > {}", local.empty() ? "-" : local, remote.empty() ? "-" : remote);
        }
        if (const auto connection = columns.number(EventColumn::kConnectionId)) {
            add("connection{}", connections_.of(*connection));
        }
        if (const auto offset = columns.number(EventColumn::kStreamOffset)) {
            add("stream@{}", static_cast<long>(*offset));
        }
    }

    std::string end_text(const Columns& columns, EventColumn address, EventColumn port) {
        std::string text = shown(columns.text(address).value_or(""));
        if (const auto number = columns.number(port)) {
            text += fmt::format(":port{}", ports_.of(*number));
        }
        return text;
    }

    void add_rest(const Event& event, const Columns& columns) {
        if (columns.has(EventColumn::kTargetProcessId)) {
            add("target=p{}", tasks_.of(event.target_tid().value_or(0)));
        }
        const std::string arguments = columns.text(EventColumn::kArguments).value_or("");
        if (!arguments.empty() && arguments != "{}") {
            add("{}", shown_arguments(arguments, gives_own_socket(columns)));
        }
    }

    static std::string number_or_dash(std::optional<Integer> number) {
        return number ? std::to_string(static_cast<long>(*number)) : "-";
    }

    std::string shown(std::string text) {
        static const std::regex kInode(R"(:\[\d+\]$)");
        static const std::regex kUnnamed(R"(#\d+$)");
        static const std::regex kTaskFolder(R"(/(proc|task)/(\d+))");
        for (std::smatch found; std::regex_search(text, found, kTaskFolder);) {
            text = found.prefix().str() +
                   fmt::format("/{}/p{}", found[1].str(), tasks_.of(std::stol(found[2]))) +
                   found.suffix().str();
        }
        for (std::size_t at = 0; (at = text.find(folder_, at)) != std::string::npos;) {
            text.replace(at, folder_.size(), "~");
        }
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (static_cast<unsigned char>(text[i]) < ' ') {
                text.replace(i, 1, fmt::format("<{:02x}>", text[i]));
            }
        }
        text = std::regex_replace(text, kUnnamed, "#N");
        return std::regex_replace(text, kInode, ":[N]");
    }

    bool gives_own_socket(const Columns& columns) const {
        const auto remote = columns.text(EventColumn::kRemoteAddress);
        const auto given = remote ? remote : columns.text(EventColumn::kLocalAddress);
        return given && given->starts_with(folder_);
    }

    // The length of an address is told as if the folder were called "~", wherever the tests' folders are.
    std::string shown_arguments(std::string text, bool gives_own_socket) {
        static const std::regex kAddressLength(R"((addr_?len":)(\d+))");
        static const std::regex kAddress(R"("0x[0-9a-f]{6,}")");
        static const std::regex kPointer(R"(:\d{15}\b)");
        static const std::regex kTask(R"regex("(pid|upid|tgid)":(\d+))regex");
        text = std::regex_replace(text, kAddress, "\"0x*\"");
        text = std::regex_replace(text, kPointer, ":*");
        for (std::size_t at = 0; (at = text.find(folder_, at)) != std::string::npos;) {
            text.replace(at, folder_.size(), "~");
        }
        if (std::smatch found; gives_own_socket && std::regex_search(text, found, kAddressLength)) {
            const std::size_t length = std::stoul(found[2]) - folder_.size() + 1;
            text = fmt::format(
                "{}{}{}{}", found.prefix().str(), found[1].str(), length, found.suffix().str());
        }
        std::string result;
        for (std::smatch found; std::regex_search(text, found, kTask);) {
            const long task = std::stol(found[2]);
            result += found.prefix().str() + fmt::format("\"{}\":", found[1].str()) +
                      (task > 1 ? fmt::format("p{}", tasks_.of(task)) : found[2].str());
            text = found.suffix().str();
        }
        return result + text;
    }

    std::string folder_, file_system_;
    std::string row_;
    Numbering objects_, tasks_, ports_, connections_;
};

std::string law_of_time(const Event& event, const Columns& columns) {
    const auto duration = columns.number(EventColumn::kDurationNs);
    const auto on_cpu = columns.number(EventColumn::kOnCpuNs);
    if (duration.has_value() != (event.finished() && !event.entry_missed())) {
        return "duration_ns";
    }
    if (duration && (!on_cpu || *on_cpu < 0 || *on_cpu > *duration)) {
        return "on_cpu_ns";
    }
    return "";
}

std::string law_of_who(const Columns& columns) {
    for (const EventColumn column : {EventColumn::kProcessId,
                                     EventColumn::kThreadId,
                                     EventColumn::kPid,
                                     EventColumn::kTid,
                                     EventColumn::kPpid,
                                     EventColumn::kPidInNamespace,
                                     EventColumn::kUid,
                                     EventColumn::kCgroupId,
                                     EventColumn::kNetworkNamespace,
                                     EventColumn::kComm,
                                     EventColumn::kExe}) {
        if (!columns.has(column)) {
            return "a column that says who";
        }
    }
    return "";
}

std::string law_of_result(const Event& event, const Columns& columns, const SyscallInfo& call) {
    const bool failed = event.finished() && event.result() < 0 && event.result() >= -4095;
    if (columns.has(EventColumn::kResult) != event.finished()) {
        return "result";
    }
    if (columns.has(EventColumn::kError) !=
        (failed && !schema::restores_result(call.abi, call.number))) {
        return "error";
    }
    const auto bytes = columns.number(EventColumn::kBytes);
    const bool whole = call.returns == "whole";
    const bool moves =
        (call.returns == "bytes" || whole) && event.finished() && event.result() >= 0;
    const auto moved = whole ? columns.number(EventColumn::kRequested) : event.result();
    if (bytes.has_value() != moves || (moves && *bytes != moved)) {
        return "bytes";
    }
    return "";
}

std::string law_of_object(const Event& event, const Columns& columns, const SyscallInfo& call) {
    const bool succeeded = event.finished() && event.result() >= 0;
    const bool makes = succeeded && (call.returns == "fd" || has_argument(call, {"fd_pair"}));
    const bool has_fd = columns.has(EventColumn::kFd), takes_fd = has_argument(call, {"fd"});
    // an empty path, or none, is the directory's descriptor itself, unless that is AT_FDCWD
    const bool may_be_itself = has_argument(call, {"dirfd"}) &&
                               columns.has(EventColumn::kObjectId) &&
                               columns.text(EventColumn::kArgumentPath).value_or("").empty();
    if (event.finished() && (makes || takes_fd ? !has_fd : has_fd && !may_be_itself)) {
        return "fd";
    }
    const bool known = columns.has(EventColumn::kObjectId);
    if (known != columns.has(EventColumn::kObjectType) ||
        (known && !(columns.has(EventColumn::kFileSystem) && columns.has(EventColumn::kPath)))) {
        return "object_id, object_type, file_system and path";
    }
    if (makes && !known) {
        return "object_id of a new descriptor";
    }
    if (columns.has(EventColumn::kFileOffset) != columns.has(EventColumn::kOffsetCertain)) {
        return "offset_certain";
    }
    if (columns.has(EventColumn::kArgumentPath) && !has_argument(call, {"path"})) {
        return "argument_path";
    }
    if (columns.has(EventColumn::kArgumentPath) && !columns.has(EventColumn::kPath)) {
        return "path";
    }
    return "";
}

std::string file_system_of(const std::string& folder) {
    constexpr long kTmpfs = 0x01021994, kExt = 0xEF53, kOverlay = 0x794c7630, kXfs = 0x58465342,
                   kBtrfs = 0x9123683e;
    static const std::map<long, std::string> kNames = {
        {kTmpfs, "tmpfs"}, {kExt, "ext4"}, {kOverlay, "overlay"}, {kXfs, "xfs"}, {kBtrfs, "btrfs"}};
    struct statfs status {};
    EXPECT_EQ(statfs(folder.c_str(), &status), 0);
    const auto found = kNames.find(status.f_type);
    return found != kNames.end() ? found->second : "";
}

}  // namespace

std::string lines(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = text.substr(at, end - at);
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        if (!line.empty()) {
            result.append(line).append("\n");
        }
        at = end + 1;
    }
    return result;
}

std::vector<std::string> split_rows(std::string_view rows) {
    std::vector<std::string> result;
    while (!rows.empty()) {
        const std::size_t end = std::min(rows.find('\n'), rows.size() - 1) + 1;
        result.emplace_back(rows.substr(0, end));
        rows.remove_prefix(end);
    }
    return result;
}

std::string without_queue_ids(const std::string& rows) {
    static const std::regex kMade("(msgget other =)[0-9]+"), kNamed(R"re(("msqid":)[0-9]+)re");
    return std::regex_replace(std::regex_replace(rows, kMade, "$1N"), kNamed, "$1N");
}

std::string laws(const Event& event) {
    const Columns columns(event);
    const SyscallInfo* call = info_of(event);
    // an unknown number has nothing to hold its result and its object to
    for (const std::string& broken :
         {law_of_who(columns),
          law_of_time(event, columns),
          call != nullptr ? law_of_result(event, columns, *call) : "",
          call != nullptr ? law_of_object(event, columns, *call) : ""}) {
        if (!broken.empty()) {
            return broken;
        }
    }
    return columns.number(EventColumn::kWeight) == 1 ? "" : "weight";
}

std::string RowsTest::rows(const Trace& trace) {
    RowWriter writer(at("").substr(0, at("").size() - 1), file_system_of(at("")));
    std::vector<std::pair<std::size_t, std::string>> found;
    for (const Event& event : trace.events()) {
        found.push_back(writer.row(event));
        EXPECT_EQ(laws(event), "") << found.back().second;
    }
    std::stable_sort(
        found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string text;
    for (std::size_t i = 0; i < found.size(); ++i) {
        // the end of the child itself, which belongs to no test but its own
        const bool is_last = i + 1 == found.size() || found[i + 1].first != 1;
        const bool is_end = found[i].first == 1 && is_last &&
                            found[i].second.starts_with("exit_group process unfinished");
        text += is_end ? "" : found[i].second;
    }
    return text;
}

std::string RowsTest::rows(const std::function<void()>& program, int killed_by) {
    return rows(record(program, killed_by));
}

std::string RowsTest::make_file(std::string_view name, std::string_view content) {
    std::string path = at(name);
    std::ofstream(path, std::ios::binary) << content;
    return path;
}

}  // namespace dyetrace::test
