#include "transport/held_session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "trace/codec.h"
#include "trace/thin_segment.h"
#include "trace/trace_folder.h"
#include "transport/limits.h"
#include "transport/part_folder.h"
#include "transport/recorder_process.h"

namespace dyetrace::transport {
namespace {

constexpr std::uint64_t kGiveBackBytes = 1u << 20;  // in whole pages, and not with every chunk

std::string without(std::string text, const std::string& words) {
    for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos;) {
        text.erase(at, words.size());
    }
    return text;
}

}  // namespace

Result<HeldSession> HeldSession::begin(const std::string& folder,
                                       const std::string& id,
                                       RecorderOrder order,
                                       const StartRecorder& start) {
    TRY(base::make_folders(folder));
    order.trace = folder + "/trace";
    order.said = folder + "/recorder.said";
    TRY(std::unique_ptr<Recorder> recorder, start(order));
    HeldSession session(folder, id, std::move(recorder));
    TRY(base::write_file_atomically(folder + "/begun", fmt::format("{:020}", 0)));
    session.resumed_ = true;  // the collector has nothing of it
    return session;
}

HeldSession HeldSession::adopt(const std::string& folder, const std::string& id) {
    HeldSession session(folder, id, RecorderProcess::adopt(folder + "/trace"));
    session.phase_ = fleet::RECORDING;
    session.read_begun();
    return session;
}

fleet::Status HeldSession::status(fleet::Phase phase, std::string text) {
    phase_ = phase;
    told_ = true;
    fleet::Status status;
    status.set_session(id_);
    status.set_phase(phase);
    status.set_text(std::move(text));
    return status;
}

// What the recorder said, without whose program it is and where it wrote.
std::string HeldSession::said() const {
    std::string text =
        base::read_file(folder_ + "/recorder.said", kStatusTextBytesMax).value_or("");
    text = without(without(std::move(text), "dyetrace: "), trace_ + ": ");
    while (text.ends_with('\n')) {
        text.pop_back();
    }
    return text;
}

std::string HeldSession::why_it_never_began() const {
    if (!stop_reason_.empty()) {
        return stop_reason_;
    }
    std::string text = said();
    return text.empty() ? "its agent ended before the recording began" : text;
}

std::optional<fleet::Status> HeldSession::look() {
    const Recorder::State now = recorder_->look();
    look_for_files();  // after that: of a recorder that has ended, all are there
    const bool has_ended = now == Recorder::State::kEnded;
    if (!ended() && has_ended) {
        const bool recorded = ::access((trace_ + "/trace.json").c_str(), F_OK) == 0;
        return status(recorded ? fleet::SHIPPING : fleet::FAILED,
                      recorded ? said() : why_it_never_began());
    }
    if (phase_ == fleet::PREPARING && now == Recorder::State::kReady) {
        return status(fleet::READY, "");
    }
    if (phase_ <= fleet::READY && now == Recorder::State::kListening) {
        return status(fleet::RECORDING, "");
    }
    if (phase_ == fleet::SHIPPING && all_there_) {
        return status(fleet::ENDED, said());
    }
    if (resumed_ && !std::exchange(told_, true)) {
        return status(phase_, ended() ? said() : "");
    }
    return std::nullopt;
}

void HeldSession::go() {
    if (phase_ == fleet::READY && !std::exchange(gone_, true) && !recorder_->go().ok()) {
        recorder_->stop();
    }
}

void HeldSession::resume(const fleet::Resume& resume) {
    files_.clear();
    for (const fleet::FileSize& file : resume.files()) {
        files_[file.file()] = {file.size(), file.size(), 0};
    }
    info_sent_.clear();
    info_acknowledged_.clear();
    all_there_ = false;
    resumed_ = true;
    told_ = false;
    look_for_files();
}

void HeldSession::disconnect() {
    resumed_ = false;
    files_.clear();
}

// Once a tick, not with every chunk and every acknowledgement: a spool that was not shipped for a while has many files.
void HeldSession::look_for_files() {
    auto names = base::list_folder(trace_);
    names_ = names.ok() ? std::move(names).value() : std::vector<std::string>();
    std::erase_if(names_, [](const std::string& name) { return !is_growing_file(name); });
    std::sort(names_.begin(), names_.end(), [](const std::string& left, const std::string& right) {
        return std::tuple(!left.starts_with(kSegmentPrefix), left.size(), left) <
               std::tuple(!right.starts_with(kSegmentPrefix), right.size(), right);
    });
    delete_what_arrived();
}

