#include "api/http_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "api/gate.h"
#include "api/request_head.h"
#include "base/file.h"
#include "base/thread_annotations.h"

namespace dyetrace::api {
namespace {

using base::Json;

constexpr std::size_t kServerThreads =
    16;  // more than answers at once: a cancellation must not wait for them
constexpr std::chrono::milliseconds kLookForGoneEvery{50};
constexpr std::size_t kTokenBytes = 16;
constexpr std::size_t kPieceBytes = 1 << 18;  // of a file, read and sent at once
constexpr int kCancelled = 499;  // as nginx calls it: nobody waits for the answer any more

int status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::kInvalidArgument:
        case ErrorCode::kCorrupt:
        case ErrorCode::kUnsupported:
            return 400;
        case ErrorCode::kNotFound:
            return 404;
        case ErrorCode::kInterrupted:
            return kCancelled;
        case ErrorCode::kUnavailable:
            return 503;
        default:
            return 500;
    }
}

// As it is. What set_content() is given httplib compresses for every browser, where it was built with brotli as hard as it can: seconds of
// a processor, on the way to the same machine.
void give(httplib::Response& response, std::string text, const std::string& content_type) {
    const std::size_t size = text.size();
    if (size == 0) {  // there is nothing to provide
        return response.set_content(std::move(text), content_type);
    }
    response.set_content_provider(
        size,
        content_type,
        [text = std::move(text)](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
            return sink.write(text.data() + offset, length);
        });
}

void fail(httplib::Response& response, const Error& error) {
    response.status = status_of(error.code());
    give(response, Json::object().set("error", error.text()).text(), "application/json");
}

// Nothing of it is held in memory; a reader that is slow, or goes, is httplib's to wait for.
void give_derived_file(const Answer& answer, httplib::Response& response) {
    const Result<std::uint64_t> size = base::file_size(*answer.file);
    if (!size.ok()) {
        return fail(response, size.error());
    }
    response.set_content_provider(
        size.value(),
        answer.content_type,
        [file = answer.file](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
            std::vector<std::byte> piece(std::min(length, kPieceBytes));
            const Result<std::size_t> read = base::read_up_to_at(*file, piece, offset);
            return read.ok() && read.value() > 0 &&
                   sink.write(reinterpret_cast<const char*>(piece.data()), read.value());
        });
}

using Clock = std::chrono::steady_clock;

bool has_gone(int socket) {
    pollfd poll{socket, POLLRDHUP, 0};
    return socket >= 0 && ::poll(&poll, 1, 0) == 1;
}

}  // namespace

// What is being answered, by the name that the page gave it, until when, and for whom.
class Running {
  public:
    struct Place {
        std::string name;
        int socket = -1;  // of the asker
        Clock::time_point until;
        std::atomic<bool> cancelled = false;
        bool is_late = false;
    };

    // Stands in the list as long as the lambda runs.
    template <class Make>
    auto while_listed(Place& place, Make&& make) {
        {
            const base::MutexLock lock(mutex_);
            place.cancelled = is_ended_;
            places_.insert(&place);
        }
        auto made = make();
        const base::MutexLock lock(mutex_);
        places_.erase(&place);
        return made;
    }

    void cancel(const std::string& name) {
        cancel_if([&](const Place& place) { return place.name == name; });
    }
    // Whoever has gone waits for nothing: a browser that was closed, a question that was aborted.
    void cancel_gone() {
        cancel_if([](const Place& place) { return has_gone(place.socket); });
    }
    void cancel_late() {
        cancel_if([now = Clock::now()](Place& place) { return place.is_late = now > place.until; });
    }
    void end() {
        {
            const base::MutexLock lock(mutex_);
            is_ended_ = true;
        }
        cancel_if([](const Place&) { return true; });
    }
    bool is_ended() const {
        const base::MutexLock lock(mutex_);
        return is_ended_;
    }

  private:
    template <class Condition>
    void cancel_if(Condition&& condition) {
        const base::MutexLock lock(mutex_);
        for (Place* place : places_) {
            if (condition(*place)) {
                place->cancelled = true;
            }
        }
    }

