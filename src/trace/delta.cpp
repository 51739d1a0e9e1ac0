#include "trace/delta.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "schema/record.h"
#include "trace/record_walk.h"

namespace dyetrace::trace {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kSlots = 256;
constexpr std::size_t kVarintMax = 10;
constexpr std::size_t kRecordHeadMax = 1 + kVarintMax + kHeadWords / 8 + kHeadWords * kVarintMax;

// The last record of each kind: where it begins and how many words it has.
struct Slot {
    std::uint32_t at = 0;
    std::uint32_t words = 0;
};
using Slots = std::array<Slot, kSlots>;

std::uint64_t word_at(const std::byte* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, kWord);
    return word;
}

// Records of one call resemble each other most.
std::uint8_t slot_of(schema::RecordBytes record) {
    const schema::RecordHeader& header = schema::header_of(record);
    const auto* call = schema::as<schema::SyscallEvent>(record);
    return static_cast<std::uint8_t>(static_cast<unsigned>(header.type) * 37u +
                                     (call != nullptr ? call->syscall : 0u));
}

std::byte* put_varint(std::byte* to, std::uint64_t value) {
    while (value >= 0x80) {
        *to++ = static_cast<std::byte>(value | 0x80);
        value >>= 7;
    }
    *to++ = static_cast<std::byte>(value);
    return to;
}

std::uint64_t zigzag(std::uint64_t difference) {
    return difference << 1 ^ (difference >> 63 != 0 ? ~std::uint64_t{0} : 0);
}

std::byte* put_head(std::byte* to,
                    const std::byte* record,
                    std::size_t words,
                    const std::byte* last,
                    std::size_t last_words) {
    to = put_varint(to, words);
    const std::size_t count = std::min(words, kHeadWords);
    std::byte* const mask = to;
    to += (count + 7) / 8;
    std::memset(mask, 0, static_cast<std::size_t>(to - mask));
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t before = i < last_words ? word_at(last + i * kWord) : 0;
        const std::uint64_t now = word_at(record + i * kWord);
        if (now != before) {
            mask[i / 8] |= std::byte{1} << (i % 8);
            to = put_varint(to, zigzag(now - before));
        }
    }
    return to;
}

// What is left of the heads; every read says whether it was there.
class Heads {
  public:
    explicit Heads(std::span<const std::byte> bytes) : bytes_(bytes) {}

    bool byte(std::uint8_t& value) {
        if (bytes_.empty()) {
            return false;
        }
        value = static_cast<std::uint8_t>(bytes_.front());
        bytes_ = bytes_.subspan(1);
        return true;
    }
    bool varint(std::uint64_t& value) {
        value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            std::uint8_t part = 0;
            if (!byte(part)) {
                return false;
            }
            value |= static_cast<std::uint64_t>(part & 0x7f) << shift;
            if (part < 0x80) {
                return true;
            }
        }
        return false;
    }
    bool take(std::size_t size, std::span<const std::byte>& taken) {
        if (bytes_.size() < size) {
            return false;
        }
        taken = bytes_.first(size);
        bytes_ = bytes_.subspan(size);
        return true;
    }
    bool empty() const { return bytes_.empty(); }

  private:
    std::span<const std::byte> bytes_;
};

// The words of a record's head, in `raw` at `at`.
bool get_head(
    Heads& heads, std::span<std::byte> raw, std::size_t at, std::size_t count, Slot last) {
    std::span<const std::byte> mask;
    if (!heads.take((count + 7) / 8, mask)) {
        return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t word = i < last.words ? word_at(raw.data() + last.at + i * kWord) : 0;
        if ((mask[i / 8] >> (i % 8) & std::byte{1}) != std::byte{0}) {
            std::uint64_t coded = 0;
            if (!heads.varint(coded)) {
                return false;
            }
            word += coded >> 1 ^ ((coded & 1) != 0 ? ~std::uint64_t{0} : 0);
        }
        std::memcpy(raw.data() + at + i * kWord, &word, kWord);
    }
    return true;
}

bool decode(Heads heads, std::span<const std::byte> tails, std::span<std::byte> raw) {
    Slots slots;
    std::size_t at = 0;
    while (at < raw.size()) {
        std::uint8_t slot = 0;
        std::uint64_t words = 0;
        if (!heads.byte(slot) || !heads.varint(words) || words == 0 ||
            words > (raw.size() - at) / kWord) {
            return false;
        }
        const std::size_t count = std::min<std::size_t>(words, kHeadWords);
        const std::size_t tail = (words - count) * kWord;
        if (!get_head(heads, raw, at, count, slots[slot]) || tails.size() < tail) {
            return false;
        }
        std::copy_n(
            tails.begin(), tail, raw.begin() + static_cast<std::ptrdiff_t>(at + count * kWord));
        tails = tails.subspan(tail);
        slots[slot] = {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(words)};
        at += words * kWord;
    }
    return heads.empty() && tails.empty();
}

}  // namespace

std::size_t encode_delta(std::span<const std::byte> raw, std::vector<std::byte>& buffer) {
    // heads grow from the front; tails are put after them at the end
    std::size_t records = 0;
    std::size_t tails = 0;
    RecordWalk count(raw);
    for (auto record = count.next(); !record.empty(); record = count.next()) {
        ++records;
        tails += record.size() - std::min(record.size(), kHeadWords * kWord);
    }
    if (count.rest() != 0) {
        return 0;
    }
    buffer.resize(
        std::max(buffer.size(), sizeof(std::uint32_t) + records * kRecordHeadMax + tails));
    Slots slots;
    std::byte* to = buffer.data() + sizeof(std::uint32_t);
    RecordWalk walk(raw);
    for (auto record = walk.next(); !record.empty(); record = walk.next()) {
        const std::uint8_t number = slot_of(record);
        Slot& slot = slots[number];
        const std::size_t words = record.size() / kWord;
        *to++ = std::byte{number};
        to = put_head(to, record.data(), words, raw.data() + slot.at, slot.words);
        slot = {static_cast<std::uint32_t>(record.data() - raw.data()),
                static_cast<std::uint32_t>(words)};
    }
    const auto size = static_cast<std::uint32_t>(
        to - buffer.data() - static_cast<std::ptrdiff_t>(sizeof(std::uint32_t)));
    std::memcpy(buffer.data(), &size, sizeof(size));
    RecordWalk again(raw);
    for (auto record = again.next(); !record.empty(); record = again.next()) {
        const std::size_t head = std::min(record.size(), kHeadWords * kWord);
        to = std::copy(record.begin() + static_cast<std::ptrdiff_t>(head), record.end(), to);
    }
    return static_cast<std::size_t>(to - buffer.data());
}

Result<void> decode_delta(std::span<const std::byte> encoded, std::span<std::byte> raw) {
    std::uint32_t size = 0;
    if (encoded.size() >= sizeof(size)) {
        std::memcpy(&size, encoded.data(), sizeof(size));
        encoded = encoded.subspan(sizeof(size));
        if (size <= encoded.size() &&
            decode(Heads(encoded.first(size)), encoded.subspan(size), raw)) {
            return {};
        }
    }
    return Error(ErrorCode::kCorrupt, "payload is no sequence of differences");
}

}  // namespace dyetrace::trace
