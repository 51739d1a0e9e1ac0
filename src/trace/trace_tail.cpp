#include "trace/trace_tail.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace dyetrace::trace {
namespace {

std::int64_t written_ns(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) {
        return 0;
    }
    return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

}  // namespace

Result<TraceTail> TraceTail::open(const std::string& path) {
    TRY(TraceFolder folder, TraceFolder::open(path));
    TraceTail tail(std::move(folder));
    TRY(const std::vector<TraceFolder> parts, tail.folder_.parts());
    for (const TraceFolder& part : parts) {
        Part& known = tail.parts_[part.host_index()];
        TRY(const SegmentList list, part.list());
        known.next_segment = list.sealed.empty() ? 1 : list.sealed.back() + 1;
        if (!list.recorded.empty()) {
            known.next_segment = std::max(known.next_segment, list.recorded.front());
        }
        TRY(tail.read_part(part, known, nullptr));
    }
    return tail;
}

Result<void> TraceTail::read(const Take& take) {
    TRY(const std::vector<TraceFolder> parts, folder_.parts());
    for (const TraceFolder& part : parts) {
        Part& known = parts_[part.host_index()];
        known.next_segment = std::max<std::uint64_t>(known.next_segment, 1);
        TRY(read_part(part, known, &take));
    }
    return {};
}

Result<void> TraceTail::read_part(const TraceFolder& folder, Part& part, const Take* take) {
    if (part.host.empty() && !folder.info().hosts.empty()) {
        part.host = folder.info().hosts.front().name;
    }
    TRY(const SegmentList list, folder.list());
    for (const std::uint64_t number : list.sealed) {
        if (number >= part.next_segment) {
            part.read.erase(number);
            ++segments_missed_;
            part.next_segment = number + 1;
        }
    }
    for (const std::uint64_t number : list.recorded) {
        if (number >= part.next_segment) {
            Result<void> read = read_segment(folder, number, part, take);
            if (!read.ok() && read.error().code() != ErrorCode::kNotFound &&
                read.error().code() != ErrorCode::kCorrupt) {
                return read;
            }
        }
    }
    return {};
}

Result<void> TraceTail::read_segment(const TraceFolder& folder,
                                     std::uint64_t number,
                                     Part& part,
                                     const Take* take) {
    const std::string path = folder.segment_path(number);
    TRY(SegmentReader segment, SegmentReader::open(path, SegmentEnd::kMayGrow));
    std::size_t& read = part.read[number];
    const std::size_t blocks = segment.blocks().size();
    for (; take != nullptr && read < blocks; ++read) {
        TRY(const std::span<const std::byte> records, segment.read(segment.blocks()[read]));
        (*take)(folder.host_index(), records);
    }
    read = blocks;
    part.written_ns = std::max(part.written_ns, written_ns(path));
    if (segment.has_end_block()) {
        part.read.erase(number);
        part.next_segment = number + 1;
    }
    return {};
}

}  // namespace dyetrace::trace
