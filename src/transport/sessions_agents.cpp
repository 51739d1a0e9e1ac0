// The part of Sessions that listens to agents.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "trace/codec.h"
#include "trace/segment_format.h"
#include "trace/trace_info.h"
#include "transport/limits.h"
#include "transport/session_file.h"
#include "transport/sessions.h"

namespace dyetrace::transport {
namespace {

bool is_over(fleet::Phase phase) {
    return phase == fleet::ENDED || phase == fleet::FAILED || phase == fleet::LOST;
}

}  // namespace

std::string refuse_hello(const fleet::Hello& hello) {
    if (hello.protocol() != kProtocolVersion) {
        return fmt::format(
            "the agent of '{}' ({}) speaks protocol {} and this collector {}: use "
            "the same dyetrace on both",
            hello.host(),
            hello.program(),
            hello.protocol(),
            kProtocolVersion);
    }
    if (hello.trace_format() > trace::kFormatVersion) {
        return fmt::format(
            "the agent of '{}' ({}) writes traces of format {} and this collector "
            "reads up to {}: use a newer collector",
            hello.host(),
            hello.program(),
            hello.trace_format(),
            trace::kFormatVersion);
    }
    return is_plain_name(hello.host())
               ? ""
               : "a host's name has up to 64 letters, digits, '.', '_' and '-'";
}

void Sessions::connect(const std::string& host, const fleet::Hello& hello) {
    connected_.insert(host);
    boot_ids_[host] = hello.boot_id();
    fleet::ToAgent welcome;
    welcome.set_welcome(true);
    send_(host, welcome);
    for (const std::string& id : hello.sessions()) {
        resume(host, id);
    }
    for (auto& [id, session] : sessions_) {
        if (session.is_over()) {
            continue;
        }
        const bool named = std::find(hello.sessions().begin(), hello.sessions().end(), id) !=
                           hello.sessions().end();
        const auto part = session.parts.find(host);
        if (part != session.parts.end() && !named && !is_over(part->second.phase)) {
            part->second.phase = fleet::LOST;
            part->second.text = "its agent came back without what it had recorded";
            if (part->second.folder) {
                part->second.folder->release();
            }
            note(session);
        } else {
            let_join(session, host);
        }
    }
}

// Answers about a session that does not go on here: an agent deletes what is whole here, and keeps what nobody knows. Before it deletes, it
// is written down that all is here: a collector that comes back would take the host for one that lost it.
void Sessions::dismiss(const std::string& host, const std::string& id) {
    fleet::ToAgent message;
    if (part_of(id, host) == nullptr) {
        message.set_unknown(id);
        return send_(host, message);
    }
    message.set_forget(id);
    Session& session = *find(id);
    if (session.unsaved) {
        session.once_saved.emplace_back(host, std::move(message));
    } else {
        send_(host, message);
    }
}

void Sessions::disconnect(const std::string& host) {
    connected_.erase(host);
}

// Where its copy of each file ends: the agent goes on there.
void Sessions::resume(const std::string& host, const std::string& id) {
    Part* const part = part_of(id, host);
    if (part == nullptr || is_over(part->phase)) {
        return dismiss(host, id);
    }
    fleet::ToAgent message;
    fleet::Resume& resume = *message.mutable_resume();
    resume.set_session(id);
    resume.set_stop(find(id)->phase >= SessionPhase::kStopping);
    if (part->folder) {
        const auto files = part->folder->durable_sizes();
        if (!files.ok()) {
            log_.warn(files.error().text());
            return;  // the agent asks again when it connects again
        }
        for (const Arrived& arrived : files.value()) {
            fleet::FileSize& file = *resume.add_files();
            file.set_file(arrived.file);
            file.set_size(arrived.size);
        }
    }
    send_(host, message);
}

void Sessions::take(const std::string& host, const fleet::Status& status) {
    Session* const session = find(status.session());
    Part* const part = part_of(status.session(), host);
    if (part == nullptr || is_over(part->phase)) {
        return dismiss(host, status.session());
    }
    if (!fleet::Phase_IsValid(
            status.phase())) {  // a number that session.json could not be read with again
        log_.warn(fmt::format("{} says a state that this collector does not know", host));
        return;
    }
    part->phase = status.phase();
    part->text = base::beginning(status.text(), kStatusTextBytesMax);
    if (is_over(part->phase)) {
        if (part->folder) {
            part->folder->release();
            part->folder.reset();
        }
    }
    // one that came late begins at once
    if (part->phase == fleet::READY && session->phase == SessionPhase::kRecording) {
        fleet::ToAgent message;
        message.set_go(session->id);
        send_(host, message);
    }
    const bool is_starting = session->phase == SessionPhase::kStarting;  // nothing counts yet
    session->unsaved |= !is_starting;
    if (is_over(part->phase)) {
        dismiss(host, session->id);
    }
    if (!is_starting) {
        note(*session);
    }
    end_when_done(*session);
}

void Sessions::take(const std::string& host, const fleet::Chunk& chunk) {
    Session* const session = find(chunk.session());
    Part* const part = part_of(chunk.session(), host);
    if (part == nullptr || is_over(part->phase)) {
        return dismiss(host, chunk.session());
    }
    const auto data = base::bytes_of(chunk.data());
    if (data.size() > kChunkBytesMax || !(chunk.whole() || is_growing_file(chunk.file()))) {
        return send_again(*part,
                          chunk,
                          Error(ErrorCode::kInvalidArgument,
                                fmt::format("'{}' is no file of a trace", chunk.file())),
                          true);
    }
    if (trace::checksum(data) != chunk.checksum()) {
        log_.warn(fmt::format(
            "{}: a chunk of {} was damaged on its way and is sent again", host, chunk.file()));
        return send_again(*part, chunk, Error(ErrorCode::kCorrupt, "damaged on its way"), false);
    }
    if (const Result<void> stored = store(*part, *session, chunk); !stored.ok()) {
        log_.warn(stored.error().text());
        send_again(*part, chunk, stored.error(), true);
    }
}

Result<void> Sessions::store(Part& part, const Session& session, const fleet::Chunk& chunk) {
    if (!part.folder) {
        TRY(part.folder, PartFolder::open(session.trace->part_path(part.index)));
    }
    part.has_trace = true;
    part.bytes += chunk.data().size();
    if (chunk.whole()) {
        return store_info(part, chunk);
    }
    TRY(const std::uint64_t size,
        part.folder->append(chunk.file(), chunk.offset(), base::bytes_of(chunk.data())));
    if (size < chunk.offset()) {
        // of all that follow a chunk that was refused, the first asks
        if (const auto asked = part.asked_again.find(chunk.file());
            asked == part.asked_again.end() || asked->second != size) {
            send_again(
                part, chunk, Error(ErrorCode::kCorrupt, "bytes before it are missing"), false);
        }
    }
    return {};
}

Result<void> Sessions::store_info(Part& part, const fleet::Chunk& chunk) {
    TRY(const trace::TraceInfo info, trace::parse_trace_info(chunk.data()));
    if (chunk.file() != "trace.json" || info.hosts.size() != 1 ||
        info.hosts.front().index != part.index) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("what {} sent is not its trace.json", part.host));
    }
    return part.folder->replace_info(chunk.data());
}

