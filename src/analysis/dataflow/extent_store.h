// Where extents wait that nobody has touched for long: a file, whoever opens it. The analysis hands it numbers and gets them back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dyetrace::analysis {

class ExtentStore {
  public:
    virtual ~ExtentStore() = default;

    // Keeps them; a ticket for take() or drop(), each of which ends it. nullopt: there is no room, or writing failed.
    virtual std::optional<std::uint64_t> put(std::span<const std::uint64_t> words) = 0;

    // What put() was given; empty: reading failed.
    virtual std::vector<std::uint64_t> take(std::uint64_t ticket) = 0;
    virtual void drop(std::uint64_t ticket) = 0;
};

}  // namespace dyetrace::analysis
