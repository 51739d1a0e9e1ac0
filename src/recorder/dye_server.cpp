#include "recorder/dye_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "capture/dye.h"

namespace dyetrace::recorder {
namespace {

constexpr std::size_t kNamesShown = 8;     // a line of a terminal or two
constexpr std::size_t kListReserve = 256;  // for one more line, and the number of the next

std::uint32_t number_of(const std::string& word) {
    std::uint32_t number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number);
    return number;
}

}  // namespace

Result<void> DyeServer::open(const std::string& folder) {
    for (const DyeSet::Entry& dye : dyes_.entries()) {
        TRY(facts_->write_dye(dye, false));
        names_.emplace_back(dye.id, dye.dye.name);
    }
    TRY(DyeControl control, DyeControl::listen(folder));
    control_.emplace(std::move(control));
    return {};
}

void DyeServer::serve() {
    control_->serve([this](const ControlMessage& request) { return answer(request); });
}

Result<void> DyeServer::write_crossings() {
    for (const schema::DyeHit& hit : kernel_->crossings()) {
        TRY(facts_->write_dye_hit(hit));
    }
    return {};
}

Result<void> DyeServer::write_lack() {
    const std::string lack = kernel_->lack();
    return lack.empty() ? Result<void>()
                        : facts_->write_coverage({"dyes", schema::CoverageState::kPartial, lack});
}

std::string DyeServer::hits_text() const {
    std::vector<std::pair<std::uint64_t, std::string_view>> hits;
    for (const auto& [id, name] : names_) {
        hits.emplace_back(kernel_->hits(id), name);
    }
    std::stable_sort(
        hits.begin(), hits.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text;
    for (std::size_t i = 0; i < std::min(hits.size(), kNamesShown); ++i) {
        text += fmt::format(
            "{}{} {}", i == 0 ? "" : " · ", hits[i].second, base::with_separators(hits[i].first));
    }
    if (hits.size() > kNamesShown) {
        text +=
            fmt::format(" · and {} more dyes", base::with_separators(hits.size() - kNamesShown));
    }
    return text;
}

ControlMessage DyeServer::answer(const ControlMessage& request) {
    Result<void> done = Error(ErrorCode::kInvalidArgument, "this recorder does not know that");
    if (request.size() == 4 && request[0] == "add") {
        done = add(request);
    } else if (request.size() == 2 && request[0] == "remove") {
        done = remove(request[1]);
    } else if (request.size() == 2 && request[0] == "list") {
        return list(request[1]);
    }
    return done.ok() ? ControlMessage{"ok"} : ControlMessage{"failed", done.error().text()};
}

Result<void> DyeServer::add(const ControlMessage& request) {
    TRY(const DyeSet::Entry* added,
        dyes_.add({.name = request[2], .text = request[3], .forms = number_of(request[1])}));
    const Result<void> looked_for = kernel_->look_for(dyes_.patterns());
    if (!looked_for.ok()) {
        (void)dyes_.remove(request[2]);
        return looked_for.error();
    }
    names_.emplace_back(added->id, added->dye.name);
    return facts_->write_dye(*added, false);
}

Result<void> DyeServer::remove(const std::string& name) {
    TRY(const DyeSet::Entry removed, dyes_.remove(name));
    TRY(kernel_->look_for(dyes_.patterns()));
    return facts_->write_dye(removed, true);
}

ControlMessage DyeServer::list(const std::string& from) const {
    ControlMessage fields{"ok", "0"};
    std::size_t bytes = 0;
    for (std::size_t i = number_of(from); i < dyes_.entries().size(); ++i) {
        const capture::Dye& dye = dyes_.entries()[i].dye;
        if (bytes + kListReserve > kControlAnswerMax) {
            fields[1] = fmt::format("{}", i);
            break;
        }
        fields.push_back(fmt::format(
            "{}  {} bytes  {}", dye.name, dye.text.size(), capture::dye_forms_text(dye.forms)));
        bytes += fields.back().size() + 1;
    }
    return fields;
}

}  // namespace dyetrace::recorder