// A segment is whole when the recorder works on the next.
bool HeldSession::grows(std::size_t name) const {
    const std::size_t next = name + 1;
    return !ended() && (next == names_.size() || !names_[next].starts_with(kSegmentPrefix));
}

std::optional<fleet::Chunk> HeldSession::next_chunk() {
    if (!resumed_ || phase_ < fleet::RECORDING || phase_ > fleet::SHIPPING ||
        base::monotonic_time_ns() < paused_until_ns_) {
        return std::nullopt;
    }
    auto found = find_chunk();
    return found.ok() ? std::move(found).value() : std::nullopt;  // a file that vanishes meanwhile
}

Result<std::optional<fleet::Chunk>> HeldSession::find_chunk() {
    if (info_sent_.empty()) {
        return info_chunk();
    }
    bool all_acknowledged = true;
    for (std::size_t i = 0; i < names_.size(); ++i) {
        File& file = files_[names_[i]];
        if (!file.is_sent) {
            TRY(auto chunk, chunk_of(names_[i], file, grows(i)));
            if (chunk) {
                return chunk;
            }
        }
        all_acknowledged &= file.acknowledged >= file.sent;
    }
    if (!ended() || !all_acknowledged) {
        return std::optional<fleet::Chunk>();
    }
    all_there_ = !info_acknowledged_.empty() && info_acknowledged_ == info_sent_ && info_is_last_;
    return all_there_ || info_is_last_ ? std::optional<fleet::Chunk>() : info_chunk();
}

// The last one says that all is there; until then readers are told that it is being recorded, whatever became of the recorder.
Result<std::optional<fleet::Chunk>> HeldSession::info_chunk() {
    info_is_last_ = ended() && !info_sent_.empty();
    TRY(info_sent_, base::read_file(trace_ + "/trace.json", kTraceInfoBytesMax));
    if (!info_is_last_) {
        TRY(trace::TraceInfo info, trace::parse_trace_info(info_sent_));
        info.state = trace::TraceState::kRecording;
        info_sent_ = trace::to_json(info);
    }
    fleet::Chunk chunk;
    chunk.set_session(id_);
    chunk.set_file("trace.json");
    chunk.set_data(info_sent_);
    chunk.set_checksum(trace::checksum(base::bytes_of(info_sent_)));
    chunk.set_whole(true);
    return std::optional<fleet::Chunk>(std::move(chunk));
}

Result<std::optional<fleet::Chunk>> HeldSession::chunk_of(const std::string& name,
                                                          File& file,
                                                          bool grows) {
    TRY(const base::Fd descriptor, base::open_file(trace_ + "/" + name, O_RDONLY));
    TRY(const std::uint64_t size, base::file_size(descriptor));
    file.is_sent = !grows && file.sent > 0 && file.sent >= size;
    if (file.sent >= size) {
        return std::optional<fleet::Chunk>();
    }
    std::string data(std::min<std::uint64_t>(kChunkBytesMax, size - file.sent), 0);
    TRY(const std::size_t read,
        base::read_up_to_at(
            descriptor, std::as_writable_bytes(std::span(data.data(), data.size())), file.sent));
    data.resize(read);
    fleet::Chunk chunk;
    chunk.set_session(id_);
    chunk.set_file(name);
    chunk.set_offset(file.sent);
    chunk.set_checksum(trace::checksum(base::bytes_of(data)));
    chunk.set_data(std::move(data));
    note_begun(name);
    file.sent += read;
    return std::optional<fleet::Chunk>(std::move(chunk));
}

void HeldSession::acknowledge(const std::string& name, std::uint64_t size) {
    if (name == "trace.json") {  // perhaps of the one before the last
        info_acknowledged_ = size == info_sent_.size() ? info_sent_ : info_acknowledged_;
        return;
    }
    File& file = files_[name];
    file.acknowledged = std::min(std::max(file.acknowledged, size), file.sent);
    delete_what_arrived();
    give_payload_back();
}

