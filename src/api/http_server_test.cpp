#include "api/http_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/socket.h>

#include <chrono>
#include <thread>

#include "api/gate.h"
#include "base/file.h"
#include "base/temporary_folder.h"

namespace dyetrace::api {
namespace {

using base::Json;

constexpr std::string_view kPage = "<p>page</p>";

class HttpServerTest : public testing::Test {
  protected:
    void SetUp() override {
        std::vector<Question> questions;
        questions.push_back(
            {"echo", [](const Json& question, const std::atomic<bool>&) -> Result<Answer> {
                 return Answer{.body = question.text()};
             }});
        questions.push_back({"wrong", [](const Json&, const std::atomic<bool>&) -> Result<Answer> {
                                 return Error(ErrorCode::kInvalidArgument, "a <b> is no filter");
                             }});
        questions.push_back(
            {"slow", [this](const Json&, const std::atomic<bool>& cancelled) -> Result<Answer> {
                 begun_ = true;
                 while (!cancelled) {
                     std::this_thread::sleep_for(std::chrono::milliseconds(1));
                 }
                 ended_ = true;
                 return Error(ErrorCode::kInterrupted, "cancelled");
             }});
        questions.push_back(
            {"file", [](const Json& question, const std::atomic<bool>&) -> Result<Answer> {
                 const base::TemporaryFolder folder = base::TemporaryFolder::make().value();
                 const std::string path = folder.path() + "/made";
                 base::write_file_atomically(path, question.get<std::string>("text").value())
                     .value();
                 return Answer{
                     .content_type = "application/x-made",
                     .file_name = "made.bin",
                     .file = std::make_shared<base::Fd>(base::open_file(path, O_RDONLY).value()),
                     .note = "2 are missing"};
             }});
        const auto bytes = std::as_bytes(std::span(kPage));
        server_ =
            HttpServer::open(
                {.token = "secret", .answer_s_max = limit_s_, .head_max = std::chrono::hours(1)},
                std::move(questions),
                {{"index.html", "text/html; charset=utf-8", bytes}})
                .value();
        const std::string url = server_->url();
        client_.emplace(url.substr(0, url.find("/secret")));
        client_->set_decompress(false);
    }

    httplib::Result ask(const std::string& name,
                        const std::string& body,
                        const httplib::Headers& headers = {}) {
        return client_->Post("/secret/api/" + name, headers, body, "application/json");
    }

    double limit_s_ = 60;
    std::atomic<bool> begun_ = false, ended_ = false;
    std::unique_ptr<HttpServer> server_;
    std::optional<httplib::Client> client_;
};

TEST_F(HttpServerTest, gives_the_page_and_answers_to_whoever_has_the_token) {
    const auto page = client_->Get("/secret/");
    ASSERT_TRUE(page);
    EXPECT_EQ(page->status, 200);
    EXPECT_EQ(page->body, kPage);
    EXPECT_EQ(page->get_header_value("Content-Encoding"), "gzip");
    EXPECT_EQ(ask("echo", R"({"a":1})")->body, R"({"a":1})");
    EXPECT_EQ(ask("echo", "")->body, "{}");
}

TEST_F(HttpServerTest, is_not_there_for_others) {
    for (const char* path :
         {"/", "/secre/", "/secret", "/secretx/", "/secret/../secret/x", "/index.html"}) {
        EXPECT_EQ(client_->Get(path)->status, 404) << path;
    }
    EXPECT_EQ(client_->Post("/api/echo", "{}", "application/json")->status, 404);
    EXPECT_EQ(client_->Get("/secret/", {{"Host", "evil.example:80"}})->status, 403);
    EXPECT_EQ(ask("echo", "{}", {{"Host", "evil.example"}})->status, 403);
    EXPECT_EQ(client_->Get("/secret/", {{"Host", "localhost:8080"}})->status, 200);
}

TEST_F(HttpServerTest, knows_its_own_name_and_no_longer_one) {
    for (const char* host : {"127.0.0.1", "127.0.0.1:1", "localhost:65535", "[::1]", "[::1]:80"}) {
        EXPECT_EQ(client_->Get("/secret/", {{"Host", host}})->status, 200) << host;
    }
    for (const char* host : {"127.0.0.1:18099.evil.com",
                             "127.0.0.1:",
                             "127.0.0.1.evil.com",
                             "localhost.evil.com:80",
                             "[::1].evil.com",
                             "[::1]evil",
                             "evil.com:127.0.0.1",
                             "127.0.0.1:80@evil.com",
                             "127.0.0.1, evil.com"}) {
        EXPECT_EQ(client_->Get("/secret/", {{"Host", host}})->status, 403) << host;
    }
}

TEST_F(HttpServerTest, answers_no_other_page) {
    const std::string host = "127.0.0.1:8080";
    const auto status = [&](const char* name, const std::string& value) {
        return ask("echo", "{}", {{"Host", host}, {name, value}})->status;
    };
    EXPECT_EQ(status("Origin", "http://127.0.0.1:8080"), 200);
    EXPECT_EQ(status("Sec-Fetch-Site", "same-origin"), 200);
    EXPECT_EQ(status("Sec-Fetch-Site", "none"), 200);
    for (const char* origin :
         {"http://evil.example", "null", "", "http://127.0.0.1:8081", "https://127.0.0.1:8080"}) {
        EXPECT_EQ(status("Origin", origin), 403) << origin;
    }
    EXPECT_EQ(status("Sec-Fetch-Site", "cross-site"), 403);
    EXPECT_EQ(status("Sec-Fetch-Site", "same-site"), 403);
}

// A connection that sends `text`, and stays.
class HalfOpen {
  public:
    HalfOpen(const std::string& url, std::string_view text)
        : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(
            std::stoi(url.substr(std::string_view("http://127.0.0.1:").size()))));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)),
                  0);
        base::write_all(socket_, base::bytes_of(text)).value();
    }
    // What came until the other end closed.
    std::string answer() const {
        std::string text;
        char bytes[512];
        for (ssize_t size = 0; (size = ::recv(socket_.get(), bytes, sizeof(bytes), 0)) > 0;) {
            text.append(bytes, static_cast<std::size_t>(size));
        }
        return text;
    }
    bool is_open() const {
        char byte = 0;
        return ::recv(socket_.get(), &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
    }

  private:
    base::Fd socket_;
};

