#include "exporter/protobuf.h"

#include "base/check.h"

namespace dyetrace::exporter {
namespace {

enum WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2 };

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kMessageBytesMax = (std::size_t{1} << (7 * kLengthBytes)) - 1;

}  // namespace

void ProtobufWriter::varint(std::uint64_t value) {
    while (value >= 0x80) {
        out_->push_back(static_cast<char>(value | 0x80));
        value >>= 7;
    }
    out_->push_back(static_cast<char>(value));
}

void ProtobufWriter::fixed64(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3 | kFixed64);
    for (int byte = 0; byte < 8; ++byte) {
        out_->push_back(static_cast<char>(value >> (8 * byte)));
    }
}

void ProtobufWriter::text(std::uint32_t field, std::string_view value) {
    varint(std::uint64_t{field} << 3 | kLengthDelimited);
    varint(value.size());
    out_->append(value);
}

ProtobufWriter::Mark ProtobufWriter::begin(std::uint32_t field) {
    varint(std::uint64_t{field} << 3 | kLengthDelimited);
    out_->append(kLengthBytes, '\0');
    return out_->size();
}

void ProtobufWriter::end(Mark message) {
    std::size_t length = out_->size() - message;
    CHECK(length <= kMessageBytesMax);
    for (std::size_t i = kLengthBytes; i > 0; --i) {
        const std::size_t more = i > 1 ? 0x80 : 0;
        (*out_)[message - i] = static_cast<char>((length & 0x7f) | more);
        length >>= 7;
    }
}

}  // namespace dyetrace::exporter
