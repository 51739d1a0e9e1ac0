#include "content/fingerprint.h"

#include <xxhash.h>

#include "base/check.h"
#include "content/keyed.h"

namespace dyetrace::content {

void Fingerprint::Free::operator()(XXH64_state_s* state) const {
    XXH64_freeState(state);
}

Fingerprint::Fingerprint(std::optional<ContentKey> key) : state_(XXH64_createState()), key_(key) {
    CHECK(state_ != nullptr, "no memory for a fingerprint");
    XXH64_reset(state_.get(), 0);
}

void Fingerprint::add(std::span<const std::byte> bytes) {
    XXH64_update(state_.get(), bytes.data(), bytes.size());
}

std::uint64_t Fingerprint::value() const {
    const std::uint64_t plain = XXH64_digest(state_.get());
    return key_ ? keyed(plain, key_->half[0], key_->half[1]) : plain;
}

std::uint64_t fingerprint(std::span<const std::byte> bytes, const std::optional<ContentKey>& key) {
    Fingerprint result(key);
    result.add(bytes);
    return result.value();
}

}  // namespace dyetrace::content
