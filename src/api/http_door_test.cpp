#include "api/http_door.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <chrono>
#include <thread>

namespace dyetrace::api {
namespace {

using base::Json;

constexpr std::string_view kPage = "<p>page</p>";

class HttpDoorTest : public testing::Test {
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
                 return Error(ErrorCode::kInterrupted, "cancelled");
             }});
        const auto bytes = std::as_bytes(std::span(kPage));
        door_ = HttpDoor::open({.token = "secret", .answer_s_max = limit_s_},
                               std::move(questions),
                               {{"index.html", "text/html; charset=utf-8", bytes}})
                    .value();
        const std::string url = door_->url();
        client_.emplace(url.substr(0, url.find("/secret")));
        client_->set_decompress(false);
    }

    httplib::Result ask(const std::string& name,
                        const std::string& body,
                        const httplib::Headers& headers = {}) {
        return client_->Post("/secret/api/" + name, headers, body, "application/json");
    }

    double limit_s_ = 60;
    std::atomic<bool> begun_ = false;
    std::unique_ptr<HttpDoor> door_;
    std::optional<httplib::Client> client_;
};

TEST_F(HttpDoorTest, gives_the_page_and_answers_to_whoever_has_the_token) {
    const auto page = client_->Get("/secret/");
    ASSERT_TRUE(page);
    EXPECT_EQ(page->status, 200);
    EXPECT_EQ(page->body, kPage);
    EXPECT_EQ(page->get_header_value("Content-Encoding"), "gzip");
    EXPECT_EQ(ask("echo", R"({"a":1})")->body, R"({"a":1})");
    EXPECT_EQ(ask("echo", "")->body, "{}");
}

TEST_F(HttpDoorTest, is_not_there_for_others) {
    for (const char* path :
         {"/", "/secre/", "/secret", "/secretx/", "/secret/../secret/x", "/index.html"}) {
        EXPECT_EQ(client_->Get(path)->status, 404) << path;
    }
    EXPECT_EQ(client_->Post("/api/echo", "{}", "application/json")->status, 404);
    EXPECT_EQ(client_->Get("/secret/", {{"Host", "evil.example:80"}})->status, 403);
    EXPECT_EQ(ask("echo", "{}", {{"Host", "evil.example"}})->status, 403);
    EXPECT_EQ(client_->Get("/secret/", {{"Host", "localhost:8080"}})->status, 200);
}

TEST_F(HttpDoorTest, says_what_is_wrong_as_json) {
    EXPECT_EQ(ask("wrong", "{}")->status, 400);
    EXPECT_EQ(ask("wrong", "{}")->body, R"({"error":"a <b> is no filter"})");
    EXPECT_EQ(ask("echo", "{")->status, 400);
    EXPECT_EQ(ask("none", "{}")->status, 404);
    EXPECT_EQ(ask("echo", std::string(kQuestionBytesMax + 1, 'x'))->status, 413);
}

TEST_F(HttpDoorTest, forbids_other_pages_to_read_to_frame_and_to_learn_of_it) {
    const auto page = client_->Get("/secret/");
    EXPECT_EQ(page->get_header_value("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(page->get_header_value("Referrer-Policy"), "no-referrer");
    EXPECT_NE(page->get_header_value("Content-Security-Policy").find("default-src 'self'"),
              std::string::npos);
    EXPECT_EQ(page->get_header_value("Access-Control-Allow-Origin"), "");
}

TEST_F(HttpDoorTest, cancels_what_it_is_asked_to) {
    std::thread asker([&] {
        httplib::Client other(door_->url().substr(0, door_->url().find("/secret")));
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

class HttpDoorWithoutTimeTest : public HttpDoorTest {
  protected:
    HttpDoorWithoutTimeTest() { limit_s_ = 0.1; }
};

TEST_F(HttpDoorWithoutTimeTest, waits_for_no_answer_longer_than_it_may_take) {
    const auto late = ask("slow", "{}");
    EXPECT_EQ(late->status, 503);
    EXPECT_EQ(late->body, R"({"error":"no answer within 0.1 s: ask for less"})");
}

TEST(HttpDoor, is_opened_with_another_token_each_time) {
    const std::string a = make_token().value(), b = make_token().value();
    EXPECT_EQ(a.size(), 32u);
    EXPECT_NE(a, b);
}

TEST_F(HttpDoorTest, ends_while_it_answers) {
    std::thread asker([&] { (void)ask("slow", "{}"); });
    while (!begun_) {
        std::this_thread::yield();
    }
    door_.reset();
    asker.join();
}

}  // namespace
}  // namespace dyetrace::api
