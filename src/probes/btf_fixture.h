// Types for tests, as a compiler describes them: the C++ structures below are what the BTF says, so that a value can be read for real.
#pragma once

#include <bpf/btf.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "base/file.h"
#include "probes/btf_types.h"

namespace dyetrace::probes {

struct Inode {
    unsigned short mode;
    union {
        unsigned links;
        int signed_links;
    };
    unsigned long number;
    char label[12];
    short table[2][3];
    unsigned low : 3;
    int middle : 7;
    unsigned high : 22;
    unsigned long long wide : 40;
    bool is_open;
};

struct File {
    Inode* inode;
    const char* name;
    File* next;
    File** all;
    void* data;
    long* position;
    Inode own;
};

class BtfFixture {
  public:
    explicit BtfFixture(btf* base = nullptr)
        : types(base != nullptr ? btf__new_empty_split(base) : btf__new_empty()) {}

    std::uint32_t integer(const char* name, std::size_t bytes, int encoding = 0) {
        return id(btf__add_int(types.get(), name, bytes, encoding));
    }
    std::uint32_t pointer(std::uint32_t to) {
        return id(btf__add_ptr(types.get(), static_cast<int>(to)));
    }
    std::uint32_t constant(std::uint32_t of) {
        return id(btf__add_const(types.get(), static_cast<int>(of)));
    }
    std::uint32_t array(std::uint32_t of, std::uint32_t count) {
        return id(btf__add_array(types.get(), static_cast<int>(of), static_cast<int>(of), count));
    }
    std::uint32_t tag(const char* tag, std::uint32_t of) {
        return id(btf__add_type_tag(types.get(), tag, static_cast<int>(of)));
    }
    std::uint32_t alias(const char* name, std::uint32_t of) {
        return id(btf__add_typedef(types.get(), name, static_cast<int>(of)));
    }
    std::uint32_t structure(const char* name, std::size_t bytes) {
        return id(btf__add_struct(types.get(), name, static_cast<std::uint32_t>(bytes)));
    }
    std::uint32_t either(const char* name, std::size_t bytes) {
        return id(btf__add_union(types.get(), name, static_cast<std::uint32_t>(bytes)));
    }
    // Adds a member to the last structure or union.
    void member(const char* name, std::uint32_t type, std::size_t byte) {
        bits(name, type, byte * 8, 0);
    }
    void bits(const char* name, std::uint32_t type, std::size_t bit, std::size_t count) {
        CHECK(btf__add_field(types.get(),
                             name,
                             static_cast<int>(type),
                             static_cast<std::uint32_t>(bit),
                             static_cast<std::uint32_t>(count)) == 0);
    }

    using Parameters = std::initializer_list<std::pair<const char*, std::uint32_t>>;
    std::uint32_t prototype(std::uint32_t result, Parameters parameters) {
        const std::uint32_t made = id(btf__add_func_proto(types.get(), static_cast<int>(result)));
        for (const auto& [name, type] : parameters) {
            CHECK(btf__add_func_param(types.get(), name, static_cast<int>(type)) == 0);
        }
        return made;
    }
    std::uint32_t function(const char* name, std::uint32_t result, Parameters parameters) {
        const std::uint32_t its_prototype = prototype(result, parameters);
        return id(
            btf__add_func(types.get(), name, BTF_FUNC_STATIC, static_cast<int>(its_prototype)));
    }

    std::string bytes() const {
        std::uint32_t size = 0;
        const auto* begin = static_cast<const char*>(btf__raw_data(types.get(), &size));
        return {begin, size};
    }
    void write(const std::string& path) const {
        base::write_file_atomically(path, bytes()).value();
    }

    BtfOwner types;

  private:
    static std::uint32_t id(int made) {
        CHECK(made > 0);
        return static_cast<std::uint32_t>(made);
    }
};

// The kernel of the tests: structures inode and file, and functions that take them.
struct TestKernel {
    explicit TestKernel(BtfFixture& btf);

    std::uint32_t int_, long_, char_, text, inode, file, file_pointer;
};

}  // namespace dyetrace::probes
