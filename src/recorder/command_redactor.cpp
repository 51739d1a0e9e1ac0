#include "recorder/command_redactor.h"

#include <algorithm>

#include "schema/generated/records.h"
#include "schema/record.h"

namespace dyetrace::recorder {

std::span<const std::byte> CommandRedactor::apply(std::span<const std::byte> facts) {
    if (is_idle()) {
        return facts;
    }
    records_.assign(facts.begin(), facts.end());
    std::span<std::byte> rest = records_;
    for (schema::RecordBytes record = schema::first_record(rest); !record.empty();
         record = schema::first_record(rest)) {
        if (const auto* const task = schema::as<schema::TaskContext>(record)) {
            if (const auto command = schema::attachment(*task, schema::Attachment::kCommand)) {
                const auto at = reinterpret_cast<const std::byte*>(command->data()) - rest.data();
                hide(rest.subspan(static_cast<std::size_t>(at), command->size()),
                     (task->flags & schema::kCommandIsCut) != 0);
            }
        }
        rest = rest.subspan(record.size());
    }
    return records_;
}

std::vector<std::string> CommandRedactor::hidden(const std::vector<std::string>& words) const {
    std::string line;
    for (const std::string& word : words) {
        line.append(word).push_back('\0');
    }
    hide(std::as_writable_bytes(std::span(line)), false);
    std::vector<std::string> shown;
    for (std::size_t at = 0; const std::string& word : words) {
        shown.push_back(line.substr(at, word.size()));
        at += word.size() + 1;
    }
    return shown;
}

void CommandRedactor::hide(std::span<std::byte> command, bool is_cut) const {
    std::vector<std::byte> typed(command.begin(), command.end());
    std::replace(typed.begin(), typed.end(), std::byte{0}, std::byte{' '});
    for (const auto& [from, to] : secrets_.find(typed, {.open_after = is_cut})) {
        for (std::byte& byte : command.subspan(from, to - from)) {
            byte = byte == std::byte{0} ? byte : std::byte{'*'};
        }
    }
}

}  // namespace dyetrace::recorder
