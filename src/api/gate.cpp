#include "api/gate.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace dyetrace::api {
namespace {

using Clock = Connection::Clock;

constexpr int kBacklog = 128;
constexpr std::chrono::milliseconds kLeavingMax{2'000};  // until whoever was refused has read why
constexpr std::chrono::milliseconds kWriteMax{10'000};   // for one piece of an answer
constexpr std::chrono::milliseconds kLookForLateEvery{500};  // who has waited for too long

int milliseconds_until(Clock::time_point until) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    return static_cast<int>(std::clamp<long long>(left.count(), 0, 1 << 30));
}

}  // namespace

bool Connection::wait_for(short events, Clock::time_point until) const {
    for (;;) {
        pollfd poll{socket_.get(), events, 0};
        const int ready = ::poll(&poll, 1, milliseconds_until(until));
        if (ready >= 0 || errno != EINTR) {
            return ready > 0;
        }
    }
}

bool Connection::is_readable() const {
    return !buffer_.empty() || wait_for(POLLIN, until_);
}

bool Connection::is_writable() const {
    return wait_for(POLLOUT, Clock::now() + kWriteMax);
}

ssize_t Connection::read(char* bytes, std::size_t size) {
    while (buffer_.empty()) {
        if (!wait_for(POLLIN, until_) || !take()) {
            return -1;
        }
    }
    const std::size_t taken = buffer_.copy(bytes, size);
    buffer_.erase(0, taken);
    return static_cast<ssize_t>(taken);
}

ssize_t Connection::write(const char* bytes, std::size_t size) {
    for (;;) {
        const ssize_t written = ::send(socket_.get(), bytes, size, MSG_NOSIGNAL);
        if (written >= 0 || (errno != EINTR && errno != EAGAIN)) {
            return written;
        }
        if (errno == EAGAIN && !is_writable()) {
            return -1;
        }
    }
}

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
    ip.clear();
    port = socket_.get();
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
    ip.clear();
    port = 0;
}

