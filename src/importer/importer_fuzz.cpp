// Any bytes as a log: the importer may refuse or count, never crash or hang, and what it writes can be read.

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "base/memory_folder.h"
#include "importer/falcon_import.h"
#include "importer/imported_trace.h"
#include "importer/importer.h"
#include "importer/strace_import.h"
#include "importer/text_input.h"

namespace dyetrace::importer {
namespace {

void import_as(LogFormat format, const std::string& log, const std::string& path) {
    ImportedTrace trace(path, "fuzz", {});
    Problems problems;
    const LogOptions options;
    Result<void> done;
    if (format == LogFormat::kFalcon) {
        TextInput input = TextInput::of_text(log);
        FalconImport falcon(trace, problems, options, 16);  // so that it has to let go early, too
        falcon.read(input).value();
        done = falcon.finish();
    } else {
        StraceImport strace(trace, problems, options);
        std::vector<TextInput> inputs;
        inputs.push_back(TextInput::of_text(log));
        inputs.push_back(TextInput::of_text(log.substr(log.size() / 2)));
        strace.read(std::move(inputs)).value();
        done = strace.finish();
    }
    if (done.ok()) {
        trace.finish().value();
    } else {
        CHECK(done.error().code() == ErrorCode::kCorrupt);
        trace.discard();
        struct stat status {};
        CHECK(::stat(path.c_str(), &status) != 0);
    }
}

}  // namespace
}  // namespace dyetrace::importer

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dyetrace;
    const std::string log(reinterpret_cast<const char*>(data), size);
    const auto folder = base::memory_folder();  // each trace is synced
    importer::import_as(importer::LogFormat::kFalcon, log, folder.path() + "/falcon");
    importer::import_as(importer::LogFormat::kStrace, log, folder.path() + "/strace");
    return 0;
}
