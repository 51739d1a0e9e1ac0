// From a value of a known type, member by member, to what can be read.
//
//   file (struct file *) ─ f_inode ─► struct inode * ─ i_ino ─► unsigned long         hops {32, 64}
//   name (struct qstr *) ─ name ─► const char *                                       hops {8}, text at the pointer
//
//   a.b        b of the structure, or of the structure a points to; members of unnamed structures are the outer one's
//   a.3 a[3]   element 3 of an array, or of what a points to
//   a.value    what a points to, where that is no structure (pos.value of `loff_t *pos`)
//
// Limits: kPartsMax parts; what starts in the kernel's memory and goes on in a process's is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "probes/btf_types.h"
#include "probes/probe_value.h"

namespace dyetrace::probes {

constexpr std::size_t kPartsMax = 16;
// An element of what a pointer points to has at most this number: nobody writes a larger one by hand.
constexpr std::int64_t kIndexMax = 1 << 20;
// So much is read of text in place whose length its type does not say (`char iname[]`).
constexpr std::uint32_t kOpenTextBytes = 256;

// "file.f_inode[3].i_ino" is file, f_inode, 3, i_ino.
Result<std::vector<std::string>> split_member_path(std::string_view text);

class MemberPath {
  public:
    // `start` says where a value of that type stands, which is called `name`. The types outlive this.
    MemberPath(const btf& types, ProbeValue start, std::uint32_t type, std::string name);

    Result<void> step(const std::string& part);
    // What the path has come to; kUnsupported if that is no value, as a whole structure.
    Result<ProbeValue> value() const;

  private:
    Result<void> follow_pointer(const PlainType& pointer);
    Result<void> step_to_member(const PlainType& structure, const std::string& member);
    Result<void> step_to_element(std::uint32_t element, std::uint64_t count, std::int64_t index);
    Result<void> place_bits(std::uint64_t bit, std::uint32_t bits);
    Result<void> describe_number(const PlainType& plain, ProbeValue& value) const;
    void describe_pointer(const PlainType& plain, ProbeValue& value) const;
    // "'file.f_inode' (struct inode *)"
    std::string what_it_is() const;

    const btf& types_;
    ProbeValue value_;  // with the hops to r
    std::uint32_t type_;
    std::string name_;
    std::optional<std::int64_t> offset_;  // the value is at r + offset_; none: it is r
    std::uint32_t unit_bytes_ = 0;        // of a bit field: what is read
};

}  // namespace dyetrace::probes
