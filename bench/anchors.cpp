// How well anchors recognise a piece of content by its size, and how often they take other content for it.
//
//   bench_anchors FILE…        a line per size: of 2,000 pieces at random places of the files (and of random bytes), how many have
//                              an anchor that the whole has at the same place; then how many anchors two files have in common
#include "content/anchors.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

namespace {

using dyetrace::content::AnchorRule;
using dyetrace::content::AnchorWindow;

constexpr std::size_t kPieces = 2000;
constexpr std::size_t kRandomBytes = 64u << 20;

struct Content {
    std::string name;
    std::string bytes;
    std::unordered_set<std::uint64_t> anchors;
};

std::vector<AnchorWindow> anchors_of(const std::string& bytes, std::size_t at, std::size_t size) {
    static const AnchorRule rule;
    return rule.find(std::as_bytes(std::span(bytes)).subspan(at, size));
}

double recall(const Content& content, std::size_t size, std::mt19937_64& random) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < kPieces; ++i) {
        const std::size_t at = random() % (content.bytes.size() - size);
        const auto anchors = anchors_of(content.bytes, at, size);
        found += std::any_of(anchors.begin(), anchors.end(), [&](const AnchorWindow& one) {
            return content.anchors.contains(one.fingerprint);
        });
    }
    return static_cast<double>(found) / kPieces;
}

}  // namespace

int main(int count, char** words) {
    std::mt19937_64 random(1);
    std::vector<Content> contents(1);
    contents[0].name = "random bytes";
    contents[0].bytes.resize(kRandomBytes);
    std::generate(contents[0].bytes.begin(), contents[0].bytes.end(), [&] {
        return static_cast<char>(random());
    });
    for (int i = 1; i < count; ++i) {
        std::ifstream file(words[i], std::ios::binary);
        contents.push_back({words[i], {std::istreambuf_iterator<char>(file), {}}, {}});
    }
    for (Content& content : contents) {
        std::size_t all = 0;
        for (const AnchorWindow& one : anchors_of(content.bytes, 0, content.bytes.size())) {
            content.anchors.insert(one.fingerprint);
            ++all;
        }
        fmt::print("{}: {} bytes, an anchor per {} bytes, {:.1f} % of them different\n",
                   content.name,
                   content.bytes.size(),
                   content.bytes.size() / std::max<std::size_t>(all, 1),
                   100.0 * static_cast<double>(content.anchors.size()) /
                       static_cast<double>(std::max<std::size_t>(all, 1)));
        for (const std::size_t size : {128u, 256u, 512u, 1024u, 2048u, 4096u, 8192u, 16384u}) {
            if (size < content.bytes.size()) {
                fmt::print("  pieces of {:6} bytes recognised: {:5.1f} %\n",
                           size,
                           100 * recall(content, size, random));
            }
        }
    }
    for (std::size_t a = 0; a < contents.size(); ++a) {
        for (std::size_t b = a + 1; b < contents.size(); ++b) {
            const auto common = std::count_if(
                contents[a].anchors.begin(), contents[a].anchors.end(), [&](std::uint64_t one) {
                    return contents[b].anchors.contains(one);
                });
            fmt::print(
                "{} and {}: {} anchors in common\n", contents[a].name, contents[b].name, common);
        }
    }
}
