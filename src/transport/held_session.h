// A session on an agent: its recorder, what of its trace is still to be shipped, and what may be deleted.
//
//   spool/20261122T094512-ab12/
//     trace/           the recorder's folder: trace.json, segments, payload
//     recorder.said    its stderr
//     begun            number of the last segment of which something was sent: those up to it must stay as they are
//
//   segment-000003.seg   ████████████████████░░░░░░░░      bytes on disk
//                        acknowledged ▲       ▲ sent
//
// Each file is shipped in order, from where the collector says that its copy ends. A segment that does not grow any more and is
// acknowledged whole is deleted; of the payload, which is one file, the room of what is acknowledged. trace.json goes first, and once more at the very end: it says that the recording is complete.
//
// Limits: one thread. What is sent and not acknowledged is counted by in_flight().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "transport/fleet.pb.h"
#include "transport/recorder.h"

namespace dyetrace::transport {

class HeldSession {
  public:
    static Result<HeldSession> begin(const std::string& folder,
                                     const std::string& id,
                                     RecorderOrder order,
                                     const StartRecorder& start);
    // What an agent before this one left.
    static HeldSession adopt(const std::string& folder, const std::string& id);

    const std::string& id() const { return id_; }
    pid_t recorder() const { return recorder_->pid(); }

    // Looks at the recorder. A status to be sent, if there is news.
    std::optional<fleet::Status> look();
    void go();
    // `reason`: what is said of it if it never began; its recorder knows only that it was stopped.
    void stop(std::string reason = "it was stopped before the recording began") {
        stop_reason_ = std::move(reason);
        recorder_->stop();
    }

    // The connection began, or is gone: nothing is on its way.
    void resume(const fleet::Resume& resume);
    void disconnect();

    // The next piece to send, if there is one.
    std::optional<fleet::Chunk> next_chunk();
    void acknowledge(const std::string& file, std::uint64_t size);
    void again(const fleet::Again& again, std::int64_t now_ns);
    std::uint64_t in_flight() const;
    // The collector has said what it has, and nothing is on its way.
    bool is_in_step() const { return resumed_ && in_flight() == 0; }

    // Gives room back: of the oldest segment that does not grow and of which nothing was ever sent, the events go and a gap stays.
    // How many; nothing if there is no such segment.
    Result<std::optional<std::uint64_t>> drop_oldest_events();

    // Deletes all of it.
    void forget();

  private:
    struct File {
        std::uint64_t sent = 0;
        std::uint64_t acknowledged = 0;
        std::uint64_t given_back = 0;  // of the payload: no room on the disk any more
        bool is_sent = false;          // to its end: it does not grow, and need not be looked at
    };

    HeldSession(const std::string& folder,
                const std::string& id,
                std::unique_ptr<Recorder> recorder)
        : id_(id), folder_(folder), trace_(folder + "/trace"), recorder_(std::move(recorder)) {}

    bool ended() const { return phase_ >= fleet::SHIPPING; }
    fleet::Status status(fleet::Phase phase, std::string text);
    std::string said() const;
    std::string why_it_never_began() const;
    Result<std::optional<fleet::Chunk>> find_chunk();
    Result<std::optional<fleet::Chunk>> info_chunk();
    Result<std::optional<fleet::Chunk>> chunk_of(const std::string& name, File& file, bool grows);
    void look_for_files();
    bool grows(std::size_t name) const;
    void delete_what_arrived();
    void give_payload_back();
    void note_begun(const std::string& file);
    void read_begun();

    std::string id_;
    std::string folder_;
    std::string trace_;
    std::unique_ptr<Recorder> recorder_;
    fleet::Phase phase_ = fleet::PREPARING;
    bool gone_ = false;               // the recorder was told to begin
    std::string stop_reason_;         // empty unless stopped
    bool told_ = false;               // of phase_, on this connection
    bool resumed_ = false;            // the collector said what it has
    bool all_there_ = false;          // and acknowledged
    std::vector<std::string> names_;  // of the files that there are, in the order in which they go
    std::map<std::string, File> files_;
    std::set<std::uint64_t> thinned_;  // segments
    std::uint64_t begun_ = 0;          // as the file says
    std::string info_sent_;
    std::string info_acknowledged_;
    bool info_is_last_ = false;
    std::int64_t paused_until_ns_ = 0;
};

}  // namespace dyetrace::transport
