// The same answer for programs, with the points that a picture draws.
#include <algorithm>

#include "base/json.h"
#include "reports/pattern/pattern_answer.h"

namespace dyetrace::reports {
namespace {

using analysis::Pattern;
using analysis::Permutation;
using analysis::Step;
using base::Json;

Json order_json(const Permutation& p) {
    Json json = Json::object();
    json.set("order", analysis::name_of(analysis::order_of(p)))
        .set("distance", p.pairs == 0 ? Json() : Json(p.distance()))
        .set("items", p.items)
        .set("same_place_share", p.same_place_share())
        .set("blocks", p.blocks)
        .set("lookahead", p.lookahead);
    return json;
}

Json sketch_json(const PatternSketch& sketch) {
    Json array = Json::array();
    for (const double place : sketch) {
        array.append(place);
    }
    return array;
}

Json passes_json(const analysis::Passes& passes, const std::vector<PatternSketch>& sketches) {
    Json array = Json::array();
    for (std::size_t i = 0; i < passes.passes.size(); ++i) {
        const analysis::Pass& pass = passes.passes[i];
        Json json = Json::object();
        json.set("accesses", pass.accesses)
            .set("bytes", pass.moved_bytes)
            .set("distinct_bytes", pass.distinct_bytes)
            .set("files", pass.files)
            .set("sketch", i < sketches.size() ? sketch_json(sketches[i]) : Json());
        if (pass.beside_previous) {
            Json beside = order_json(pass.beside_previous->pieces);
            beside.set("common_bytes", pass.beside_previous->common_bytes)
                .set("file_order", order_json(pass.beside_previous->files))
                .set("order_within_files", order_json(pass.beside_previous->within_files));
            json.set("beside_previous", std::move(beside));
        }
        array.append(std::move(json));
    }
    Json json = Json::object();
    json.set("revisits", passes.revisits).set("passes", std::move(array));
    return json;
}

Json steps_json(const Pattern& pattern) {
    Json json = Json::object();
    for (std::size_t i = 0; i < analysis::kSteps; ++i) {
        const auto step = static_cast<Step>(i);
        json.set(analysis::name_of(step), pattern.steps.of(step));
    }
    return json;
}

Json strides_json(const Pattern& pattern) {
    Json array = Json::array();
    for (const auto& [distance, steps] : pattern.steps.strides) {
        array.append(Json::object().set("bytes", distance).set("steps", steps));
    }
    return array;
}

Json sizes_json(const analysis::Sizes& sizes) {
    Json frequent = Json::array();
    for (const auto& size : sizes.frequent) {
        frequent.append(Json::object().set("bytes", size.bytes).set("accesses", size.accesses));
    }
    Json json = Json::object();
    json.set("min", sizes.min)
        .set("median", sizes.median)
        .set("max", sizes.max)
        .set("frequent", std::move(frequent));
    return json;
}

Json coverage_json(const Pattern& pattern) {
    Json times = Json::array();
    for (const double part : pattern.coverage.times) {
        times.append(part);
    }
    Json json = Json::object();
    json.set("extent_bytes", pattern.extent.bytes())
        .set("covered_bytes", pattern.coverage.covered_bytes)
        .set("once_bytes", pattern.coverage.once_bytes)
        .set("times_max", pattern.coverage.times_max)
        .set("times_by_part", std::move(times));
    return json;
}

Json points_json(const PatternGroup& group) {
    Json array = Json::array();
    for (const PatternPoint& point : group.points) {
        array.append(Json::array()
                         .append(point.at_ns)
                         .append(point.file)
                         .append(point.offset)
                         .append(point.bytes)
                         .append(point.pass + 1));
    }
    return array;
}

Json group_json(const PatternGroup& group) {
    const Pattern& pattern = group.pattern;
    Json json = Json::object();
    json.set("access", group.access)
        .set("who", group.who)
        .set("processes", group.processes)
        .set("threads", group.threads)
        .set("files", group.files)
        .set("uncertain", group.uncertain);
    json.set("accesses", pattern.accesses)
        .set("bytes", pattern.bytes)
        .set("duration_ns", pattern.end_ns - pattern.begin_ns)
        .set("pattern", pattern.verdict.name)
        .set("stride", pattern.verdict.stride)
        .set("steps", steps_json(pattern))
        .set("strides", strides_json(pattern));
    json.set("sampled_one_in", pattern.sampled_one_in)
        .set("of_first", pattern.kept_of_first ? Json(*pattern.kept_of_first) : Json())
        .set("sizes", sizes_json(pattern.sizes))
        .set("coverage", coverage_json(pattern))
        .set("by_place", passes_json(pattern.by_place, group.by_place));
    json.set(
        "by_content",
        pattern.by_content ? passes_json(pattern.by_content->passes, group.by_content) : Json());
    json.set("points", points_json(group));
    return json;
}

}  // namespace

std::string pattern_json(const PatternAnswer& answer) {
    Json files = Json::array(), groups = Json::array(), columns = Json::array();
    for (const std::string& file : answer.files) {
        files.append(file);
    }
    for (const PatternGroup& group : answer.groups) {
        groups.append(group_json(group));
    }
    for (const char* column : {"at_ns", "file", "offset", "bytes", "pass"}) {
        columns.append(column);
    }
    Json json = Json::object();
    json.set("trace", answer.trace)
        .set("path", answer.path)
        .set("by", answer.by.empty() ? Json() : Json(answer.by))
        .set("files", std::move(files))
        .set("mappings", answer.mappings)
        .set("groups_left_out", answer.groups_left_out);
    json.set("point_columns", std::move(columns)).set("groups", std::move(groups));
    return json.text() + "\n";
}

}  // namespace dyetrace::reports
