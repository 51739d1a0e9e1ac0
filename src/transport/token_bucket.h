// So much a second, with a second's worth in reserve.
//
//   TokenBucket bucket(64 * 1024);
//   if (bucket.has_some(now_ns)) { send(chunk); bucket.take(chunk.size()); }
//
// What is taken may exceed what is there, by one piece: the debt is waited for.
#pragma once

#include <algorithm>
#include <cstdint>

namespace dyetrace::transport {

class TokenBucket {
  public:
    static constexpr double kNsPerS = 1e9;

    // 0: no limit.
    explicit TokenBucket(double per_second) : per_second_(per_second), tokens_(per_second) {}

    bool has_some(std::int64_t now_ns) {
        if (per_second_ == 0) {
            return true;
        }
        const double elapsed_s =
            filled_ns_ == 0 ? 0 : static_cast<double>(now_ns - filled_ns_) / kNsPerS;
        tokens_ = std::min(per_second_, tokens_ + elapsed_s * per_second_);
        filled_ns_ = now_ns;
        return tokens_ > 0;
    }
    void take(double tokens) { tokens_ -= per_second_ == 0 ? 0 : tokens; }

  private:
    double per_second_;
    double tokens_;
    std::int64_t filled_ns_ = 0;
};

}  // namespace dyetrace::transport
