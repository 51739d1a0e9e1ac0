// The trail for programs: JSON and Graphviz.
#include <fmt/format.h>

#include "base/harmless.h"
#include "base/json.h"
#include "base/text.h"
#include "reports/follow/follow_output.h"
#include "schema/generated/enum_names.h"

namespace dyetrace::reports {
namespace {

using analysis::Direction;
using base::Json;

std::string certainty_word(schema::Certainty certainty) {
    return std::string(schema::certainty_name(static_cast<std::uint8_t>(certainty)));
}

Json because(LostSight lost) {
    switch (lost) {
        case LostSight::kScrambled:
            return Json("its output looks compressed or encrypted");
        case LostSight::kUnscrambled:
            return Json("its input looks compressed or encrypted");
        case LostSight::kChanged:
            return Json("not the same bytes");
        default:
            return Json();
    }
}

Json hop_json(const FollowHop& hop, std::size_t number) {
    Json json = Json::object();
    json.set("hop", number)
        .set("process_id", std::to_string(hop.process))
        .set("process", hop.who)
        .set("host", hop.host)
        .set("node", hop.node)
        .set("name", hop.name);
    json.set("what", hop.what)
        .set("path", hop.path.empty() ? Json() : Json(hop.path))
        .set("path2", hop.path2.empty() ? Json() : Json(hop.path2));
    json.set("object_id", hop.object == 0 ? Json() : Json(std::to_string(hop.object)))
        .set("object2_id", hop.object2 == 0 ? Json() : Json(std::to_string(hop.object2)));
    const bool has_range = hop.offset != analysis::kUnknown;
    json.set("offset", has_range ? Json(hop.offset) : Json())
        .set("offset_end", has_range ? Json(hop.offset_end) : Json())
        .set("bytes", hop.bytes)
        .set("calls", hop.calls);
    json.set("first_event_id", std::to_string(hop.first_event))
        .set("start_ns", hop.start_ns)
        .set("first_ns", hop.first_ns)
        .set("end_ns", hop.end_ns)
        .set("is_start", hop.is_start)
        .set("lost_sight", hop.lost_sight != LostSight::kNot)
        .set("lost_sight_because", because(hop.lost_sight));
    return json;
}

// The first is the cause, the second its effect.
std::pair<std::size_t, std::size_t> ends_of(const FollowTrail& trail, const FollowLink& link) {
    return trail.direction == Direction::kForward ? std::pair(link.near, link.far)
                                                  : std::pair(link.far, link.near);
}

Json link_json(const FollowTrail& trail, const FollowLink& link) {
    const auto [from, to] = ends_of(trail, link);
    Json rules = Json::array();
    for (std::uint8_t rule = 0; rule < schema::flow_rule_names().size(); ++rule) {
        if ((link.rules & 1u << rule) != 0) {
            rules.append(schema::flow_rule_name(rule));
        }
    }
    Json json = Json::object();
    json.set("from_hop", from).set("to_hop", to).set("flows", link.flows).set("bytes", link.bytes);
    return json.set("rules", rules).set("certainty", certainty_word(link.certainty));
}

std::string dot_text(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : base::make_harmless(text)) {
        quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    }
    return quoted + "\"";
}

}  // namespace

std::string follow_json(const FollowTrail& trail) {
    Json hops = Json::array(), links = Json::array();
    for (std::size_t i = 0; i < trail.hops.size(); ++i) {
        hops.append(hop_json(trail.hops[i], i));
    }
    for (const FollowLink& link : trail.links) {
        links.append(link_json(trail, link));
    }
    Json json = Json::object();
    json.set("question", trail.question)
        .set("direction", trail.direction == Direction::kForward ? "forward" : "back")
        .set("min_certainty", certainty_word(trail.min_certainty));
    json.set("hops", std::move(hops)).set("links", std::move(links));
    json.set("hops_left_out", trail.hops_left_out)
        .set("is_cut", trail.is_cut)
        .set("has_content", trail.has_content)
        .set("gaps", trail.gaps.empty() ? Json() : Json(trail.gaps));
    return json.text() + "\n";
}

std::string follow_dot(const FollowTrail& trail) {
    std::string text = "digraph trail {\n  rankdir=LR;\n  node [shape=box];\n";
    for (std::size_t i = 0; i < trail.hops.size(); ++i) {
        const FollowHop& hop = trail.hops[i];
        text += fmt::format("  {} [label={}{}];\n",
                            i,
                            dot_text(fmt::format("{} {} {}", hop.who, hop.name, hop.what)),
                            hop.is_start ? ", style=bold" : "");
    }
    for (const FollowLink& link : trail.links) {
        const auto [from, to] = ends_of(trail, link);
        text += fmt::format("  {} -> {} [label={}{}];\n",
                            from,
                            to,
                            dot_text(fmt::format("{} ({}), {}",
                                                 certainty_word(link.certainty),
                                                 rules_text(link.rules),
                                                 base::bytes_text(link.bytes))),
                            link.certainty == schema::Certainty::kCertain  ? ""
                            : link.certainty == schema::Certainty::kLikely ? ", style=dashed"
                                                                           : ", style=dotted");
    }
    return text + "}\n";
}

}  // namespace dyetrace::reports