    mutable base::Mutex mutex_;
    bool is_ended_ GUARDED_BY(mutex_) = false;
    std::set<Place*> places_ GUARDED_BY(mutex_);
};

// httplib without its threads and its way to wait: it reads a request and writes what the handlers answer.
class Answering : public httplib::Server {
  public:
    // It sends bodies as long as it believes to have a port to listen on; Gate has the real one.
    Answering() { svr_sock_ = 0; }
    void stop_sending() { svr_sock_ = -1; }

    bool answer(Connection& connection) {
        bool is_closed = false;
        return process(&Answering::process_request, connection, is_closed) && !is_closed;
    }

  private:
    using Setup = std::function<void(httplib::Request&)>;
    // Debian 12's httplib asks the stream who is at its ends,
    using Asking = bool (Server::*)(httplib::Stream&, bool, bool&, const Setup&);
    // Debian 13's is told.
    using Told = bool (Server::*)(httplib::Stream&,
                                  const std::string&,
                                  int,
                                  const std::string&,
                                  int,
                                  bool,
                                  bool&,
                                  const Setup&);

    // Everything is answered whole: httplib hands ranges on to whoever answers as they were asked for, beyond the end, too. And a body is
    // JSON as it is: of one that is packed it limits what comes, not what it becomes, and forms have other limits.
    static void simplify(httplib::Request& request) {
        request.ranges.clear();
        for (const char* header : {"Range", "Content-Encoding", "Content-Type"}) {
            request.headers.erase(header);
        }
    }

    bool process(Asking request, Connection& connection, bool& is_closed) {
        return (this->*request)(connection, false, is_closed, &simplify);
    }
    bool process(Told request, Connection& connection, bool& is_closed) {
        std::string address, own_address;
        int port = 0, own_port = 0;
        connection.get_remote_ip_and_port(address, port);
        connection.get_local_ip_and_port(own_address, own_port);
        return (this->*request)(
            connection, address, port, own_address, own_port, false, is_closed, &simplify);
    }
};

struct HttpServer::Parts {
    HttpServerOptions options;
    std::map<std::string, AnswerFunction, std::less<>> questions;
    std::vector<PageFile> page;
    Answering server;
    Running running;
    std::unique_ptr<Gate> gate;
    std::thread watch;  // over the time that answers take

    std::string prefix() const { return "/" + options.token + "/"; }
    void give_file(const std::string& path, httplib::Response& response) const;
    void list(httplib::Response& response) const;
    void answer(const httplib::Request& request, httplib::Response& response);
};

void HttpServer::Parts::give_file(const std::string& path, httplib::Response& response) const {
    const std::string wanted = path == prefix() ? "index.html" : path.substr(prefix().size());
    const auto file = std::find_if(
        page.begin(), page.end(), [&](const PageFile& each) { return each.path == wanted; });
    if (file == page.end()) {
        response.status = 404;
        return;
    }
    response.set_header("Content-Encoding", "gzip");
    const std::span<const std::byte> bytes = file->gzipped;
    response.set_content_provider(
        bytes.size(),
        std::string(file->content_type),
        [bytes](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
            return sink.write(reinterpret_cast<const char*>(bytes.data()) + offset, length);
        });
}

// What can be asked.
void HttpServer::Parts::list(httplib::Response& response) const {
    Json names = Json::array().append("cancel");
    for (const auto& [name, answer] : questions) {
        names.append(name);
    }
    give(response, Json::object().set("questions", std::move(names)).text(), "application/json");
}

