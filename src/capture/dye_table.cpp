#include "capture/dye_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace dyetrace::capture {
namespace {

using base::Error;
using base::ErrorCode;

// Patterns that may share an 8-byte window: more of them are looked for at every position, by what tells them apart.
constexpr std::uint32_t kLongSharersMax = 8;
constexpr std::uint32_t kBitsPerWindow =
    16;  // of which two are set: one of 80 random windows is met
constexpr std::uint32_t kBitsPerShort = 64;

struct Window {
    std::uint64_t value = 0;
    std::uint32_t pattern = 0;
    std::uint32_t offset = 0;
};

const __u8* bytes_of(const std::string& text) {
    return reinterpret_cast<const __u8*>(text.data());
}

// How much of a burden a window is: those that already have it, and few different bytes, which are common in data.
class Burdens {
  public:
    std::uint32_t of(std::uint64_t window, std::size_t bytes) const {
        const auto found = counts_.find(window);
        const std::uint32_t sharers = found == counts_.end() ? 0 : found->second;
        return sharers * 16 + static_cast<std::uint32_t>(bytes) - different(window, bytes);
    }
    std::uint32_t sharers(std::uint64_t window) const {
        const auto found = counts_.find(window);
        return found == counts_.end() ? 0 : found->second;
    }
    void add(std::uint64_t window) { ++counts_[window]; }

  private:
    static std::uint32_t different(std::uint64_t window, std::size_t bytes) {
        std::uint32_t count = 0;
        for (std::size_t i = 0; i < bytes; ++i) {
            const auto byte = window >> (8 * i) & 0xff;
            bool seen = false;
            for (std::size_t j = 0; j < i; ++j) {
                seen = seen || (window >> (8 * j) & 0xff) == byte;
            }
            count += seen ? 0 : 1;
        }
        return count;
    }

    std::unordered_map<std::uint64_t, std::uint32_t> counts_;
};

std::uint64_t long_window(const std::string& text, std::size_t at) {
    return dye_load8(bytes_of(text) + at) | DYE_FOLD;
}
std::uint64_t short_window(const std::string& text, std::size_t at) {
    return dye_load4(bytes_of(text) + at) | DYE_FOLD_SHORT;
}

// Where the eight windows begin whose worst burden is the least; the last such place.
std::size_t best_stretch(const std::string& text, const Burdens& burdens) {
    std::vector<std::uint32_t> burden;
    for (std::size_t at = 0; at + DYE_LONG_WINDOW <= text.size(); ++at) {
        burden.push_back(burdens.of(long_window(text, at), DYE_LONG_WINDOW));
    }
    std::size_t best = 0;
    std::uint32_t least = UINT32_MAX;
    for (std::size_t at = 0; at + DYE_ALIGNMENTS <= burden.size(); ++at) {
        const auto first = burden.begin() + static_cast<std::ptrdiff_t>(at);
        const std::uint32_t worst = *std::max_element(first, first + DYE_ALIGNMENTS);
        if (worst <= least) {
            least = worst;
            best = at;
        }
    }
    return best;
}

std::size_t best_short(const std::string& text, const Burdens& burdens) {
    std::size_t best = 0;
    std::uint32_t least = UINT32_MAX;
    for (std::size_t at = 0; at + DYE_SHORT_WINDOW <= text.size(); ++at) {
        const std::uint32_t burden = burdens.of(short_window(text, at), DYE_SHORT_WINDOW);
        if (burden <= least) {
            least = burden;
            best = at;
        }
    }
    return best;
}

struct Windows {
    std::vector<Window> by_long, by_short;
};

Windows choose_windows(const std::vector<DyePattern>& patterns) {
    Windows windows;
    Burdens burdens;  // short windows have no upper half, folded long ones have
    const auto choose_short = [&](std::uint32_t pattern) {
        const std::string& text = patterns[pattern].text;
        const std::size_t at = best_short(text, burdens);
        burdens.add(short_window(text, at));
        windows.by_short.push_back(
            {short_window(text, at), pattern, static_cast<std::uint32_t>(at)});
    };
    for (std::uint32_t i = 0; i < patterns.size(); ++i) {
        const std::string& text = patterns[i].text;
        if (text.size() < DYE_LONG_BYTES) {
            choose_short(i);
            continue;
        }
        const std::size_t first = best_stretch(text, burdens);
        bool crowded = false;
        for (std::size_t at = first; at < first + DYE_ALIGNMENTS; ++at) {
            crowded = crowded || burdens.sharers(long_window(text, at)) >= kLongSharersMax;
        }
        if (crowded) {
            choose_short(i);
            continue;
        }
        for (std::size_t at = first; at < first + DYE_ALIGNMENTS; ++at) {
            burdens.add(long_window(text, at));
            windows.by_long.push_back({long_window(text, at), i, static_cast<std::uint32_t>(at)});
        }
    }
    return windows;
}

void fill_filters(dye_table& table, const Windows& windows) {
    const auto bits = [](std::size_t count, std::uint32_t each, std::size_t words_max) {
        return std::clamp<std::size_t>(std::bit_ceil(count * each), 4096, words_max * 64);
    };
    const std::size_t long_bits = bits(windows.by_long.size(), kBitsPerWindow, DYE_LONG_WORDS_MAX);
    const std::size_t short_bits =
        bits(windows.by_short.size(), kBitsPerShort, DYE_SHORT_WORDS_MAX);
    table.long_shift = 64 - static_cast<std::uint32_t>(std::countr_zero(long_bits / 64));
    table.short_shift = 64 - static_cast<std::uint32_t>(std::countr_zero(short_bits));
    for (const Window& window : windows.by_long) {
        const std::uint64_t mixed = dye_mixed(window.value);
        table.long_filter[(mixed >> table.long_shift) & (DYE_LONG_WORDS_MAX - 1)] |=
            1ull << (mixed >> 40 & 63) | 1ull << (mixed >> 34 & 63);
    }
    for (const Window& window : windows.by_short) {
        const std::uint64_t bit = dye_mixed(window.value) >> table.short_shift;
        table.short_filter[bit >> 6] |= 1ull << (bit & 63);
    }
}

void fill_buckets(dye_table& table, const Windows& windows) {
    std::vector<Window> all = windows.by_long;
    all.insert(all.end(), windows.by_short.begin(), windows.by_short.end());
    std::stable_sort(all.begin(), all.end(), [](const Window& a, const Window& b) {
        return dye_bucket_of(a.value) < dye_bucket_of(b.value);
    });
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        dye_bucket& bucket = table.buckets[dye_bucket_of(all[i].value)];
        bucket.first = bucket.nodes == 0 ? i : bucket.first;
        ++bucket.nodes;
        table.nodes[i] = {all[i].value, all[i].pattern, all[i].offset};
    }
}

