// Names of functions as their programmers write them, from the names that linkers see.
//
//   _ZN4disk5Cache4readEPci                  disk::Cache::read(char*, int)
//   _ZN4core3fmt5write17h0123456789abcdefE   core::fmt::write
//   _RNvNtCs1234_7mycrate3foo3bar            mycrate::foo::bar
//   vfs_read                                 vfs_read
//
// Rust's newer names (_R…) are read as far as they are paths, types and generic arguments; what is beyond that stays as linked.
#pragma once

#include <string>
#include <string_view>

namespace dyetrace::probes {

// What is no name of C++ or Rust comes back as it is.
std::string demangled(const std::string& linked);

// disk::Cache::read(char*, int) const   ─►  disk::Cache::read
// void fill<int>(int*)                  ─►  fill<int>
// text[abi:cxx11](int)                  ─►  text
std::string_view without_parameters(std::string_view shown);

}  // namespace dyetrace::probes
