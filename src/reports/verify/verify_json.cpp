// The answer for programs.
#include "base/json.h"
#include "base/text.h"
#include "reports/verify/verify_answer.h"

namespace dyetrace::reports {
namespace {

using analysis::Change;
using analysis::Outcome;
using analysis::Place;
using base::Json;

const char* place_text(Place place) {
    switch (place) {
        case Place::kMemory:
            return "memory";
        case Place::kFile:
            return "file";
        case Place::kNetwork:
            return "network";
        case Place::kPipe:
            return "pipe";
        case Place::kBetween:
            break;
    }
    return "between";
}

// Why it is not known which bytes are others.
const char* reason_text(BytesKnown known) {
    switch (known) {
        case BytesKnown::kNoPayload:
            return "no_payload";
        case BytesKnown::kNotKept:
            return "not_kept";
        case BytesKnown::kNotTheSame:
            return "not_the_same";
        case BytesKnown::kTooLong:
            return "too_long";
        case BytesKnown::kAll:
            break;
    }
    return "";
}

Json copy_json(const CopyLabels& copy, std::size_t number) {
    Json json = Json::object();
    json.set("copy", number).set("process", copy.who).set("name", copy.name).set("what", copy.what);
    if (copy.range2) {
        json.set("begin2", copy.range2->first).set("end2", copy.range2->second);
    }
    return json.set("begin", copy.begin)
        .set("end", copy.end)
        .set("calls", copy.calls)
        .set("first_event_id", std::to_string(copy.first_event))
        .set("start_ns", copy.start_ns);
}

Json numbers_json(const std::vector<std::size_t>& numbers) {
    Json json = Json::array();
    for (const std::size_t number : numbers) {
        json.append(number);
    }
    return json;
}

Json place_json(const analysis::ByteDifference& place) {
    Json json = Json::object();
    json.set("begin", place.begin).set("end", place.end);
    json.set("bad_begin", place.copy_begin).set("bad_end", place.copy_end);
    return json.set("old", base::hex_text(place.old_bytes))
        .set("new", base::hex_text(place.new_bytes));
}

// Members of a change: which bytes are others, or why that is not known.
void set_bytes(Json& json, const ChangedBytes& bytes) {
    const bool is_known = bytes.known == BytesKnown::kAll;
    Json places = Json::array();
    for (const analysis::ByteDifference& place : bytes.differences.places) {
        places.append(place_json(place));
    }
    json.set("bytes_unknown_because", is_known ? Json() : Json(reason_text(bytes.known)))
        .set("old_bytes", is_known ? Json(bytes.differences.old_bytes) : Json())
        .set("new_bytes", is_known ? Json(bytes.differences.new_bytes) : Json())
        .set("places", is_known ? std::move(places) : Json())
        .set("places_left_out", bytes.differences.places_left_out);
}

Json change_json(const Change& change, const ChangedBytes& bytes) {
    const analysis::Stretch& stretch = change.stretch;
    Json json = Json::object();
    json.set("outcome", stretch.outcome == Outcome::kChanged ? "changed" : "resized")
        .set("place", place_text(change.place));
    json.set("reference", change.reference).set("begin", stretch.begin).set("end", stretch.end);
    json.set("good", change.good)
        .set("good_begin", change.good_begin)
        .set("good_event_id", std::to_string(change.good_event));
    json.set("bad", change.bad)
        .set("bad_begin", stretch.copy_begin)
        .set("bad_end", stretch.copy_end)
        .set("bad_event_id", std::to_string(change.bad_event));
    set_bytes(json, bytes);
    return json.set("between", numbers_json(change.between))
        .set("later", numbers_json(change.later));
}

Json replaced_json(const Change& change, const CopyLabels& replacer) {
    const analysis::Stretch& stretch = change.stretch;
    Json json = Json::object();
    json.set("reference", change.reference).set("begin", stretch.begin).set("end", stretch.end);
    json.set("copy", change.bad)
        .set("copy_begin", stretch.copy_begin)
        .set("copy_end", stretch.copy_end)
        .set("later", numbers_json(change.later));
    return json.set("process", replacer.who)
        .set("name", replacer.name)
        .set("what", replacer.what)
        .set("event_id", std::to_string(replacer.first_event));
}

Json shorter_json(const analysis::ShorterCopy& copy) {
    Json json = Json::object();
    return json.set("reference", copy.reference)
        .set("begin", copy.begin)
        .set("end", copy.end)
        .set("copy", copy.copy);
}

const char* sameness_text(analysis::Sameness sameness) {
    switch (sameness) {
        case analysis::Sameness::kSame:
            return "same";
        case analysis::Sameness::kReplaced:
            return "replaced";
        case analysis::Sameness::kDifferent:
            return "different";
        case analysis::Sameness::kNotAllCompared:
            break;
    }
    return "not_all_compared";
}

}  // namespace

std::string verify_json(const VerifyAnswer& answer) {
    const analysis::CopyVerdict& verdict = answer.verdict;
    Json copies = Json::array(), changes = Json::array(), replaced = Json::array();
    for (std::size_t i = 0; i < answer.copies.size(); ++i) {
        copies.append(copy_json(answer.copies[i], i));
    }
    for (std::size_t i = 0; i < verdict.changes.size(); ++i) {
        changes.append(change_json(verdict.changes[i], answer.changed_bytes[i]));
    }
    for (std::size_t i = 0; i < verdict.replaced.size(); ++i) {
        replaced.append(replaced_json(verdict.replaced[i], answer.replacers[i]));
    }
    Json shorter = Json::array();
    for (const analysis::ShorterCopy& copy : verdict.shorter) {
        shorter.append(shorter_json(copy));
    }
    Json json = Json::object();
    json.set("question", answer.question)
        .set("verdict", sameness_text(verdict.sameness()))
        .set("references", numbers_json(verdict.references));
    json.set("copies", std::move(copies))
        .set("changes", std::move(changes))
        .set("replaced", std::move(replaced))
        .set("shorter", std::move(shorter));
    json.set("copies_compared", verdict.copies_compared)
        .set("bytes_compared", verdict.compared_bytes)
        .set("bytes_not_compared", verdict.unknown_bytes)
        .set("bytes_open", verdict.open_bytes)
        .set("references_left_out", verdict.references_left_out)
        .set("changes_left_out", verdict.changes_left_out)
        .set("replaced_left_out", verdict.replaced_left_out)
        .set("gaps", answer.gaps.empty() ? Json() : Json(answer.gaps));
    return json.text() + "\n";
}

}  // namespace dyetrace::reports
