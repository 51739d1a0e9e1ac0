// dyetrace hash: the fingerprint of a file, or of a part of it, as --content=hash gives it to what moves these bytes.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "apps/cli/output.h"
#include "apps/cli/verbs.h"
#include "base/byte_range.h"
#include "base/fd.h"
#include "base/log.h"
#include "content/content_key.h"
#include "content/content_sum.h"
#include "content/fingerprint.h"

namespace dyetrace::apps {
namespace {

constexpr std::size_t kReadBytes = 1u << 16;

struct HashArguments {
    std::vector<std::string> files;
    std::string range;
    std::string key;
    bool hex = false;
    bool sum = false;
};

// Calls add(bytes) with what lies in the range.
template <typename Add>
Result<void> read_range(const std::string& path, const base::ByteRange& range, Add&& add) {
    const bool is_standard_input = path == "-";
    const base::Fd file(is_standard_input ? ::dup(STDIN_FILENO)
                                          : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) {
        return Error::from_errno(errno, fmt::format("cannot open '{}'", path));
    }
    std::vector<std::byte> buffer(kReadBytes);
    for (std::uint64_t at = 0; at < range.to;) {
        const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return Error::from_errno(errno, fmt::format("cannot read '{}'", path));
        }
        if (got == 0) {
            break;
        }
        const std::uint64_t end = at + static_cast<std::uint64_t>(got);
        const std::uint64_t first = std::clamp(range.from, at, end);
        const std::uint64_t last = std::min(range.to, end);
        if (first < last) {
            add(std::span<const std::byte>(buffer).subspan(first - at, last - first));
        }
        at = end;
    }
    return {};
}

Result<std::uint64_t> fingerprint_of(const std::string& path,
                                     const base::ByteRange& range,
                                     const std::optional<content::ContentKey>& key) {
    content::Fingerprint fingerprint(key);
    TRY(read_range(path, range, [&](std::span<const std::byte> bytes) { fingerprint.add(bytes); }));
    return fingerprint.value();
}

Result<std::uint64_t> sum_of(const std::string& path, const base::ByteRange& range) {
    std::uint64_t sum = 0;
    TRY(read_range(path, range, [&](std::span<const std::byte> bytes) {
        sum = content::joined_sum(sum, content::content_sum(bytes), bytes.size());
    }));
    return sum;
}

int run_hash(const HashArguments& arguments) {
    const base::Log log = base::Log::to_stderr();
    const Result<base::ByteRange> range = base::byte_range(arguments.range);
    std::optional<content::ContentKey> key;
    if (!range.ok()) {
        log.fail(range.error());
        return 2;
    }
    if (!arguments.key.empty()) {
        const auto given = content::content_key(arguments.key);
        if (!given.ok()) {
            log.fail(given.error());
            return 2;
        }
        key = given.value();
    }
    int exit_status = 0;
    for (const std::string& path : arguments.files) {
        const auto result =
            arguments.sum ? sum_of(path, range.value()) : fingerprint_of(path, range.value(), key);
        if (!result.ok()) {
            log.fail(result.error());
            exit_status = 1;
            continue;
        }
        const std::string number =
            arguments.hex ? fmt::format("{:016x}", result.value())
                          : fmt::format("{}", static_cast<std::int64_t>(result.value()));
        put(fmt::format("{}  {}\n", number, path));
    }
    return exit_status;
}

}  // namespace

void add_hash(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<HashArguments>();
    CLI::App* verb = app.add_subcommand(
        "hash", "The fingerprint that `record --content=hash` gives to what moves a file");
    verb->add_option("file", arguments->files, "Files; - is standard input")
        ->required()
        ->type_name("FILE");
    verb->add_option(
            "--range", arguments->range, "Bytes FROM to TO, TO not included; FROM- to the end")
        ->type_name("FROM-TO");
    auto* const key =
        verb->add_option("--content-key",
                         arguments->key,
                         "The key that the trace was recorded with: hex:DIGITS or @FILE")
            ->type_name("KEY");
    verb->add_flag(
            "--sum",
            arguments->sum,
            "The sum instead, as `record --content=anchors` gives it (content_sum, prefix_sum)")
        ->excludes(key);
    verb->add_flag("--hex", arguments->hex, "Sixteen hexadecimal digits, as xxh64sum shows them");
    verb->footer(
        "Examples:\n"
        "  dyetrace hash report.pdf\n"
        "  dyetrace hash --hex - < report.pdf\n"
        "  dyetrace follow trace --hash $(dyetrace hash x | cut -d' ' -f1)\n"
        "  dyetrace hash --range 4096-8192 database.db");
    verb->callback([arguments, &exit_status] { exit_status = run_hash(*arguments); });
}

}  // namespace dyetrace::apps
