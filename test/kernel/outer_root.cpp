#include "kernel/outer_root.h"

#include <sys/stat.h>

#include "schema/record_builder.h"

namespace dyetrace::test {
namespace {

using schema::Attachment;
using schema::SyscallEvent;
using Words = std::vector<std::uint64_t>;

schema::RecordBytes bytes_of(const Words& words) {
    return std::as_bytes(std::span(words));
}

// Without a slash at its end; empty for a root that is the namespace's own.
std::string root_of(const Records& records) {
    const schema::Handle* first = nullptr;
    for (const Words& words : records.facts) {
        const auto* handle = schema::as<schema::Handle>(bytes_of(words));
        const bool is_directory = handle != nullptr && S_ISDIR(handle->mode);
        if (is_directory && (first == nullptr || handle->valid_from_ns < first->valid_from_ns)) {
            first = handle;
        }
    }
    const auto path =
        first == nullptr ? std::nullopt : schema::attachment(*first, Attachment::kPath);
    return path.value_or("/") == "/" ? "" : std::string(*path);
}

template <typename Record>
void take_off(Words& words, const std::string& root, Attachment which) {
    const auto* record = schema::as<Record>(bytes_of(words));
    if (record == nullptr) {
        return;
    }
    std::vector<std::pair<Attachment, std::string_view>> attachments;
    for (const auto kind :
         {Attachment::kPath, Attachment::kExe, Attachment::kCommand, Attachment::kCgroup}) {
        if (auto content = schema::attachment(*record, kind)) {
            if (kind == which && content->starts_with(root)) {
                content = content->size() == root.size() ? "/" : content->substr(root.size());
            }
            attachments.emplace_back(kind, *content);
        }
    }
    const auto bytes = schema::build(*record, schema::AttachmentList(attachments));
    words.resize(bytes.bytes().size() / sizeof(std::uint64_t));
    std::memcpy(words.data(), bytes.bytes().data(), bytes.bytes().size());
}

// An absolute name starts from the root without saying so.
void take_off_base(Words& words,
                   const schema::Dictionary& dictionary,
                   Attachment kind,
                   std::uint32_t SyscallEvent::*handle_id,
                   std::uint32_t bits) {
    auto* event = reinterpret_cast<SyscallEvent*>(words.data());
    const auto given = schema::attachment(*event, kind);
    const schema::Object* base = dictionary.object(event->*handle_id);
    const bool is_base = (event->present & bits) == bits && base != nullptr && base->path == "/";
    if (is_base && given && given->starts_with('/')) {
        event->present &= ~bits;
        event->*handle_id = 0;
    }
}

}  // namespace

void learn(Records& records, std::optional<std::string>& known_root) {
    if (!known_root) {
        known_root = root_of(records);
    }
    const std::string& root = *known_root;
    for (Words& words : records.facts) {
        if (!root.empty()) {
            take_off<schema::Handle>(words, root, Attachment::kPath);
            take_off<schema::TaskContext>(words, root, Attachment::kExe);
        }
        records.dictionary->add(bytes_of(words));
    }
    for (Words& words : records.events) {
        if (!root.empty() && schema::as<SyscallEvent>(bytes_of(words)) != nullptr) {
            take_off_base(words,
                          *records.dictionary,
                          Attachment::kPath,
                          &SyscallEvent::handle_id,
                          SyscallEvent::kHasHandle | SyscallEvent::kHasNamesBase);
            take_off_base(words,
                          *records.dictionary,
                          Attachment::kPath2,
                          &SyscallEvent::handle2_id,
                          SyscallEvent::kHasHandle2 | SyscallEvent::kHasNamesBase2);
        }
    }
}

}  // namespace dyetrace::test
