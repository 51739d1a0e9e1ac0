#include "base/json.h"
#include "reports/similar/similar_answer.h"

namespace dyetrace::reports {
namespace {

using base::Json;

Json item_json(const SimilarAnswer& answer, const SimilarItem& item) {
    Json json = Json::object();
    json.set("trace", answer.traces[item.trace])
        .set("kind", answer.are_objects ? "object" : "event")
        .set("id", std::to_string(item.id))
        .set("name", item.name);
    json.set("bytes", item.bytes).set("anchors", item.anchors);
    return json;
}

void set_share(Json& json, const std::string& name, const analysis::Share& share) {
    json.set(name, share.estimate).set(name + "_low", share.low).set(name + "_high", share.high);
}

}  // namespace

std::string similar_json(const SimilarAnswer& answer) {
    std::string lines;
    for (const SimilarPair& pair : answer.pairs) {
        Json json = Json::object();
        json.set("a", item_json(answer, pair.a)).set("b", item_json(answer, pair.b));
        set_share(json, "jaccard", pair.jaccard);
        set_share(json, "a_in_b", pair.a_in_b);
        set_share(json, "b_in_a", pair.b_in_a);
        json.set("is_equal", pair.equal)
            .set("shared", pair.shared)
            .set("shared_bytes", pair.shared_bytes);
        lines += json.text() + "\n";
    }
    return lines;
}

}  // namespace dyetrace::reports