Result<void> check(const std::vector<DyePattern>& patterns) {
    if (patterns.size() > DYE_PATTERNS_MAX) {
        return Error(ErrorCode::kLimitReached,
                     fmt::format("{} forms of dyes are more than the {} that can be looked for at "
                                 "once: give fewer dyes, or fewer --dye-forms",
                                 patterns.size(),
                                 static_cast<int>(DYE_PATTERNS_MAX)));
    }
    for (const DyePattern& pattern : patterns) {
        if (pattern.text.size() < DYE_BYTES_MIN || pattern.text.size() > DYE_BYTES_MAX) {
            return Error(ErrorCode::kInvalidArgument,
                         fmt::format("a dye has {} to {} bytes in each of its forms; one has {}",
                                     static_cast<int>(DYE_BYTES_MIN),
                                     static_cast<int>(DYE_BYTES_MAX),
                                     pattern.text.size()));
        }
    }
    return {};
}

void fill_patterns(dye_table& table, const std::vector<DyePattern>& patterns) {
    for (std::uint32_t i = 0; i < patterns.size(); ++i) {
        const DyePattern& from = patterns[i];
        dye_pattern& to = table.patterns[i];
        to.dye = from.dye;
        to.length = static_cast<std::uint16_t>(from.text.size());
        to.form = static_cast<std::uint8_t>(from.form);
        to.fold = from.any_case ? ~std::uint64_t{0} : 0;
        std::copy(from.text.begin(), from.text.end(), to.text);
        for (std::size_t at = 0; from.any_case && at < DYE_BYTES_MAX; ++at) {
            to.text[at] = static_cast<__u8>(dye_small(to.text[at], to.fold));
        }
        table.edge_bytes = std::max(table.edge_bytes, to.length - 1u);
    }
}

}  // namespace

void DyeTable::look_for_anchors(content::AnchorRule rule) {
    anchors_ = rule;
    table_->edge_bytes = std::max<std::uint32_t>(table_->edge_bytes, ANCHOR_WINDOW - 1);
}

Result<void> DyeTable::build(std::vector<DyePattern> patterns) {
    TRY(check(patterns));
    auto table = std::make_unique<dye_table>();
    const Windows windows = choose_windows(patterns);
    table->patterns_by_short = static_cast<std::uint32_t>(windows.by_short.size());
    table->patterns_by_long =
        static_cast<std::uint32_t>(patterns.size()) - table->patterns_by_short;
    fill_patterns(*table, patterns);
    fill_filters(*table, windows);
    fill_buckets(*table, windows);
    if (anchors_) {
        table->edge_bytes = std::max<std::uint32_t>(table->edge_bytes, ANCHOR_WINDOW - 1);
    }
    table_ = std::move(table);
    patterns_ = std::move(patterns);
    return {};
}

}  // namespace dyetrace::capture
