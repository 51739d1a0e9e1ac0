// Questions that several files ask of BTF, the kernel's description of its types.
//
//   c_declaration(types, id of `const char *`, "name")     const char *name
//   c_declaration(types, id of `u8 [16]`, "")              u8[16]
//   plain_type(types, id of `const volatile pid_t`)        int
//
// Types come from a file that anybody may have written: a number that no type has is `void`, what turns in circles ends, and a text
// that would grow without end ends in "...". Nothing here fails.
#pragma once

#include <bpf/btf.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dyetrace::probes {

struct FreeBtf {
    void operator()(btf* types) const { btf__free(types); }
};
using BtfOwner = std::unique_ptr<btf, FreeBtf>;

// Views live as long as the types do, and nothing is added to them.
std::string_view btf_name(const btf& types, std::uint32_t name_offset);

// A type without its typedefs, const, volatile, restrict and tags.
struct PlainType {
    std::uint32_t id = 0;
    const btf_type* type = nullptr;  // null: void
    bool is_in_user_memory =
        false;  // it has the tag "user"; the types of kernels that GCC built have none
    bool is_per_cpu = false;

    bool is_kind(unsigned kind) const { return type != nullptr && btf_kind(type) == kind; }
    bool has_members() const { return is_kind(BTF_KIND_STRUCT) || is_kind(BTF_KIND_UNION); }
    bool is_enum() const { return is_kind(BTF_KIND_ENUM) || is_kind(BTF_KIND_ENUM64); }
};
PlainType plain_type(const btf& types, std::uint32_t id);

// `char`, the one letter of a text, and not a number of 8 bits.
bool is_character(const btf& types, const PlainType& plain);
// To `char`, or to `const unsigned char` in these words, as the kernel's names of files are written: `const u8 *` is bytes.
bool points_to_text(const btf& types, const PlainType& pointer);

// Says what C writes for a thing of this type that is called `name`; without a name, for the type alone.
std::string c_declaration(const btf& types, std::uint32_t id, std::string name);

}  // namespace dyetrace::probes
