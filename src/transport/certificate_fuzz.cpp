// Any bytes as the three files of a certificate: they are taken, or refused in words.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/file.h"
#include "base/memory_folder.h"
#include "transport/authority.h"

namespace {

// The files follow each other, with this between them.
constexpr std::string_view kBetween = "\n====\n";

std::string_view take_file(std::string_view& rest) {
    const std::size_t end = std::min(rest.find(kBetween), rest.size());
    const std::string_view file = rest.substr(0, end);
    rest.remove_prefix(std::min(end + kBetween.size(), rest.size()));
    return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dyetrace;
    static const auto kFolder = base::memory_folder();
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    for (const std::string& path : {transport::authority_path(kFolder.path()),
                                    transport::certificate_path(kFolder.path()),
                                    transport::key_path(kFolder.path())}) {
        base::write_file_atomically(path, take_file(rest)).value();
    }
    const auto checked = transport::check_certificate(kFolder.path());
    CHECK(checked.ok() || !checked.error().text().empty());
    return 0;
}