TEST_F(HttpServerTest, is_not_kept_from_answering_by_half_of_a_question) {
    std::vector<std::unique_ptr<HalfOpen>> others;
    for (int i = 0; i < 60; ++i) {
        others.push_back(std::make_unique<HalfOpen>(
            server_->url(), "POST /api/query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le"));
        others.push_back(std::make_unique<HalfOpen>(server_->url(), "P"));
        others.push_back(std::make_unique<HalfOpen>(server_->url(), ""));
    }
    EXPECT_EQ(ask("echo", "{}")->status, 200);
    for (const auto& other : others) {
        EXPECT_TRUE(other->is_open());  // it was not answered because they had gone
    }
}

TEST_F(HttpServerTest, reads_no_body_of_whoever_has_no_token) {
    const HalfOpen other(server_->url(),
                         "POST /api/query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: "
                         "1000000\r\n\r\n{");
    EXPECT_TRUE(other.answer().starts_with("HTTP/1.1 404 "));
}

TEST_F(HttpServerTest, lets_go_of_those_that_came_first_when_there_are_too_many) {
    std::vector<std::unique_ptr<HalfOpen>> others;
    EXPECT_EQ(ask("echo", "{}")->status, 200);
    for (std::size_t i = 0; i < kConnectionsMax + 50; ++i) {
        others.push_back(std::make_unique<HalfOpen>(server_->url(), "GET /"));
    }
    EXPECT_EQ(others.front()->answer(), "");
    EXPECT_EQ(ask("echo", "{}")->status, 200);
    httplib::Client another(server_->url().substr(0, server_->url().find("/secret")));
    another.set_decompress(false);
    EXPECT_EQ(another.Get("/secret/")->status, 200);
}

TEST_F(HttpServerTest, reads_a_head_in_one_way_only) {
    for (const auto& [head, answer] : std::initializer_list<std::pair<std::string_view, int>>{
             {"GET /secret/ HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil\r\n\r\n", 400},
             {"GET /secret/ HTTP/1.1\r\nHost: 127.0.0.1\nHost: evil\r\n\r\n", 400},
             {"GET /secret/ HTTP/1.1\r\n\r\n", 403},
             {"GET http://127.0.0.1/secret/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 404},
             {"\r\n\r\n", 403}}) {
        EXPECT_EQ(HalfOpen(server_->url(), head).answer().substr(0, 13),
                  "HTTP/1.1 " + std::to_string(answer) + " ")
            << head;
    }
    EXPECT_TRUE(HalfOpen(server_->url(), std::string(kHeadBytesMax + 1, 'x'))
                    .answer()
                    .starts_with("HTTP/1.1 431 "));
}

TEST_F(HttpServerTest, answers_everything_whole) {
    for (const char* range : {"bytes=0-600000",
                              "bytes=0-9223372036854775807",
                              "bytes=2-3",
                              "bytes=-1",
                              "bytes=1-,0-9999"}) {
        const httplib::Headers asked{{"Range", range}};
        const auto page = client_->Get("/secret/", asked);
        ASSERT_TRUE(page) << range;
        EXPECT_EQ(page->status, 200) << range;
        EXPECT_EQ(page->body, kPage) << range;
        EXPECT_EQ(ask("echo", R"({"a":1})", asked)->body, R"({"a":1})") << range;
        EXPECT_EQ(ask("file", R"({"text":"some text"})", asked)->body, "some text") << range;
    }
}

TEST_F(HttpServerTest, takes_a_question_as_it_is) {
    const auto post = [&](const std::string& body, const char* type) {
        return client_->Post("/secret/api/echo", body, type);
    };
    const std::string long_one = R"({"a":")" + std::string(100'000, 'x') + "\"}";
    for (const char* type : {"application/json",
                             "application/x-www-form-urlencoded",
                             "multipart/form-data; boundary=a"}) {
        EXPECT_EQ(post(long_one, type)->body, long_one) << type;
    }
    const auto packed = ask("echo", "\x1f\x8b\x08 packed", {{"Content-Encoding", "gzip"}});
    ASSERT_TRUE(packed);
    EXPECT_EQ(packed->status, 400);
    EXPECT_NE(packed->body.find("JSON"), std::string::npos);
}

