// Any messages of a collector to an agent that holds a session: none of it ends the agent, what it sends is in its files, and what is not
// acknowledged as sent stays in the spool.

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/byte_script.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory_folder.h"
#include "trace/codec.h"
#include "trace/segment_fixture.h"
#include "transport/held_session.h"
#include "transport/limits.h"

namespace dyetrace::transport {
namespace {

// A recording of two segments that has ended.
void make_trace(const std::string& folder) {
    base::make_folders(folder).value();
    trace::TraceFolder trace =
        trace::TraceFolder::create(folder + "/trace", trace::info_of_one_host()).value();
    for (const char* const name : {"segment-000001.seg", "segment-000002.seg", "payload"}) {
        base::write_file_atomically(folder + "/trace/" + name, std::string(270'000, name[0]))
            .value();
    }
    base::write_file_atomically(folder + "/begun", "00000000000000000000").value();
    trace.finish().value();
}

void hear(HeldSession& session, std::string_view bytes) {
    fleet::ToAgent message;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return;
    }
    if (message.has_resume()) {
        session.resume(message.resume());
    } else if (message.has_acknowledged()) {
        session.acknowledge(message.acknowledged().file(), message.acknowledged().size());
    } else if (message.has_again()) {
        message.mutable_again()->set_pause_ms(0);
        session.again(message.again(), base::monotonic_time_ns());
    } else {
        session.disconnect();
    }
}

void send(HeldSession& session, const std::string& folder) {
    const auto chunk = session.next_chunk();
    if (!chunk || chunk->whole()) {
        return;
    }
    const std::string file = base::read_file(folder + "/trace/" + chunk->file(), 1 << 20).value();
    CHECK(chunk->data().size() <= kChunkBytesMax);
    CHECK(file.compare(chunk->offset(), chunk->data().size(), chunk->data()) == 0);
    CHECK(chunk->checksum() == trace::checksum(base::bytes_of(chunk->data())));
}

}  // namespace
}  // namespace dyetrace::transport

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    google::protobuf::SetLogHandler(nullptr);  // text that is no UTF-8 is refused without a word
    using namespace dyetrace;
    static const auto kFolder = base::memory_folder();
    const std::string folder = kFolder.path() + "/s";
    std::filesystem::remove_all(folder);
    transport::make_trace(folder);
    auto session = transport::HeldSession::adopt(folder, "s");
    for (base::ByteScript script(data, size); !script.at_end();) {
        if (script.number() % 2 == 0) {
            transport::hear(session, script.piece());
        } else {
            static_cast<void>(session.look());
            transport::send(session, folder);
            static_cast<void>(session.in_flight());
        }
    }
    return 0;
}
