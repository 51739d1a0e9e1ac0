// Any words as a question of the page: its name in the first line, the body of the request below. An answer that can be read, or words of refusal. Statements of SQL are
// not among them: DuckDB may rightly take an hour for one.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/page/page_questions.h"
#include "api/timeline/timeline_questions.h"
#include "base/check.h"
#include "base/json.h"
#include "query/analysis_database.h"
#include "query/selected_events.h"
#include "store/store_fixture.h"

namespace dyetrace::api {
namespace {

constexpr const char* kClock = "cluster";

class Page {
  public:
    Page() : pool_([this] { return open(); }, 1, [this] { return open(); }) {
        trace_.record(1, 20);
        questions_ = page_questions(pool_, selected_, kClock);
        std::ranges::move(timeline_questions(timelines_), std::back_inserter(questions_));
        std::erase_if(questions_, [](const Question& each) {
            return each.name == "query" || each.name == "save";
        });
    }

    void ask(std::string_view name, std::string_view body) {
        const auto question = std::ranges::find(questions_, name, &Question::name);
        const auto words = base::Json::parse(body.empty() ? "{}" : body);
        if (question == questions_.end() || !words.ok()) {
            return;
        }
        const std::atomic<bool> cancelled = false;
        const Result<Answer> answer = question->answer(words.value(), cancelled);
        if (!answer.ok()) {
            CHECK(!answer.error().text().empty());
        } else if (answer.value().content_type == "application/json" &&
                   answer.value().file == nullptr) {
            CHECK(base::Json::parse(answer.value().body).ok());
        }
    }

  private:
    Result<std::unique_ptr<store::Database>> open() {
        TRY(auto database, query::open_analysis_database(trace_.path(), {.clock = kClock}));
        selected_.forget(*database);
        return database;
    }

    store::StoreFixture trace_;
    DatabasePool pool_;
    query::SelectedEvents selected_;
    TimelineCache timelines_{pool_, selected_, kClock};
    std::vector<Question> questions_;
};

}  // namespace
}  // namespace dyetrace::api

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static dyetrace::api::Page page;
    const std::string_view words(reinterpret_cast<const char*>(data), size);
    const std::size_t end = words.find('\n');
    page.ask(words.substr(0, end), end == words.npos ? "" : words.substr(end + 1));
    return 0;
}
