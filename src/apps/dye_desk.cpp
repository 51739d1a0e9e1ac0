#include "apps/dye_desk.h"

#include <fmt/format.h>

#include <charconv>

#include "capture/dye.h"

namespace dyetrace::apps {
namespace {

constexpr std::size_t kListRoom = 256;  // for one more line, and the number of the next

std::uint32_t number_of(const std::string& word) {
    std::uint32_t number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number);
    return number;
}

}  // namespace

Result<void> DyeDesk::open(const std::string& folder) {
    for (const DyeSet::Entry& dye : dyes_.entries()) {
        TRY(facts_->write_dye(dye, false));
    }
    TRY(DyeControl control, DyeControl::listen(folder));
    control_.emplace(std::move(control));
    return {};
}

void DyeDesk::serve() {
    control_->serve([this](const ControlWords& request) { return answer(request); });
}

ControlWords DyeDesk::answer(const ControlWords& request) {
    Result<void> done = Error(ErrorCode::kInvalidArgument, "this recorder does not know that");
    if (request.size() == 4 && request[0] == "add") {
        done = add(request);
    } else if (request.size() == 2 && request[0] == "remove") {
        done = remove(request[1]);
    } else if (request.size() == 2 && request[0] == "list") {
        return list(request[1]);
    }
    return done.ok() ? ControlWords{"ok"} : ControlWords{"failed", done.error().text()};
}

Result<void> DyeDesk::add(const ControlWords& request) {
    TRY(const DyeSet::Entry* added,
        dyes_.add({.name = request[2], .text = request[3], .forms = number_of(request[1])}));
    const Result<void> looked_for = capture_->look_for(dyes_.patterns());
    if (!looked_for.ok()) {
        (void)dyes_.remove(request[2]);
        return looked_for.error();
    }
    return facts_->write_dye(*added, false);
}

Result<void> DyeDesk::remove(const std::string& name) {
    TRY(const DyeSet::Entry removed, dyes_.remove(name));
    TRY(capture_->look_for(dyes_.patterns()));
    return facts_->write_dye(removed, true);
}

ControlWords DyeDesk::list(const std::string& from) const {
    ControlWords words{"ok", "0"};
    std::size_t bytes = 0;
    for (std::size_t i = number_of(from); i < dyes_.entries().size(); ++i) {
        const capture::Dye& dye = dyes_.entries()[i].dye;
        if (bytes + kListRoom > kControlAnswerMax) {
            words[1] = fmt::format("{}", i);
            break;
        }
        words.push_back(fmt::format(
            "{}  {} bytes  {}", dye.name, dye.text.size(), capture::dye_forms_text(dye.forms)));
        bytes += words.back().size() + 1;
    }
    return words;
}

}  // namespace dyetrace::apps
