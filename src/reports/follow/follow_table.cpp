#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/harmless.h"
#include "base/text.h"
#include "format/table.h"
#include "reports/follow/follow_output.h"

namespace dyetrace::reports {
namespace {

constexpr std::size_t kTimeWidth = 12, kCellWidthMin = 20, kBetween = 2;  // columns of the terminal

struct ProcessColumn {
    std::uint64_t process;
    std::string who;
};

// The columns are in the order in which they first had the bytes.
std::vector<ProcessColumn> columns_of(const FollowTrail& trail) {
    std::vector<ProcessColumn> columns;
    for (const FollowHop& hop : trail.hops) {
        if (std::none_of(columns.begin(), columns.end(), [&](const ProcessColumn& column) {
                return column.process == hop.process;
            })) {
            columns.push_back({hop.process, base::make_harmless(hop.who)});
        }
    }
    return columns;
}

std::string padded(std::string text, std::size_t width) {
    const std::size_t used = base::display_width(text);
    return text.append(width - std::min(width, used), ' ');
}

// Bytes that all paths begin with: whole folders, and up to where they differ.
struct Common {
    std::size_t folders = 0, bytes = 0;
};

Common common_of(const FollowTrail& trail) {
    std::optional<std::string_view> common;
    bool is_one_whole = false;  // then what comes after it would be nothing
    for (const FollowHop& hop : trail.hops) {
        if (hop.what.starts_with('/')) {
            const std::string_view path = hop.what, before = common.value_or(path);
            const auto same = std::ranges::mismatch(before, path).in1 - before.begin();
            common = before.substr(0, static_cast<std::size_t>(same));
        }
    }
    if (!common) {
        return {};
    }
    for (const FollowHop& hop : trail.hops) {
        is_one_whole = is_one_whole || hop.what == *common;
    }
    const std::size_t folders = common->rfind('/');
    return {.folders = folders, .bytes = is_one_whole ? folders : common->size()};
}

// "write /data/db1/…0010000000000001": where paths begin tells replicas apart, where they end tells files apart. What all have in common tells nothing, and goes first.
std::string cell_of(const FollowHop& hop, std::size_t width, const Common& common) {
    const std::size_t left = width - std::min(width, hop.name.size() + 1);
    std::string what = base::make_harmless(hop.what);
    for (const std::size_t bytes : {common.folders, common.bytes}) {
        if (bytes > 0 && hop.what.starts_with('/') && base::display_width(what) > left) {
            what = "…" + base::make_harmless(hop.what.substr(bytes));
        }
    }
    return hop.name + " " + format::cut_middle(what, left);
}

std::string line_end(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

void add_table(const FollowTrail& trail,
               std::span<const ProcessColumn> columns,
               std::size_t width,
               const Common& common,
               std::string& out) {
    const std::size_t whole = columns.size() * (width + kBetween);
    std::string titles(kTimeWidth, ' ');
    for (const ProcessColumn& column : columns) {
        titles += std::string(kBetween, ' ') + padded(format::cut_middle(column.who, width), width);
    }
    out += line_end(std::move(titles));
    std::size_t lines = 0;
    for (const FollowHop& hop : trail.hops) {
        const auto column =
            std::find_if(columns.begin(), columns.end(), [&](const ProcessColumn& each) {
                return each.process == hop.process;
            });
        if (column == columns.end()) {
            continue;
        }
        if (++lines > kFollowLinesMax) {
            out += "… --json has all\n";
            return;
        }
        const auto since_ns = static_cast<std::int64_t>(hop.first_ns - trail.hops.front().first_ns);
        std::string line =
            padded(fmt::format("{:+.6f} s", static_cast<double>(since_ns) * 1e-9), kTimeWidth);
        const auto before = static_cast<std::size_t>(column - columns.begin()) * (width + kBetween);
        line.append(before + kBetween, ' ');
        // nothing else stands on its line
        out += line_end(line + cell_of(hop, whole - before - kBetween, common));
    }
}

}  // namespace

std::string follow_table(const FollowTrail& trail, const FollowStyle& style) {
    std::string out =
        base::make_harmless(trail.question) + (trail.direction == analysis::Direction::kForward
                                                   ? " · where its bytes went\n"
                                                   : " · where its bytes came from\n");
    const std::vector<ProcessColumn> columns = columns_of(trail);
    const std::size_t room =
        std::max(style.width, kTimeWidth + kBetween + kCellWidthMin) - kTimeWidth;
    const std::size_t in_one =
        std::min(std::max<std::size_t>(1, columns.size()), room / (kCellWidthMin + kBetween));
    for (std::size_t at = 0; at < columns.size(); at += in_one) {
        out += at == 0 ? "" : "\n";
        add_table(trail,
                  std::span(columns).subspan(at, std::min(in_one, columns.size() - at)),
                  room / in_one - kBetween,
                  common_of(trail),
                  out);
    }
    if (trail.hops_left_out > 0 || trail.is_cut) {
        out += "the trail is longer than this\n";
    }
    return out + (trail.gaps.empty() ? "no gaps in this time\n" : trail.gaps + "\n");
}

}  // namespace dyetrace::reports
