#include "schema/record.h"

namespace dyetrace::schema {

std::optional<std::string_view> attachment(RecordBytes record,
                                           std::size_t fixed_size,
                                           Attachment kind) {
    std::size_t at = fixed_size;
    while (at + sizeof(AttachmentHeader) <= record.size()) {
        AttachmentHeader header{};
        std::memcpy(&header, record.data() + at, sizeof(header));
        at += sizeof(header);
        if (header.kind == 0 || header.length > record.size() - at) {
            return std::nullopt;
        }
        if (header.kind == static_cast<std::uint16_t>(kind)) {
            return std::string_view(reinterpret_cast<const char*>(record.data() + at),
                                    header.length);
        }
        at += (header.length + std::size_t{7}) & ~std::size_t{7};
    }
    return std::nullopt;
}

}  // namespace dyetrace::schema