// Its recorder only appends; a file system that cannot make holes keeps it until the session ends.
void HeldSession::give_payload_back() {
    const auto payload = files_.find("payload");
    if (payload == files_.end()) {
        return;
    }
    File& file = payload->second;
    const std::uint64_t until = file.acknowledged / kGiveBackBytes * kGiveBackBytes;
    if (until <= file.given_back) {
        return;
    }
    const auto descriptor = base::open_file(trace_ + "/payload", O_WRONLY);
    if (descriptor.ok()) {
        static_cast<void>(::fallocate(descriptor.value().get(),
                                      FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                      0,
                                      static_cast<off_t>(until)) == 0);
        file.given_back = until;
    }
}

// Where a file is acknowledged as far as it was sent, the disk says whether that is all. The last file comes first: what follows a file says
// whether it grows.
void HeldSession::delete_what_arrived() {
    for (std::size_t i = names_.size(); i-- > 0;) {
        const auto file = files_.find(names_[i]);
        struct stat status {};
        if (file == files_.end() || file->second.acknowledged < file->second.sent ||
            file->second.acknowledged == 0 || !names_[i].starts_with(kSegmentPrefix) || grows(i) ||
            ::stat((trace_ + "/" + names_[i]).c_str(), &status) != 0) {
            continue;
        }
        if (file->second.acknowledged >= static_cast<std::uint64_t>(status.st_size)) {
            ::unlink((trace_ + "/" + names_[i]).c_str());
            files_.erase(file);
            names_.erase(names_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
}

void HeldSession::again(const fleet::Again& again, std::int64_t now_ns) {
    if (again.file() == "trace.json") {
        info_sent_.clear();
    } else {
        File& file = files_[again.file()];
        file.sent = again.size();
        file.is_sent = false;
        file.acknowledged = std::min(file.acknowledged, again.size());
    }
    if (again.pause_ms() > 0) {
        paused_until_ns_ = now_ns + std::int64_t{again.pause_ms()} * kNsPerMs;
    }
}

std::uint64_t HeldSession::in_flight() const {
    std::uint64_t bytes = 0;
    for (const auto& [name, file] : files_) {
        bytes += file.sent - file.acknowledged;
    }
    return bytes;
}

// Before it is sent, and into room that the file has already: a full disk does not stop the shipping that empties it.
void HeldSession::note_begun(const std::string& file) {
    std::uint64_t number = 0;
    if (file.starts_with(kSegmentPrefix)) {
        std::from_chars(file.data() + kSegmentPrefix.size(), file.data() + file.size(), number);
    }
    if (number <= begun_) {
        return;
    }
    begun_ = number;
    const auto descriptor = base::open_file(folder_ + "/begun", O_WRONLY);
    const Result<void> written =
        descriptor.ok()
            ? base::write_all(descriptor.value(), base::bytes_of(fmt::format("{:020}", number)))
            : descriptor.error();
    static_cast<void>(written.ok());
}

// Where it cannot be read, nothing may be thinned.
void HeldSession::read_begun() {
    const auto text = base::read_file(folder_ + "/begun", 64);
    begun_ = UINT64_MAX;
    if (text.ok()) {
        std::from_chars(text.value().data(), text.value().data() + text.value().size(), begun_);
    }
}

Result<std::optional<std::uint64_t>> HeldSession::drop_oldest_events() {
    TRY(trace::TraceFolder folder, trace::TraceFolder::open(trace_));
    TRY(trace::SegmentList list, folder.list());
    if (!ended() && !list.recorded.empty()) {
        list.recorded.pop_back();  // it grows
    }
    const auto oldest =
        std::find_if(list.recorded.begin(), list.recorded.end(), [&](std::uint64_t number) {
            return number > begun_ && !thinned_.contains(number);
        });
    if (oldest == list.recorded.end()) {
        return std::optional<std::uint64_t>();
    }
    thinned_.insert(*oldest);
    TRY(const std::uint64_t lost,
        trace::thin_segment(folder, *oldest, schema::GapReason::kSpoolFull));
    return std::optional<std::uint64_t>(lost);
}

void HeldSession::forget() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

}  // namespace dyetrace::transport
