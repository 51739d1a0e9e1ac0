// Where the page comes in: HTTP on a loopback address, for whoever has the token.
//
//   TRY(auto server, HttpServer::open({.token = token}, {{"trace", trace_answer}, …}, page));
//   server->url()                    http://127.0.0.1:40123/2f0c…9a/
//
//   GET  /TOKEN/                   the page, from its files
//   GET  /TOKEN/api/               which questions there are; openapi.json, a file of the page, says what they are
//   POST /TOKEN/api/NAME           a question: its body is JSON, the answer is, too
//   POST /TOKEN/api/cancel         {"question": "7"}: what was asked with the header "question: 7" ends as soon as it can
//
// Whoever lacks the token gets 404 for everything, before a body is read or a thread is taken (gate.h). A request whose Host is another name than a
// loopback one gets 403: a page from elsewhere whose name was made to point here; so does one that a browser says another page asked (Origin,
// Sec-Fetch-Site). No other page may read an answer, frame the page, or learn its address from a link.
//
// Answers are made on the threads of the server. One that takes longer than answer_s_max is cancelled, and one whose asker has closed the connection;
// how large it may be knows who makes it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/json.h"
#include "base/result.h"

namespace dyetrace::api {

inline constexpr std::size_t kQuestionBytesMax = 1 << 20;

struct HttpServerOptions {
    std::string address = "127.0.0.1";  // a loopback one
    std::uint16_t port = 0;             // 0: any that is free
    std::string token = {};             // of letters and digits
    double answer_s_max = 300;
    std::chrono::milliseconds head_max{10'000};  // until somebody has said what is asked
};

// An answer's bytes and what they are.
struct Answer {
    std::string content_type = "application/json";
    std::string body = {};
    std::string file_name = {};  // to be saved under; empty: it is not to be saved
    // Instead of `body`: all of this file, read while it is sent. Shared, for what httplib sends from is copied.
    std::shared_ptr<const base::Fd> file = {};
    std::string note = {};  // ASCII, the header "note": what is missing from a file
};

// Thread: any. An Error becomes {"error": "…"} with 400, 404, 499 (cancelled), 500 or 503 (too late).
using AnswerFunction =
    std::function<Result<Answer>(const base::Json& question, const std::atomic<bool>& cancelled)>;

struct Question {
    std::string name;
    AnswerFunction answer;
};

// A file of the page. Its bytes are gzip's and must outlive the server.
struct PageFile {
    std::string_view path;  // "index.html", "assets/page.js"
    std::string_view content_type;
    std::span<const std::byte> gzipped;
};

// 128 bits of chance, as hex digits.
Result<std::string> make_token();

class HttpServer {
  public:
    static Result<std::unique_ptr<HttpServer>> open(const HttpServerOptions& options,
                                                    std::vector<Question> questions,
                                                    std::vector<PageFile> page);
    // Cancels what is being answered and waits for it.
    ~HttpServer();

    std::string url() const;

  private:
    struct Parts;
    explicit HttpServer(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

}  // namespace dyetrace::api
