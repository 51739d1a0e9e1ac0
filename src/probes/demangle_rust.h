// Names of Rust in its newer form (RFC 2603, "v0"), which begins with _R.
//
//   _RNvNtCs1234_7mycrate3foo3bar      mycrate::foo::bar
//   _RINvCs1234_1a4takejE              a::take::<usize>
//
// Lifetimes and hashes of crates are left out, as people do. No name for what is not of this form, or deeper than kRustDepthMax, or longer
// than kRustShownBytesMax: a name may refer to its own parts and so grow without bound.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dyetrace::probes {

inline constexpr int kRustDepthMax = 64;
inline constexpr std::size_t kRustShownBytesMax = 4096;

std::optional<std::string> demangled_rust(std::string_view linked);

}  // namespace dyetrace::probes
