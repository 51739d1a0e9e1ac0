// What of a log could not be taken as it stands: counted by reason, the first few with their place. Nothing is left out in silence.
//
//   problems.add("no JSON object", {"web1.log", 17});
//   problems.all()[0]      reason "no JSON object", count 1, places "web1.log:17"
//
// Limits: kReasonsMax reasons of a program's own words, never text of the log; kPlacesMax places each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dyetrace::importer {

inline constexpr std::size_t kPlacesMax = 3;

struct Place {
    std::string_view file;
    std::uint64_t line = 0;
};

struct Problem {
    std::string reason = {};
    std::uint64_t count = 0;
    bool loses_event = false;  // there is no event for it; else one that lacks something
    std::vector<std::string> places = {};  // "file:line" of the first
};

class Problems {
  public:
    // A line that is not in the trace.
    void add_lost(std::string_view reason, Place place) { add(reason, place, true); }
    // A line that is, but not all that it says, or not as it says it.
    void add_doubt(std::string_view reason, Place place) { add(reason, place, false); }

    const std::vector<Problem>& all() const { return problems_; }
    std::uint64_t lost() const { return lost_; }

  private:
    void add(std::string_view reason, Place place, bool loses_event);

    std::vector<Problem> problems_ = {};  // a dozen
    std::uint64_t lost_ = 0;
};

// "12 lines: no JSON object (web1.log:17, web1.log:18, web1.log:40, …)"
std::string text_of(const Problem& problem);

}  // namespace dyetrace::importer
