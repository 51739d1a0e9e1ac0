#include "capture/secrets.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/file.h"

namespace dyetrace::capture {

namespace {

std::optional<std::string> bytes_of_hex(std::string_view digits) {
    std::string bytes;
    if (digits.size() % 2 != 0) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        int value = 0;
        for (const char digit : digits.substr(i, 2)) {
            const bool is_letter = (digit | 0x20) >= 'a' && (digit | 0x20) <= 'f';
            if (!is_letter && (digit < '0' || digit > '9')) {
                return std::nullopt;
            }
            value = value * 16 + (is_letter ? (digit | 0x20) - 'a' + 10 : digit - '0');
        }
        bytes.push_back(static_cast<char>(value));
    }
    return bytes;
}

Result<std::string> secret_of(const std::string& word) {
    if (word.starts_with('@')) {
        TRY(std::string bytes, base::read_file(word.substr(1), Secrets::kJoinedBytesMax + 1));
        if (bytes.ends_with('\n')) {
            bytes.pop_back();
        }
        return bytes;
    }
    if (word.starts_with("hex:")) {
        const auto bytes = bytes_of_hex(std::string_view(word).substr(4));
        return bytes ? Result<std::string>(*bytes)
                     : Error(ErrorCode::kInvalidArgument,
                             fmt::format("'{}': not an even number of hexadecimal digits", word));
    }
    return word;
}

std::vector<Stretch> joined(std::vector<Stretch> stretches) {
    std::erase_if(stretches,
                  [](const Stretch& stretch) { return stretch.first == stretch.second; });
    std::sort(stretches.begin(), stretches.end());
    std::vector<Stretch> out;
    for (const auto& [from, to] : stretches) {
        if (!out.empty() && from <= out.back().second) {
            out.back().second = std::max(out.back().second, to);
        } else {
            out.emplace_back(from, to);
        }
    }
    return out;
}

}  // namespace

Result<Secrets> Secrets::parse(const std::vector<std::string>& words) {
    Secrets secrets;
    for (const std::string& word : words) {
        TRY(secrets.add(word));
    }
    return secrets;
}

Result<void> Secrets::add(const std::string& word) {
    if (word.starts_with("re:")) {
        auto pattern = BytePattern::parse(std::string_view(word).substr(3));
        if (!pattern.ok()) {
            return std::move(pattern).error().with_context(fmt::format("'{}'", word));
        }
        match_bytes_max_ =
            std::max(match_bytes_max_, std::min(pattern.value().longest_match(), kJoinedBytesMax));
        patterns_.push_back(std::make_shared<const BytePattern>(std::move(pattern).value()));
        return {};
    }
    TRY(std::string secret, secret_of(word));
    if (secret.empty() || secret.size() > kJoinedBytesMax) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("'{}' has {} bytes, and may have from 1 to {}",
                                 word,
                                 secret.size(),
                                 kJoinedBytesMax));
    }
    match_bytes_max_ = std::max(match_bytes_max_, secret.size());
    strings_.push_back(std::move(secret));
    return {};
}

namespace {

// How many of the last bytes of `text` are the first ones of `secret`; fewer than all of both.
// Knuth, Morris and Pratt: what was compared is never compared again.
template <typename Secret, typename Text>
std::size_t overlap(const Secret& secret, const Text& text) {
    std::vector<std::size_t> shorter(secret.size() + 1);  // with one byte less that also fits
    std::size_t fits = 0;
    for (std::size_t i = 1; i < secret.size(); ++i) {
        while (fits > 0 && secret[i] != secret[fits]) {
            fits = shorter[fits];
        }
        fits += secret[i] == secret[fits] ? 1 : 0;
        shorter[i + 1] = fits;
    }
    fits = 0;
    for (const char letter : text) {
        while (fits > 0 && (fits == secret.size() || letter != secret[fits])) {
            fits = shorter[fits];
        }
        fits += letter == secret[fits] ? 1 : 0;
    }
    return fits == secret.size() ? shorter[fits] : fits;
}

void find_parts(std::string_view secret,
                std::string_view text,
                Ends ends,
                std::vector<Stretch>& out) {
    const std::string_view first = text.substr(0, secret.size() - 1);
    const std::string_view last = text.substr(text.size() - first.size());
    if (ends.open_after) {
        const std::size_t part = overlap(secret, last);
        out.emplace_back(text.size() - part, text.size());
    }
    if (ends.open_before) {
        const std::size_t part = overlap(std::string(secret.rbegin(), secret.rend()),
                                         std::string(first.rbegin(), first.rend()));
        out.emplace_back(0, part);
    }
    if (ends.open_before && ends.open_after && secret.find(text) != std::string_view::npos) {
        out.emplace_back(0, text.size());
    }
}

}  // namespace

std::vector<Stretch> Secrets::find(std::span<const std::byte> bytes, Ends ends) const {
    std::vector<Stretch> stretches;
    const std::string_view text = base::text_of(bytes);
    for (const std::string& secret : strings_) {
        for (std::size_t at = text.find(secret); at != std::string_view::npos;
             at = text.find(secret, at + 1)) {
            stretches.emplace_back(at, at + secret.size());
        }
        find_parts(secret, text, ends, stretches);
    }
    for (const auto& pattern : patterns_) {
        pattern->find(bytes, ends, stretches);
    }
    return joined(std::move(stretches));
}

}  // namespace dyetrace::capture