void Sessions::send_again(const Part& part,
                          const fleet::Chunk& chunk,
                          const Error& why,
                          bool pause) {
    fleet::ToAgent message;
    fleet::Again& again = *message.mutable_again();
    again.set_session(chunk.session());
    again.set_file(chunk.file());
    again.set_reason(why.text());
    again.set_pause_ms(pause ? kFullDiskPauseMs : 0);
    Part* const kept = part_of(chunk.session(), part.host);
    if (kept->folder && is_growing_file(chunk.file())) {
        const auto size = kept->folder->size_of(chunk.file());
        again.set_size(size.ok() ? size.value() : 0);
        kept->asked_again[chunk.file()] = again.size();
    }
    send_(part.host, message);
}

std::vector<UnsyncedFile> Sessions::take_unsynced() {
    std::vector<UnsyncedFile> files;
    for (auto& [id, session] : sessions_) {
        for (auto& [host, part] : session.parts) {
            if (!part.folder) {
                continue;
            }
            for (Unsynced& file : part.folder->take_unsynced()) {
                files.push_back({id, host, std::move(file)});
            }
        }
    }
    return files;
}

void Sessions::put_in_place(std::vector<UnsyncedFile>& synced) {
    std::erase_if(synced, [this](const UnsyncedFile& file) {
        Part* const part = part_of(file.session, file.host);
        return file.file.draft > 0 &&
               (part == nullptr || !part->folder || !part->folder->put_info(file.file.draft));
    });
}

void Sessions::acknowledge(const UnsyncedFile& file) {
    if (Part* const part = part_of(file.session, file.host); part != nullptr && part->folder) {
        part->folder->synced(file.file);
    }
    fleet::ToAgent message;
    fleet::Acknowledged& acknowledged = *message.mutable_acknowledged();
    acknowledged.set_session(file.session);
    acknowledged.set_file(file.file.file);
    acknowledged.set_size(file.file.size);
    send_(file.host, message);
}

}  // namespace dyetrace::transport
