#include "replay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "schema/record_info.h"
#include "trace/codec.h"
#include "trace/segment_reader.h"
#include "trace/trace_folder.h"

namespace dyetrace::bench {
namespace {

constexpr std::size_t kSegmentBytesMax = 256u << 20;
constexpr std::size_t kBootIdDigits = 4;  // of the last ones, the host's number
// At full speed a host has so many segments that the collector has not acknowledged.
constexpr std::size_t kSegmentsAhead = 2;

Result<RecordedSegment> load_segment(const trace::TraceFolder& folder,
                                     std::uint64_t number,
                                     std::uint64_t begin_ns) {
    const std::string path = folder.segment_path(number);
    TRY(const trace::SegmentReader reader,
        trace::SegmentReader::open(path, trace::SegmentEnd::kComplete));
    if (!reader.has_end_block() || !reader.lost().empty()) {
        return Error(ErrorCode::kCorrupt, fmt::format("'{}' is damaged or not complete", path));
    }
    RecordedSegment segment{number, {}, {}};
    TRY(segment.bytes, base::read_file(path, kSegmentBytesMax));
    std::size_t end = reader.header().header_size;
    segment.pieces.push_back({0, end, false, 0, 0});
    for (const trace::BlockHeader& block : reader.blocks()) {
        const std::size_t size = sizeof(block) + trace::padded(block.stored_size);
        const bool is_events = block.stream == static_cast<std::uint8_t>(schema::Stream::kEvents);
        segment.pieces.push_back({block.position,
                                  size,
                                  true,
                                  block.written_ns - std::min(begin_ns, block.written_ns),
                                  is_events ? block.record_count : 0});
        end = block.position + size;
    }
    const std::uint64_t last_ns = segment.pieces.back().due_ns;
    segment.pieces.push_back({end, segment.bytes.size() - end, true, last_ns, 0});
    segment.pieces.front().due_ns = segment.pieces[1].due_ns;
    return segment;
}

// "4b9c407d-16cb-4453-99ff-8ab86439265c" becomes "…-8ab864390011": hosts of one boot id would be one.
std::string boot_id_of(std::string recorded, std::uint32_t host_index) {
    const std::string digits = fmt::format("{:0{}x}", host_index, kBootIdDigits);
    return recorded.replace(
        recorded.size() - std::min(recorded.size(), kBootIdDigits), std::string::npos, digits);
}

void set_host(std::span<char> block, std::uint16_t host_index) {
    trace::BlockHeader header;
    std::memcpy(&header, block.data(), sizeof(header));
    header.host_index = host_index;
    header.header_checksum = trace::checksum(
        std::as_bytes(std::span(&header, 1)).first(offsetof(trace::BlockHeader, header_checksum)));
    std::memcpy(block.data(), &header, sizeof(header));
}

class Replay final : public transport::Recorder {
  public:
    Replay(const RecordedTrace& recorded, transport::RecorderOrder order, Pace pace, Totals& totals)
        : recorded_(recorded), order_(std::move(order)), pace_(pace), totals_(totals) {}

    State look() override {
        if (state_ == State::kListening) {
            const Result<void> done = write_what_is_due();
            if (!done.ok()) {
                say(done.error().text());
                state_ = State::kEnded;
            }
        }
        return state_;
    }

    Result<void> go() override {
        trace::TraceInfo info = recorded_.info;
        trace::Host& host = info.hosts.front();
        host.index = static_cast<std::uint16_t>(order_.host_index);
        host.name = order_.host;
        host.boot_id = boot_id_of(std::move(host.boot_id), order_.host_index);
        TRY(folder_, trace::TraceFolder::create(order_.trace, std::move(info)));
        begin_ns_ = base::boot_time_ns() + static_cast<std::int64_t>(pace_.delay_ns);
        state_ = State::kListening;
        ++totals_.running;
        return {};
    }
    void stop() override {
        stopped_ = true;
        if (state_ < State::kListening) {
            state_ = State::kEnded;
        }
    }
    pid_t pid() const override { return -1; }

  private:
    Result<void> write_what_is_due() {
        while (segment_ < recorded_.segments.size() && (piece_ > 0 || may_begin_segment())) {
            TRY(const bool whole, write_of_segment());
            if (!whole) {
                return {};
            }
        }
        if (segment_ == recorded_.segments.size() && std::exchange(counted_, false)) {
            --totals_.running;
        }
        if (stopped_) {
            say(fmt::format("{} events replayed, nothing lost", recorded_.events));
            TRY(folder_->finish());
            folder_.reset();
            state_ = State::kEnded;
        }
        return {};
    }

