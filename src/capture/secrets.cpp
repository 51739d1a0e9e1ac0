#include "capture/secrets.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/file.h"

namespace dyetrace::capture {

class Secrets::Pattern {
  public:
    static Result<std::shared_ptr<const Pattern>> compile(const std::string& text) {
        auto pattern = std::make_shared<Pattern>();
        const int error = regcomp(&pattern->regex_, text.c_str(), REG_EXTENDED | REG_NEWLINE);
        if (error != 0) {
            char why[128];
            regerror(error, &pattern->regex_, why, sizeof(why));
            return Error(ErrorCode::kInvalidArgument, fmt::format("'re:{}': {}", text, why));
        }
        pattern->compiled_ = true;
        return std::shared_ptr<const Pattern>(std::move(pattern));
    }
    Pattern() = default;
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;
    ~Pattern() {
        if (compiled_) {
            regfree(&regex_);
        }
    }

    // The first match that begins at `from` or behind it; empty ones are none.
    std::optional<Stretch> next(std::span<const std::byte> bytes, std::size_t from) const {
        for (; from < bytes.size(); ++from) {
            regmatch_t match{static_cast<regoff_t>(from), static_cast<regoff_t>(bytes.size())};
            const auto* text = reinterpret_cast<const char*>(bytes.data());
            if (regexec(&regex_, text, 1, &match, REG_STARTEND) != 0) {
                return std::nullopt;
            }
            if (match.rm_eo > match.rm_so) {
                return Stretch{match.rm_so, match.rm_eo};
            }
            from = static_cast<std::size_t>(match.rm_so);
        }
        return std::nullopt;
    }

  private:
    regex_t regex_{};
    bool compiled_ = false;
};

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
        TRY(std::string bytes, base::read_file(word.substr(1), Secrets::kSecretBytesMax + 1));
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

std::vector<Secrets::Stretch> joined(std::vector<Secrets::Stretch> stretches) {
    std::sort(stretches.begin(), stretches.end());
    std::vector<Secrets::Stretch> out;
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
        TRY(std::shared_ptr<const Pattern> pattern, Pattern::compile(word.substr(3)));
        patterns_.push_back(std::move(pattern));
        match_bytes_max_ = std::max(match_bytes_max_, kRegexMatchMax);
        return {};
    }
    TRY(std::string secret, secret_of(word));
    if (secret.empty() || secret.size() > kSecretBytesMax) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("'{}' has {} bytes, and may have from 1 to {}",
                                 word,
                                 secret.size(),
                                 kSecretBytesMax));
    }
    match_bytes_max_ = std::max(match_bytes_max_, secret.size());
    strings_.push_back(std::move(secret));
    return {};
}

std::vector<Secrets::Stretch> Secrets::find(std::span<const std::byte> bytes) const {
    std::vector<Stretch> stretches;
    const auto* const begin = bytes.data();
    for (const std::string& secret : strings_) {
        const auto* at = begin;
        while (const void* found = ::memmem(at,
                                            bytes.size() - static_cast<std::size_t>(at - begin),
                                            secret.data(),
                                            secret.size())) {
            at = static_cast<const std::byte*>(found);
            const auto from = static_cast<std::size_t>(at - begin);
            stretches.emplace_back(from, from + secret.size());
            ++at;
        }
    }
    for (const auto& pattern : patterns_) {
        for (auto match = pattern->next(bytes, 0); match;
             match = pattern->next(bytes, match->first + 1)) {
            stretches.push_back(*match);
        }
    }
    return joined(std::move(stretches));
}

}  // namespace dyetrace::capture