TEST_F(HttpServerTest, answers_what_was_asked_before_the_first_answer) {
    const std::string ask =
        "POST /secret/api/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n";
    const std::string text =
        HalfOpen(server_->url(), ask + "\r\n{}" + ask + "Connection: close\r\n\r\n[]").answer();
    EXPECT_NE(text.find("{}HTTP/1.1 200 OK"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("[]")) << text;
}

TEST_F(HttpServerTest, says_what_is_wrong_as_json) {
    EXPECT_EQ(ask("wrong", "{}")->status, 400);
    EXPECT_EQ(ask("wrong", "{}")->body, R"({"error":"a <b> is no filter"})");
    EXPECT_EQ(ask("echo", "{")->status, 400);
    EXPECT_EQ(ask("none", "{}")->status, 404);
    EXPECT_EQ(ask("echo", std::string(kQuestionBytesMax + 1, 'x'))->status, 413);
}

TEST_F(HttpServerTest, forbids_other_pages_to_read_to_frame_and_to_learn_of_it) {
    const auto page = client_->Get("/secret/");
    EXPECT_EQ(page->get_header_value("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(page->get_header_value("Referrer-Policy"), "no-referrer");
    EXPECT_NE(page->get_header_value("Content-Security-Policy").find("default-src 'self'"),
              std::string::npos);
    EXPECT_EQ(page->get_header_value("Access-Control-Allow-Origin"), "");
}

TEST_F(HttpServerTest, cancels_what_it_is_asked_to) {
    std::thread asker([&] {
        httplib::Client other(server_->url().substr(0, server_->url().find("/secret")));
        EXPECT_EQ(
            other.Post("/secret/api/slow", {{"question", "7"}}, "{}", "application/json")->status,
            499);
    });
    while (!begun_) {
        std::this_thread::yield();
    }
    EXPECT_EQ(ask("cancel", R"({"question":"8"})")->status, 200);
    EXPECT_EQ(ask("cancel", R"({"question":"7"})")->status, 200);
    asker.join();
}

TEST_F(HttpServerTest, sends_a_file_that_has_no_name_any_more) {
    for (const std::size_t size : {0u, 1u, 700'000u}) {
        std::string text(size, 'x');
        for (std::size_t i = 0; i < size; ++i) {
            text[i] = static_cast<char>('a' + i % 23);
        }
        const auto answer = ask("file", Json::object().set("text", text).text());
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->status, 200);
        EXPECT_EQ(answer->body, text);
        EXPECT_EQ(answer->get_header_value("Content-Type"), "application/x-made");
        EXPECT_EQ(answer->get_header_value("Content-Disposition"),
                  "attachment; filename=\"made.bin\"");
        EXPECT_EQ(answer->get_header_value("note"), "2 are missing");
    }
}

TEST_F(HttpServerTest, ends_what_nobody_waits_for_any_more) {
    {
        const HalfOpen other(server_->url(),
                             "POST /secret/api/slow HTTP/1.1\r\nHost: localhost\r\n"
                             "Content-Length: 2\r\n\r\n{}");
        while (!begun_) {
            std::this_thread::yield();
        }
    }
    while (!ended_) {  // or the test never ends
        std::this_thread::yield();
    }
}

class HttpServerWithoutTimeTest : public HttpServerTest {
  protected:
    HttpServerWithoutTimeTest() { limit_s_ = 0.1; }
};

TEST_F(HttpServerWithoutTimeTest, waits_for_no_answer_longer_than_it_may_take) {
    const auto late = ask("slow", "{}");
    EXPECT_EQ(late->status, 503);
    EXPECT_EQ(late->body, R"({"error":"no answer within 0.1 s: ask for less"})");
}

TEST(HttpServer, is_opened_with_another_token_each_time) {
    const std::string a = make_token().value(), b = make_token().value();
    EXPECT_EQ(a.size(), 32u);
    EXPECT_NE(a, b);
}

TEST_F(HttpServerTest, ends_while_it_answers) {
    std::thread asker([&] { (void)ask("slow", "{}"); });
    while (!begun_) {
        std::this_thread::yield();
    }
    server_.reset();
    asker.join();
}

}  // namespace
}  // namespace dyetrace::api
