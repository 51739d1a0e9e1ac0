// Any messages, as agents and operators may send them, in any order, between ticks and deaths of the collector: nothing of it ends the
// collector, answers fit into messages, what was acknowledged is on the disk, and a session of which something has arrived is known after a restart.

#include <fcntl.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "base/byte_script.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory_folder.h"
#include "trace/codec.h"
#include "transport/limits.h"
#include "transport/sessions.h"

namespace dyetrace::transport {
namespace {

class Collector {
  public:
    Collector() { restart(); }

    void run(base::ByteScript script) {
        while (!script.at_end()) {
            step(script);
        }
        restart();
    }

  private:
    void step(base::ByteScript& script) {
        const std::string host = script.number() % 2 == 0 ? "a" : "b";
        switch (script.number() % 7) {
            case 0:
            case 1:
                return hear(host, script.piece());
            case 2:
                return begin(script.piece());
            case 3:
                static_cast<void>(sessions_->stop(id_).ok());
                return;
            case 4:
                sessions_->tick(base::boot_time_ns() +
                                script.number() * std::int64_t{1'000'000'000});
                return look();
            case 5:
                return make_durable();
            default:
                return restart();
        }
    }

    void hear(const std::string& host, std::string_view bytes) {
        fleet::FromAgent message;
        if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
            return;
        }
        if (message.has_hello()) {
            message.mutable_hello()->set_host(host);
            message.mutable_hello()->set_protocol(kProtocolVersion);
            for (std::string& session : *message.mutable_hello()->mutable_sessions()) {
                session = session.empty() ? id_ : session;
            }
            if (refuse_hello(message.hello()).empty()) {
                sessions_->connect(host, message.hello());
            }
        } else if (!sessions_->is_connected(host)) {
            return;  // the collector hears nobody who has not said hello
        } else if (message.has_status()) {
            if (message.status().session().empty()) {
                message.mutable_status()->set_session(id_);
            }
            sessions_->take(host, message.status());
        } else if (message.has_chunk()) {
            fleet::Chunk& chunk = *message.mutable_chunk();
            if (chunk.session().empty()) {
                chunk.set_session(id_);
            }
            if (chunk.checksum() % 2 == 0) {
                chunk.set_checksum(trace::checksum(base::bytes_of(chunk.data())));
            }
            sessions_->take(host, chunk);
        } else {
            sessions_->disconnect(host);
        }
    }

    void begin(std::string_view bytes) {
        fleet::RecordRequest request;
        if (request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
            if (const auto begun = sessions_->begin(request); begun.ok()) {
                id_ = begun.value();
            }
        }
    }

    // What the collector's loop does every kAcknowledgeMs.
    void make_durable() {
        std::vector<UnsyncedFile> files = sessions_->take_unsynced();
        sessions_->put_in_place(files);
        for (const UnsyncedFile& file : files) {
            CHECK(base::file_size(file.file.descriptor).value() >= file.file.size);
            sessions_->acknowledge(file);
        }
    }

    void look() {
        CHECK(sessions_->all().ByteSizeLong() <= kMessageBytesMax);
        if (const Session* const session = sessions_->find(id_); session != nullptr) {
            CHECK(sessions_->progress(*session).ByteSizeLong() <= kMessageBytesMax);
        }
    }

    void restart() {
        const bool is_to_be_known = counts();
        sessions_.reset();
        sessions_ = std::make_unique<Sessions>(
            folder_.path(),
            [](const std::string&, const fleet::ToAgent& message) {
                CHECK(message.ByteSizeLong() <= kMessageBytesMax);
            },
            [](const std::string&) {},
            log_);
        sessions_->load().value();
        CHECK(!is_to_be_known || sessions_->find(id_) != nullptr);
    }

    // Something of it has arrived.
    bool counts() const {
        const Session* const session = sessions_ == nullptr ? nullptr : sessions_->find(id_);
        return session != nullptr &&
               std::any_of(session->parts.begin(), session->parts.end(), [](const auto& entry) {
                   return entry.second.has_trace;
               });
    }

    base::TemporaryFolder folder_ = base::memory_folder();
    base::Fd silence_ = base::open_file("/dev/null", O_WRONLY).value();
    base::Log log_{silence_.get(), false};
    std::unique_ptr<Sessions> sessions_;
    std::string id_;
};

}  // namespace
}  // namespace dyetrace::transport

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    google::protobuf::SetLogHandler(nullptr);  // text that is no UTF-8 is refused without a word
    dyetrace::transport::Collector().run({data, size});
    return 0;
}
