// Any bytes as the payload of a trace: the reader may refuse or lose, never crash, hang or hand out bytes that are not there.
//
// Checksums would hide everything that they cover, so they are put right first, as far as the sizes lead.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "base/memory_folder.h"
#include "trace/codec.h"
#include "trace/payload_file.h"

namespace dyetrace::trace {
namespace {

void put_checksums_right(std::vector<std::byte>& bytes) {
    PayloadHeader file{};
    std::memcpy(&file, bytes.data(), sizeof(file));
    file.magic = kPayloadMagic;
    file.checksum =
        checksum(std::as_bytes(std::span(&file, 1)).first(offsetof(PayloadHeader, checksum)));
    std::memcpy(bytes.data(), &file, sizeof(file));
    std::size_t at = file.header_size;
    while (at < bytes.size() && bytes.size() - at >= sizeof(PayloadBlock)) {
        PayloadBlock block{};
        std::memcpy(&block, bytes.data() + at, sizeof(block));
        block.magic = kPayloadBlockMagic;
        block.position = at;
        const std::size_t rest = bytes.size() - at - sizeof(block);
        const std::size_t stored = std::min<std::size_t>(block.stored_size, rest);
        std::vector<std::byte> covered(offsetof(PayloadBlock, checksum) + stored);
        std::memcpy(covered.data(), &block, offsetof(PayloadBlock, checksum));
        std::memcpy(covered.data() + offsetof(PayloadBlock, checksum),
                    bytes.data() + at + sizeof(block),
                    stored);
        block.checksum = checksum(covered);
        std::memcpy(bytes.data() + at, &block, sizeof(block));
        at += sizeof(block) + (stored + 7) / 8 * 8;
    }
}

void read_everything(const std::string& path) {
    auto reader = PayloadReader::open(path);
    if (!reader.ok()) {
        return;
    }
    std::vector<PayloadPlace> places;
    const auto scanned =
        reader.value().scan([&](const PayloadEntry& entry, const PayloadPlace& place) {
            CHECK(place.length == entry.length);
            places.push_back(place);
        });
    if (!scanned.ok()) {
        return;
    }
    for (const PayloadPlace& place : places) {
        const auto bytes = reader.value().bytes_at(place);
        CHECK(!bytes.ok() || bytes.value().size() == place.length);
    }
}

}  // namespace
}  // namespace dyetrace::trace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dyetrace;
    const auto given = std::as_bytes(std::span(data, size));
    std::vector<std::byte> bytes(given.begin(), given.end());
    if (size >= sizeof(trace::PayloadHeader)) {
        trace::put_checksums_right(bytes);
    }
    static const auto kFolder = base::memory_folder();
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    base::write_file_atomically(trace::payload_path(kFolder.path()), text).value();
    trace::read_everything(kFolder.path());
    return 0;
}