    bool may_begin_segment() const {
        return pace_.speed > 0 || stopped_ || segment_ < kSegmentsAhead ||
               ::access(path_of(segment_ - kSegmentsAhead).c_str(), F_OK) != 0;
    }
    std::string path_of(std::size_t segment) const {
        return folder_->segment_path(recorded_.segments[segment].number);
    }

    bool is_due(const Piece& piece) const {
        const auto elapsed = static_cast<double>(base::boot_time_ns() - begin_ns_);
        return stopped_ || pace_.speed == 0 ||
               static_cast<double>(piece.due_ns) <= elapsed * pace_.speed;
    }

    // True: all of it is written, and the next one is the next.
    Result<bool> write_of_segment() {
        const RecordedSegment& segment = recorded_.segments[segment_];
        const std::size_t first = piece_;
        std::uint64_t events = 0;
        while (piece_ < segment.pieces.size() && is_due(segment.pieces[piece_])) {
            events += segment.pieces[piece_++].events;
        }
        if (piece_ == first) {
            return false;
        }
        TRY(const std::size_t bytes, append(segment, first, piece_));
        totals_.events += events;
        totals_.bytes += bytes;
        if (piece_ < segment.pieces.size()) {
            return false;
        }
        ++segment_;
        piece_ = 0;
        return true;
    }

    Result<std::size_t> append(const RecordedSegment& segment, std::size_t first, std::size_t end) {
        const std::size_t from = segment.pieces[first].begin;
        const std::size_t to = segment.pieces[end - 1].begin + segment.pieces[end - 1].size;
        std::string bytes = segment.bytes.substr(from, to - from);
        for (std::size_t i = first; i < end; ++i) {
            const Piece& piece = segment.pieces[i];
            if (piece.is_block) {
                set_host(std::span(bytes).subspan(piece.begin - from, piece.size),
                         static_cast<std::uint16_t>(order_.host_index));
            }
        }
        TRY(const base::Fd file, base::open_file(path_of(segment_), O_WRONLY | O_CREAT | O_APPEND));
        TRY(base::write_all(file, base::bytes_of(bytes)));
        return bytes.size();
    }

    // Writes what a recorder's stderr would have. Without it the collector only says that it ended.
    void say(const std::string& text) const {
        static_cast<void>(base::write_file_atomically(order_.said, text + "\n").ok());
    }

    const RecordedTrace& recorded_;
    const transport::RecorderOrder order_;
    const Pace pace_;
    Totals& totals_;
    State state_ = State::kReady;
    bool stopped_ = false;
    bool counted_ = true;  // as running
    std::optional<trace::TraceFolder> folder_;
    std::int64_t begin_ns_ = 0;
    std::size_t segment_ = 0;  // the next piece to write is of this one
    std::size_t piece_ = 0;
};

}  // namespace

Result<RecordedTrace> RecordedTrace::load(const std::string& path) {
    TRY(const trace::TraceFolder folder, trace::TraceFolder::open(path));
    TRY(const trace::SegmentList list, folder.list());
    RecordedTrace recorded;
    recorded.info = folder.info();
    if (recorded.info.hosts.size() != 1 || !list.sealed.empty() || list.recorded.empty() ||
        recorded.info.state != trace::TraceState::kFinished) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("'{}' is not what `dyetrace record --no-seal` leaves", path));
    }
    std::uint64_t begin_ns = UINT64_MAX;
    for (const std::uint64_t number : list.recorded) {
        TRY(const trace::SegmentReader reader,
            trace::SegmentReader::open(folder.segment_path(number), trace::SegmentEnd::kComplete));
        begin_ns = std::min(begin_ns, reader.header().created_ns);
    }
    for (const std::uint64_t number : list.recorded) {
        TRY(RecordedSegment segment, load_segment(folder, number, begin_ns));
        for (const Piece& piece : segment.pieces) {
            recorded.events += piece.events;
            recorded.duration_ns = std::max(recorded.duration_ns, piece.due_ns);
        }
        recorded.bytes += segment.bytes.size();
        recorded.segments.push_back(std::move(segment));
    }
    return recorded;
}

Result<std::unique_ptr<transport::Recorder>> replay(const RecordedTrace& recorded,
                                                    const transport::RecorderOrder& order,
                                                    Pace pace,
                                                    Totals& totals) {
    return std::unique_ptr<transport::Recorder>(
        std::make_unique<Replay>(recorded, order, pace, totals));
}

}  // namespace dyetrace::bench
