// Who waits at the door: connections, until what they ask stands whole in their first lines and may be asked.
//
//   accept ──► waits: its head is not whole ──► judged ──► served, on one of several threads ──► waits again
//                │ for longer than it may          │ refused: a status, then closed
//                ▼ closed                          ▼
//
// Waiting costs a descriptor, not a thread: whoever lacks the token, and sends half a request or a byte a second, is in nobody's way. Of too
// many the one that has said nothing whole for longest is closed.
//
// Limits: kConnectionsMax, kHeadBytesMax, and times in GateOptions.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"
#include "base/fd.h"
#include "base/result.h"
#include "base/thread_annotations.h"

namespace dyetrace::api {

inline constexpr std::size_t kConnectionsMax = 256;  // a browser has six
inline constexpr std::size_t kHeadBytesMax = 16 << 10;

struct GateOptions {
    std::string address;
    std::uint16_t port = 0;  // 0: any that is free
    std::size_t threads = 16;
    std::chrono::milliseconds head_max{
        10'000};  // from a request's first byte, or the connection's begin, to its empty line
    std::chrono::milliseconds idle_max{60'000};  // between requests
    std::chrono::milliseconds body_max{30'000};  // of one that was let in
};

// What httplib reads a request from and writes its answer to. Thread: one at a time.
class Connection : public httplib::Stream {
  public:
    using Clock = std::chrono::steady_clock;

    explicit Connection(base::Fd socket) : socket_(std::move(socket)) {}

    bool is_readable() const override;
    bool is_writable() const override;
    ssize_t read(char* bytes, std::size_t size) override;
    ssize_t write(const char* bytes, std::size_t size) override;
    // As the port the number of the socket: httplib hands that on to whoever answers, and only that.
    void get_remote_ip_and_port(std::string& ip, int& port) const override;
    void get_local_ip_and_port(std::string& ip, int& port) const override;
    socket_t socket() const override { return socket_.get(); }

  private:
    friend class Gate;
    enum class State : std::uint8_t { kWaiting, kLeaving };

    bool wait_for(short events, Clock::time_point until) const;
    bool take();                     // what has come; false: its end
    std::size_t head_bytes() const;  // with its empty line; 0: it is not whole

    base::Fd socket_;
    std::string buffer_;       // came, and nobody read it yet
    Clock::time_point until_;  // closed if nothing is whole by then
    State state_ = State::kWaiting;
    bool was_served_ = false;
};

class Gate {
  public:
    // The head of a request to 0, it may be asked, or a status of HTTP.
    using Judge = std::function<int(std::string_view head)>;
    // Answers one request. False: the connection ends.
    using Serve = std::function<bool(Connection& connection)>;

    static Result<std::unique_ptr<Gate>> open(const GateOptions& options, Judge judge, Serve serve);
    // Waits for what is being served.
    ~Gate();

    std::uint16_t port() const { return port_; }

  private:
    Gate(const GateOptions& options, Judge judge, Serve serve);
    Result<void> listen();
    void watch();
    void accept_new();
    void take_back();
    // Both leave nothing where it is gone, or is another's.
    void look_at(std::unique_ptr<Connection>& connection);
    void look_at_head(std::unique_ptr<Connection>& connection, bool begins);
    void refuse(Connection& connection, int status);
    void close_late();
    void serve_all();
    void wake();

    const GateOptions options_;
    const Judge judge_;
    const Serve serve_;
    std::uint16_t port_ = 0;
    base::Fd listening_, wake_;
    std::atomic<bool> is_ending_ = false;
    std::vector<std::unique_ptr<Connection>> waiting_;  // of the thread that watches
    base::BoundedQueue<std::unique_ptr<Connection>> admitted_{kConnectionsMax};
    base::Mutex mutex_;
    std::vector<std::unique_ptr<Connection>> served_ GUARDED_BY(mutex_);  // to wait again
    std::thread watching_;
    std::vector<std::thread> serving_;
};

}  // namespace dyetrace::api
