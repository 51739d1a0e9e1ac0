#include "api/timeline/timeline_questions.h"

#include <string>

#include "api/timeline/timeline_answer.h"

namespace dyetrace::api {
namespace {

using base::Json;

std::string where_in(const Json& question) {
    const Json* const where = question.find("where");
    return where == nullptr ? "" : where->as<std::string>().value_or("");
}

Result<api::Answer> rows_answer(TimelineCache& timelines,
                                const Json& question,
                                const std::atomic<bool>& cancelled) {
    TRY(timelines.look_again(where_in(question), cancelled));
    TRY(const TimelineCache::Kept timeline, timelines.of(where_in(question), cancelled));
    return api::timeline_rows_answer(*timeline);
}

Result<api::Answer> progress_answer(TimelineCache& timelines,
                                    const Json& question,
                                    const std::atomic<bool>&) {
    const auto [read, of] = timelines.progress(where_in(question));
    return api::Answer{.body = Json::object().set("read", read).set("of", of).text()};
}

Result<api::Answer> runs_answer(TimelineCache& timelines,
                                const Json& question,
                                const std::atomic<bool>& cancelled) {
    TRY(const TimelineCache::Kept timeline, timelines.of(where_in(question), cancelled));
    return api::timeline_answer(*timeline, question, cancelled);
}

Result<api::Answer> flows_answer(TimelineCache& timelines,
                                 const Json& question,
                                 const std::atomic<bool>& cancelled) {
    const std::string where = where_in(question);
    TRY(const TimelineCache::Kept timeline, timelines.of(where, cancelled));
    TRY(const TimelineCache::KeptFlows flows, timelines.flows_of(where, timeline, cancelled));
    return api::timeline_flows_answer(*timeline, *flows, question);
}

}  // namespace

std::vector<api::Question> timeline_questions(TimelineCache& timelines, const std::string& prefix) {
    using Make = Result<api::Answer> (*)(TimelineCache&, const Json&, const std::atomic<bool>&);
    constexpr std::pair<const char*, Make> kQuestions[] = {
        {"timeline_rows", &rows_answer},
        {"timeline_progress", &progress_answer},
        {"timeline", &runs_answer},
        {"timeline_flows", &flows_answer},
    };
    std::vector<api::Question> questions;
    for (const auto& [name, make] : kQuestions) {
        questions.push_back(
            {prefix + name, [&timelines, make = make](const Json& body, const auto& cancelled) {
                 return make(timelines, body, cancelled);
             }});
    }
    return questions;
}

}  // namespace dyetrace::api
