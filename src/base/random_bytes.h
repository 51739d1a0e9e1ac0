// Makes bytes for tests that repeat nowhere, and bytes as damage leaves them; the same for the same seed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <random>
#include <string>

namespace dyetrace::base {

inline std::string random_bytes(std::size_t size, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::string bytes(size, 0);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
    return bytes;
}

// One kind of damage at a place, beside those that anything can suffer.
using Damage = std::function<void(std::string& bytes, std::size_t at, std::mt19937_64& random)>;

// Up to `most` cuts, flips, copies and damages of one's own, each as likely as the others.
inline std::string mutated(std::string bytes,
                           std::size_t most,
                           std::mt19937_64& random,
                           std::initializer_list<Damage> own) {
    for (std::uint64_t i = 1 + random() % most; i > 0 && bytes.size() > 8; --i) {
        const std::size_t at = random() % (bytes.size() - 8);
        switch (const std::size_t kind = random() % (3 + own.size())) {
            case 0:
                bytes.resize(at + 8);
                break;
            case 1:
                bytes[at] = static_cast<char>(random());
                break;
            case 2:
                bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 300));
                break;
            default:
                own.begin()[kind - 3](bytes, at, random);
        }
    }
    return bytes;
}

}  // namespace dyetrace::base
