#include "api/page/page_follow.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "reports/question_arguments.h"
#include "schema/text.h"

namespace dyetrace::api {
namespace {

using base::Json;

// What follows `prefix`, if the text begins with it.
std::optional<std::string> after_prefix(std::string_view text, std::string_view prefix) {
    return text.starts_with(prefix) ? std::optional(std::string(text.substr(prefix.size())))
                                    : std::nullopt;
}

Error no_start(const std::string& text) {
    return {ErrorCode::kInvalidArgument,
            fmt::format("'{}' is nothing to follow: that is a path (/srv/data), some bytes of it "
                        "(/srv/data:100-200), dye:NAME, event:ID or hash:0xDIGITS",
                        text)};
}

Result<void> take_start(const std::string& start, reports::FollowQuestion& question) {
    if (const auto name = after_prefix(start, "dye:")) {
        question.dye = *name;
    } else if (const auto event = after_prefix(start, "event:")) {
        TRY(question.event, reports::number_in(*event, "event"));
    } else if (const auto hash = after_prefix(start, "hash:")) {
        TRY(question.hash, reports::fingerprint_in(*hash));
    } else if (const auto path = schema::unescaped(start); path && path->starts_with('/')) {
        TRY(const reports::FileRange range, reports::file_range_in(*path));
        question.path = range.path;
        question.begin = range.begin;
        question.end = range.end;
    } else if (start.find(":[") != std::string::npos) {
        question.path = start;
    } else {
        return no_start(start);
    }
    return {};
}

std::string text_in(const Json& body, const char* name, const char* usual) {
    const Json* const member = body.find(name);
    return member == nullptr ? usual : member->as<std::string>().value_or(usual);
}

}  // namespace

Result<reports::FollowQuestion> follow_question_in(const Json& body) {
    reports::FollowQuestion question;
    TRY(const std::string start, body.get<std::string>("start"));
    TRY(take_start(start, question));
    question.direction = text_in(body, "direction", "forward") == "back"
                             ? analysis::Direction::kBack
                             : analysis::Direction::kForward;
    TRY(question.min_certainty, reports::certainty_in(text_in(body, "min_certainty", "likely")));
    if (const Json* const asked = body.find("hops_max"); asked != nullptr) {
        question.hops_max = std::min<std::size_t>(
            asked->as<std::uint64_t>().value_or(reports::kHopsMax), reports::kHopsMax);
    }
    return question;
}

}  // namespace dyetrace::api
