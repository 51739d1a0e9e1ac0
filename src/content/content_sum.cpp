#include "content/content_sum.h"

namespace dyetrace::content {
namespace {

struct Halves {
    std::uint64_t high, low;
};

Halves halves_of(std::uint64_t sum) {
    return {sum >> 32, sum & 0xffff'ffff};
}

std::uint64_t whole_of(const Halves& halves) {
    return halves.high << 32 | halves.low;
}

// 256^bytes
std::uint64_t place_value(std::uint64_t bytes, std::uint64_t prime) {
    std::uint64_t result = 1, square = 256;
    for (; bytes > 0; bytes >>= 1) {
        if ((bytes & 1) != 0) {
            result = result * square % prime;
        }
        square = square * square % prime;
    }
    return result;
}

// value^(prime - 2), by Fermat
std::uint64_t inverse(std::uint64_t value, std::uint64_t prime) {
    std::uint64_t result = 1;
    for (std::uint64_t power = prime - 2; power > 0; power >>= 1) {
        if ((power & 1) != 0) {
            result = result * value % prime;
        }
        value = value * value % prime;
    }
    return result;
}

// What the front counts for when so many bytes stand after it.
Halves shifted(std::uint64_t front, std::uint64_t bytes) {
    const Halves halves = halves_of(front);
    return {halves.high * place_value(bytes, SUM_PRIME_HIGH) % SUM_PRIME_HIGH,
            halves.low * place_value(bytes, SUM_PRIME_LOW) % SUM_PRIME_LOW};
}

}  // namespace

std::uint64_t content_sum(std::span<const std::byte> bytes) {
    Halves halves{0, 0};
    for (const std::byte byte : bytes) {
        const auto digit = std::to_integer<std::uint64_t>(byte);
        halves.high = (halves.high * 256 + digit) % SUM_PRIME_HIGH;
        halves.low = (halves.low * 256 + digit) % SUM_PRIME_LOW;
    }
    return whole_of(halves);
}

std::uint64_t joined_sum(std::uint64_t front, std::uint64_t back, std::uint64_t back_bytes) {
    const Halves first = shifted(front, back_bytes), last = halves_of(back);
    return whole_of(
        {(first.high + last.high) % SUM_PRIME_HIGH, (first.low + last.low) % SUM_PRIME_LOW});
}

std::uint64_t sum_of_rest(std::uint64_t whole, std::uint64_t front, std::uint64_t back_bytes) {
    const Halves first = shifted(front, back_bytes), all = halves_of(whole);
    return whole_of({(all.high + SUM_PRIME_HIGH - first.high) % SUM_PRIME_HIGH,
                     (all.low + SUM_PRIME_LOW - first.low) % SUM_PRIME_LOW});
}

std::uint64_t sum_of_front(std::uint64_t whole, std::uint64_t back, std::uint64_t back_bytes) {
    const Halves all = halves_of(whole), last = halves_of(back);
    const auto divided = [&](std::uint64_t number, std::uint64_t prime) {
        return number % prime * inverse(place_value(back_bytes, prime), prime) % prime;
    };
    return whole_of({divided(all.high + SUM_PRIME_HIGH - last.high, SUM_PRIME_HIGH),
                     divided(all.low + SUM_PRIME_LOW - last.low, SUM_PRIME_LOW)});
}

// A number below 2^32 is its remainder, or that and the prime.
bool may_be_sum_of(std::uint64_t sum, std::uint64_t bytes) {
    const Halves halves = halves_of(sum);
    for (const std::uint64_t number : {halves.high, halves.high + SUM_PRIME_HIGH}) {
        if (number >> (8 * bytes) == 0 && number % SUM_PRIME_LOW == halves.low) {
            return true;
        }
    }
    return false;
}

}  // namespace dyetrace::content
