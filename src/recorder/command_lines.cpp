#include "recorder/command_lines.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/process_stat.h"
#include "schema/record.h"

namespace dyetrace::recorder {
namespace {

std::string_view without_end(std::string_view words) {
    return words.substr(0, words.find_last_not_of('\0') + 1);
}

// Only if it is this process, not a later one with its number.
bool is_there(const std::string& folder, const schema::TaskContext& task) {
    const auto tick_ns = 1'000'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    return base::stat_of(folder, base::StatWord::kStartTicks) == task.process_start_ns / tick_ns;
}

struct Command {
    std::string words;
    bool is_cut = false;
};

std::optional<Command> command_of(const std::string& proc, const schema::TaskContext& task) {
    const std::string folder = fmt::format("{}/{}", proc, task.pid);
    const auto file = base::open_file(folder + "/cmdline", O_RDONLY);
    if (!file.ok()) {
        return std::nullopt;  // it has ended
    }
    std::string words(CommandLines::kCommandBytesMax + 1, '\0');
    const auto size = base::read_up_to(file.value(), std::as_writable_bytes(std::span(words)));
    if (!size.ok() || size.value() == 0 || !is_there(folder, task)) {
        return std::nullopt;
    }
    words.resize(size.value());
    words.resize(without_end(words).size());
    const bool is_cut = words.size() > CommandLines::kCommandBytesMax;
    words.resize(std::min(words.size(), CommandLines::kCommandBytesMax));
    return Command{std::move(words), is_cut};
}

}  // namespace

void CommandLines::learn(std::span<const std::byte> facts) {
    if (!keeps_) {
        return;
    }
    for (schema::RecordBytes record = schema::first_record(facts); !record.empty();
         record = schema::first_record(facts)) {
        facts = facts.subspan(record.size());
        const auto* const task = schema::as<schema::TaskContext>(record);
        if (task == nullptr || (task->flags & schema::kKernelThread) != 0) {
            continue;
        }
        if (contexts_.size() == kProcessesMax && !contexts_.contains(task->pid)) {
            continue;
        }
        std::vector<std::byte>& context = contexts_[task->pid];
        const auto* const last = schema::as<schema::TaskContext>(context);
        if (last == nullptr || last->process_start_ns != task->process_start_ns) {
            new_.push_back(task->pid);
        }
        context.assign(record.begin(), record.end());
    }
}

Result<void> CommandLines::look(bool all, FactWriter& facts) {
    if (!all) {
        for (const std::uint32_t pid : next_) {
            TRY(look_at(pid, facts));
        }
        next_ = std::exchange(new_, {});
        return {};
    }
    for (auto at = contexts_.begin(); at != contexts_.end();) {
        const std::uint32_t pid = (at++)->first;  // it may go
        TRY(look_at(pid, facts));
    }
    return {};
}

Result<void> CommandLines::look_at(std::uint32_t pid, FactWriter& facts) {
    const auto known = contexts_.find(pid);
    if (known == contexts_.end()) {
        return {};
    }
    const auto& task = *schema::as<schema::TaskContext>(known->second);
    const std::optional<Command> command = command_of(folder_, task);
    if (!command) {
        contexts_.erase(known);
        return {};
    }
    const auto before = schema::attachment(task, schema::Attachment::kCommand);
    return before && without_end(*before) == command->words
               ? Result<void>()
               : facts.write_command(task, command->words, command->is_cut);
}

}  // namespace dyetrace::recorder
