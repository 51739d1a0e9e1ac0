// Protocol Buffers on the wire, written straight into a string: no schema, no library, no allocation per field.
//
//   ProtobufWriter packet(out);
//   packet.number(8, timestamp);
//   const auto event = packet.begin(11);        a message inside of it
//   packet.text(23, "read");
//   packet.end(event);
//
// A message inside has its length in four bytes, whatever it is: readers take a varint with zeros at its end, and it need not be
// known before. Limit: 2^28 - 1 bytes in such a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dyetrace::exporter {

class ProtobufWriter {
  public:
    using Mark = std::size_t;

    // `out` must outlive it.
    explicit ProtobufWriter(std::string& out) : out_(&out) {}

    // uint32, uint64, bool, an enum; and int32, int64, of which those below 0 have ten bytes.
    void number(std::uint32_t field, std::uint64_t value) {
        varint(std::uint64_t{field} << 3);
        varint(value);
    }
    void fixed64(std::uint32_t field, std::uint64_t value);
    // string, bytes, or a message that is written already.
    void text(std::uint32_t field, std::string_view value);

    Mark begin(std::uint32_t field);
    void end(Mark message);

  private:
    void varint(std::uint64_t value);

    std::string* out_;
};

}  // namespace dyetrace::exporter
