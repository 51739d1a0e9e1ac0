// Puts records together that the recorder itself makes: a header, the record, what is attached to it. They are numbered one after another.
//
//   writer.attach(schema::Attachment::kName, "vfs_read");
//   TRY(writer.write(fact));                                 a generated record; its header and its `attachments` are filled in
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "schema/record.h"
#include "schema/record_info.h"

namespace dyetrace::recorder {

class RecordWriter {
  public:
    static constexpr std::size_t kTextMax = 4096;
    using Append = std::function<Result<void>(std::span<const std::byte> record)>;

    explicit RecordWriter(Append append) : append_(std::move(append)) {}

    // Belongs to the record that is written next. More than `bytes_max` is cut.
    void attach(schema::Attachment kind, std::string_view text, std::size_t bytes_max = kTextMax) {
        text = text.substr(0, bytes_max);
        const schema::AttachmentHeader header{
            static_cast<std::uint16_t>(kind), static_cast<std::uint16_t>(text.size()), 0};
        const std::size_t at = attachments_.size();
        attachments_.resize(at + sizeof(header) + ((text.size() + 7) & ~std::size_t{7}));
        std::memcpy(attachments_.data() + at, &header, sizeof(header));
        std::ranges::copy(std::as_bytes(std::span(text)),
                          attachments_.begin() + static_cast<std::ptrdiff_t>(at + sizeof(header)));
    }

    template <typename Record>
    Result<void> write(Record& record) {
        if constexpr (requires { record.attachments; }) {
            record.attachments = static_cast<std::uint16_t>(attachments_.size());
        }
        const std::size_t size = sizeof(record) + attachments_.size();
        const bool may_be_skipped = !schema::find_record(Record::kId)->must_understand;
        record.header = {static_cast<std::uint32_t>(size),
                         Record::kId,
                         static_cast<std::uint16_t>(may_be_skipped ? 1 : 0),
                         sequence_++};
        bytes_.resize(size);
        std::memcpy(bytes_.data(), &record, sizeof(record));
        std::copy(attachments_.begin(), attachments_.end(), bytes_.begin() + sizeof(record));
        attachments_.clear();
        return append_(bytes_);
    }

  private:
    Append append_;
    std::uint64_t sequence_ = 0;
    std::vector<std::byte> attachments_;
    std::vector<std::byte> bytes_;
};

}  // namespace dyetrace::recorder
