// Any bytes as a segment: the reader may refuse or lose, never crash, hang or hand out a record that is not whole.
//
// Checksums would hide everything that they cover, so they are put right first, as far as the sizes lead.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/fd.h"
#include "base/file.h"
#include "trace/codec.h"
#include "trace/record_walk.h"
#include "trace/segment_reader.h"

namespace dyetrace::trace {
namespace {

template <typename Header>
void sign(Header& header, std::uint64_t Header::*field, std::size_t offset) {
    header.*field = checksum(std::as_bytes(std::span(&header, 1)).first(offset));
}

void put_checksums_right(std::vector<std::byte>& bytes) {
    SegmentHeader segment{};
    std::memcpy(&segment, bytes.data(), sizeof(segment));
    segment.magic = kSegmentMagic;
    sign(segment, &SegmentHeader::checksum, offsetof(SegmentHeader, checksum));
    std::memcpy(bytes.data(), &segment, sizeof(segment));
    std::size_t at = segment.header_size;
    while (at + sizeof(BlockHeader) <= bytes.size()) {
        BlockHeader header{};
        std::memcpy(&header, bytes.data() + at, sizeof(header));
        const std::size_t rest = bytes.size() - at - sizeof(header);
        header.magic = kBlockMagic;
        header.position = at;
        if (header.stored_size <= rest) {
            const std::span<const std::byte> payload(bytes.data() + at + sizeof(header),
                                                     header.stored_size);
            header.payload_checksum = checksum(payload);
        }
        sign(header, &BlockHeader::header_checksum, offsetof(BlockHeader, header_checksum));
        std::memcpy(bytes.data() + at, &header, sizeof(header));
        at += sizeof(header) + padded(header.stored_size);
    }
}

void read_everything(const std::string& path, SegmentEnd end) {
    auto reader = SegmentReader::open(path, end);
    if (!reader.ok()) {
        return;
    }
    for (const BlockHeader& block : reader.value().blocks()) {
        const auto records = reader.value().read(block);
        if (!records.ok()) {
            return;
        }
        RecordWalk walk(records.value());
        std::uint32_t count = 0;
        while (!walk.next().empty()) {
            ++count;
        }
        CHECK(walk.rest() == 0);
        CHECK(records.value().empty() || count == block.record_count);
    }
}

}  // namespace
}  // namespace dyetrace::trace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dyetrace;
    const auto given = std::as_bytes(std::span(data, size));
    std::vector<std::byte> bytes(given.begin(), given.end());
    if (size >= sizeof(trace::SegmentHeader)) {
        trace::put_checksums_right(bytes);
    }
    const base::Fd file(::memfd_create("segment", MFD_CLOEXEC));
    base::write_all(file, bytes).value();
    const std::string path = "/proc/self/fd/" + std::to_string(file.get());
    trace::read_everything(path, trace::SegmentEnd::kComplete);
    trace::read_everything(path, trace::SegmentEnd::kMayGrow);
    return 0;
}