bool Connection::take() {
    char bytes[kHeadBytesMax];
    const ssize_t size = ::recv(socket_.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (size <= 0) {
        return size < 0 && (errno == EAGAIN || errno == EINTR);
    }
    buffer_.append(bytes, static_cast<std::size_t>(size));
    return true;
}

std::size_t Connection::head_bytes() const {
    constexpr std::string_view kEmptyLine = "\r\n\r\n";
    const std::size_t at = buffer_.find(kEmptyLine);
    return at == std::string::npos ? 0 : at + kEmptyLine.size();
}

Gate::Gate(const GateOptions& options, Judge judge, Serve serve)
    : options_(options), judge_(std::move(judge)), serve_(std::move(serve)) {}

Result<std::unique_ptr<Gate>> Gate::open(const GateOptions& options, Judge judge, Serve serve) {
    std::unique_ptr<Gate> gate(new Gate(options, std::move(judge), std::move(serve)));
    TRY(gate->listen().with_context(
        fmt::format("listening on {}:{}", options.address, options.port)));
    gate->watching_ = std::thread([of = gate.get()] { of->watch(); });
    for (std::size_t i = 0; i < options.threads; ++i) {
        gate->serving_.emplace_back([of = gate.get()] { of->serve_all(); });
    }
    return gate;
}

Result<void> Gate::listen() {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const std::string port = std::to_string(options_.port);
    if (::getaddrinfo(options_.address.c_str(), port.c_str(), &hints, &found) != 0) {
        return Error(ErrorCode::kInvalidArgument, "it is no address");
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, &::freeaddrinfo);
    listening_ = base::Fd(
        ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
    wake_ = base::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    const int yes = 1;
    sockaddr_storage bound{};
    socklen_t size = sizeof(bound);
    if (!listening_.valid() || !wake_.valid() ||
        ::setsockopt(listening_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
        ::bind(listening_.get(), found->ai_addr, found->ai_addrlen) != 0 ||
        ::listen(listening_.get(), kBacklog) != 0 ||
        ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
        return Error::from_errno(errno, "opening a port");
    }
    port_ = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                              : reinterpret_cast<sockaddr_in&>(bound).sin_port);
    return {};
}

Gate::~Gate() {
    is_ending_ = true;
    admitted_.close();
    if (watching_.joinable()) {
        wake();
        watching_.join();
    }
    for (std::thread& thread : serving_) {
        thread.join();
    }
}

void Gate::wake() {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(wake_.get(), &one, sizeof(one)));  // full: it is awake
}

void Gate::watch() {
    while (!is_ending_) {
        std::vector<pollfd> polls{{listening_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
        for (const auto& connection : waiting_) {
            polls.push_back({connection->socket(), POLLIN, 0});
        }
        if (::poll(polls.data(), polls.size(), static_cast<int>(kLookForLateEvery.count())) > 0) {
            for (std::size_t i = 2; i < polls.size(); ++i) {
                if (polls[i].revents != 0) {
                    look_at(waiting_[i - 2]);
                }
            }
            std::erase(waiting_, nullptr);
        }
        close_late();
        if ((polls[1].revents & POLLIN) != 0) {
            take_back();
        }
        if ((polls[0].revents & POLLIN) != 0) {
            accept_new();
        }
    }
}

// One a turn: of the next ones the kernel keeps as many as it may.
void Gate::accept_new() {
    base::Fd socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) {
        return;
    }
    // Or an answer's body waits 40 ms for its head to be acknowledged.
    const int yes = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (waiting_.size() >= kConnectionsMax) {
        // Whoever was served once has the token; of the others the one that came first.
        const auto least = std::ranges::min_element(waiting_, {}, [](const auto& each) {
            return std::pair(each->was_served_, each->until_);
        });
        waiting_.erase(least);
    }
    waiting_.push_back(std::make_unique<Connection>(std::move(socket)));
    waiting_.back()->until_ = Clock::now() + options_.head_max;
}

void Gate::take_back() {
    std::uint64_t times = 0;
    static_cast<void>(!::read(wake_.get(), &times, sizeof(times)));
    std::vector<std::unique_ptr<Connection>> served;
    {
        const base::MutexLock lock(mutex_);
        served.swap(served_);
    }
    for (std::unique_ptr<Connection>& connection : served) {
        connection->until_ = Clock::now() + options_.idle_max;
        waiting_.push_back(std::move(connection));
        if (!waiting_.back()->buffer_.empty()) {
            look_at(waiting_.back());  // asked before it had its answer
        }
    }
    std::erase(waiting_, nullptr);
}

void Gate::look_at(std::unique_ptr<Connection>& connection) {
    const bool begins = connection->buffer_.empty();
    const bool goes_on = connection->take();
    if (connection->state_ == Connection::State::kLeaving) {
        connection->buffer_.clear();
    } else if (goes_on || connection->head_bytes() > 0) {
        return look_at_head(connection, begins);
    }
    if (!goes_on) {
        connection = nullptr;
    }
}

void Gate::look_at_head(std::unique_ptr<Connection>& connection, bool begins) {
    if (begins && connection->was_served_) {
        connection->until_ = Clock::now() + options_.head_max;
    }
    const std::size_t head = connection->head_bytes();
    if (head == 0 && connection->buffer_.size() > kHeadBytesMax) {
        return refuse(*connection, 431);
    }
    if (head == 0) {
        return;
    }
    if (const int status = judge_(std::string_view(connection->buffer_).substr(0, head));
        status != 0) {
        return refuse(*connection, status);
    }
    connection->until_ = Clock::now() + options_.body_max;
    connection->was_served_ = true;
    if (!admitted_.try_push(connection)) {
        return refuse(*connection, 503);
    }
    connection = nullptr;
}

// Whoever is still sending would lose the answer if it were closed at once.
void Gate::refuse(Connection& connection, int status) {
    const std::string answer = fmt::format(
        "HTTP/1.1 {} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status);
    static_cast<void>(
        ::send(connection.socket(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    ::shutdown(connection.socket(), SHUT_WR);
    connection.buffer_.clear();
    connection.state_ = Connection::State::kLeaving;
    connection.was_served_ = false;
    connection.until_ = Clock::now() + kLeavingMax;
}

void Gate::close_late() {
    std::erase_if(waiting_, [now = Clock::now()](const auto& each) { return now > each->until_; });
}

void Gate::serve_all() {
    while (std::optional<std::unique_ptr<Connection>> next = admitted_.pop()) {
        if (!serve_(**next) || is_ending_) {
            continue;
        }
        {
            const base::MutexLock lock(mutex_);
            served_.push_back(std::move(*next));
        }
        wake();
    }
}

}  // namespace dyetrace::api