void HttpServer::Parts::answer(const httplib::Request& request, httplib::Response& response) {
    const std::string_view name =
        std::string_view(request.path).substr(prefix().size() + std::string_view("api/").size());
    const Result<Json> question = Json::parse(request.body.empty() ? "{}" : request.body);
    if (!question.ok()) {
        return fail(response, question.error());
    }
    if (name == "cancel") {
        running.cancel(question.value().get<std::string>("question").value_or(""));
        return give(response, "{}", "application/json");
    }
    const auto found = questions.find(name);
    if (found == questions.end()) {
        return fail(response,
                    Error(ErrorCode::kNotFound, fmt::format("there is no question '{}'", name)));
    }
    Running::Place place{
        .name = request.get_header_value("question"),
        .socket = request.remote_port,  // Connection says so
        .until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(options.answer_s_max))};
    Result<Answer> answer = running.while_listed(
        place, [&] { return found->second(question.value(), place.cancelled); });
    if (!answer.ok()) {
        return fail(response,
                    place.is_late ? Error(ErrorCode::kUnavailable,
                                          fmt::format("no answer within {} s: ask for less",
                                                      options.answer_s_max))
                                  : answer.error());
    }
    if (!answer.value().file_name.empty()) {
        response.set_header("Content-Disposition",
                            fmt::format("attachment; filename=\"{}\"", answer.value().file_name));
    }
    if (!answer.value().note.empty()) {
        response.set_header("note", answer.value().note);
    }
    if (answer.value().file != nullptr) {
        return give_derived_file(answer.value(), response);
    }
    give(response, std::move(answer.value().body), answer.value().content_type);
}

Result<std::string> make_token() {
    unsigned char bytes[kTokenBytes];
    if (getrandom(bytes, sizeof(bytes), 0) != static_cast<ssize_t>(sizeof(bytes))) {
        return Error::from_errno(errno, "taking a token from chance");
    }
    std::string token;
    for (const unsigned char byte : bytes) {
        token += fmt::format("{:02x}", byte);
    }
    return token;
}

Result<std::unique_ptr<HttpServer>> HttpServer::open(const HttpServerOptions& options,
                                                     std::vector<Question> questions,
                                                     std::vector<PageFile> page) {
    auto parts = std::make_unique<Parts>();
    parts->options = options;
    parts->page = std::move(page);
    for (Question& question : questions) {
        parts->questions.emplace(std::move(question.name), std::move(question.answer));
    }
    Parts& of = *parts;
    of.server.set_payload_max_length(kQuestionBytesMax);
    of.server.set_default_headers(
        {{"Cache-Control", "no-store"},
         {"Content-Security-Policy",
          "default-src 'self'; img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; "
          "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
         {"Cross-Origin-Resource-Policy", "same-origin"},
         {"Referrer-Policy", "no-referrer"},
         {"X-Content-Type-Options", "nosniff"},
         {"X-Frame-Options", "DENY"}});
    of.server.Get(".*", [&of](const httplib::Request& request, httplib::Response& response) {
        if (request.path == of.prefix() + "api/") {
            return of.list(response);
        }
        of.give_file(request.path, response);
    });
    of.server.Post(".*", [&of](const httplib::Request& request, httplib::Response& response) {
        if (request.path.starts_with(of.prefix() + "api/")) {
            of.answer(request, response);
        } else {
            response.status = 404;
        }
    });
    TRY(of.gate,
        Gate::open(
            {.address = options.address,
             .port = options.port,
             .threads = kServerThreads,
             .head_max = options.head_max},
            [&of](std::string_view head) { return refusal_of(head, of.prefix()); },
            [&of](Connection& connection) { return of.server.answer(connection); }));
    of.watch = std::thread([&of] {
        while (!of.running.is_ended()) {
            of.running.cancel_late();
            of.running.cancel_gone();
            std::this_thread::sleep_for(kLookForGoneEvery);
        }
    });
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(parts)));
}

HttpServer::HttpServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

HttpServer::~HttpServer() {
    parts_->running.end();
    parts_->server.stop_sending();
    parts_->watch.join();
    parts_->gate.reset();
}

std::string HttpServer::url() const {
    const std::string& address = parts_->options.address;
    return fmt::format("http://{}:{}{}",
                       address.find(':') != std::string::npos ? "[" + address + "]" : address,
                       parts_->gate->port(),
                       parts_->prefix());
}

}  // namespace dyetrace::api
