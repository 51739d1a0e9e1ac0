#include "transport/agent_link.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <thread>
#include <utility>

#include "base/thread_annotations.h"
#include "transport/credentials.h"
#include "transport/fleet.grpc.pb.h"
#include "transport/limits.h"

namespace dyetrace::transport {
namespace {

constexpr std::size_t kQueuedMax = 16;      // chunks: 4 MiB
constexpr std::size_t kReceivedMax = 4096;  // more than a collector has to say between two looks

}  // namespace

class AgentLink::Stream final : public grpc::ClientBidiReactor<fleet::FromAgent, fleet::ToAgent> {
  public:
    Stream(std::shared_ptr<grpc::Channel> channel, fleet::FromAgent hello)
        : channel_(std::move(channel)), stub_(fleet::Fleet::NewStub(channel_)) {
        stub_->async()->Serve(&context_, this);
        {
            const base::MutexLock lock(mutex_);
            outgoing_.push_back(std::move(hello));
            StartWrite(&outgoing_.front());
        }
        AddHold();  // until the destructor: no operation begins after the end was reported
        StartRead(&incoming_);
        StartCall();
    }
    ~Stream() override {
        context_.TryCancel();
        static_cast<void>(end());
    }

    // The collector's last word. No operation begins after this.
    grpc::Status end() {
        if (std::exchange(held_, false)) {
            RemoveHold();
        }
        const base::MutexLock lock(mutex_);
        while (!status_) {
            changed_.wait(mutex_);
        }
        return *status_;
    }

    bool is_open() const {
        const base::MutexLock lock(mutex_);
        return !broken_;
    }
    bool has_room() const {
        const base::MutexLock lock(mutex_);
        return !broken_ && outgoing_.size() < kQueuedMax;
    }
    void send(fleet::FromAgent message) {
        const base::MutexLock lock(mutex_);
        outgoing_.push_back(std::move(message));
        if (outgoing_.size() == 1 && !broken_) {
            StartWrite(&outgoing_.front());
        }
    }
    std::vector<fleet::ToAgent> take_received() {
        const base::MutexLock lock(mutex_);
        return std::exchange(received_, {});
    }
    void wait(int milliseconds) const {
        const base::MutexLock lock(mutex_);
        if (received_.empty() && !broken_) {
            changed_.wait_for(mutex_, std::chrono::milliseconds(milliseconds));
        }
    }

    void OnReadDone(bool ok) override {
        const base::MutexLock lock(mutex_);
        if (received_.size() >= kReceivedMax) {
            context_.TryCancel();
        }
        if (!ok || received_.size() >= kReceivedMax) {
            return fail();
        }
        received_.push_back(std::move(incoming_));
        incoming_.Clear();
        StartRead(&incoming_);
        changed_.notify_all();
    }
    void OnWriteDone(bool ok) override {
        const base::MutexLock lock(mutex_);
        outgoing_.pop_front();
        if (!ok) {
            return fail();
        }
        if (!outgoing_.empty() && !broken_) {
            StartWrite(&outgoing_.front());
        }
        changed_.notify_all();
    }
    void OnDone(const grpc::Status& status) override {
        const base::MutexLock lock(mutex_);
        status_ = status;
        broken_ = true;
        changed_.notify_all();
    }

  private:
    void fail() REQUIRES(mutex_) {
        broken_ = true;
        changed_.notify_all();
    }

    std::shared_ptr<grpc::Channel> channel_;
    std::unique_ptr<fleet::Fleet::Stub> stub_;
    grpc::ClientContext context_;
    fleet::ToAgent incoming_;
    mutable base::Mutex mutex_;
    mutable std::condition_variable_any changed_;
    std::deque<fleet::FromAgent> outgoing_ GUARDED_BY(mutex_);  // the first is being written
    std::vector<fleet::ToAgent> received_ GUARDED_BY(mutex_);
    std::optional<grpc::Status> status_ GUARDED_BY(mutex_);
    bool broken_ GUARDED_BY(mutex_) = false;
    bool held_ = true;  // by AddHold(); of the caller's thread
};

AgentLink::AgentLink(std::string address, Security security)
    : address_(std::move(address)), security_(std::move(security)) {}
AgentLink::AgentLink(AgentLink&&) noexcept = default;
AgentLink::~AgentLink() = default;

Result<void> AgentLink::open(fleet::FromAgent hello) {
    stream_.reset();
    TRY(auto channel, connect(address_, security_));
    stream_ = std::make_unique<Stream>(std::move(channel), std::move(hello));
    return {};
}

bool AgentLink::is_open() const {
    return stream_ != nullptr && stream_->is_open();
}

std::optional<Error> AgentLink::take_failure() {
    if (stream_ == nullptr || stream_->is_open()) {
        return std::nullopt;
    }
    const grpc::Status status = stream_->end();
    stream_.reset();
    return error_of(status, address_);
}

bool AgentLink::has_room() const {
    return stream_ != nullptr && stream_->has_room();
}

void AgentLink::send(fleet::FromAgent message) {
    if (stream_ != nullptr) {
        stream_->send(std::move(message));
    }
}

std::vector<fleet::ToAgent> AgentLink::take_received() {
    return stream_ == nullptr ? std::vector<fleet::ToAgent>() : stream_->take_received();
}

void AgentLink::wait(int milliseconds) const {
    if (is_open()) {
        stream_->wait(milliseconds);
    } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    }
}

}  // namespace dyetrace::transport
