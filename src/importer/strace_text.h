// Words of strace's arguments: strings, structures, descriptors with what they are of, addresses, results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/generated/records.h"

namespace dyetrace::importer {

// At the commas that are in no string, structure or decoration; without the blanks around.
std::vector<std::string_view> split_arguments(std::string_view text);

struct Quoted {
    std::string bytes = {};
    bool is_cut = false;  // "abc"...
};

// A string in quotes at the start of the text; nothing if there is none.
std::optional<Quoted> quoted_string(std::string_view text);
// Escapes as in a string, without quotes.
std::string unescaped_text(std::string_view text);

// The value of `name=` in a structure {…}, or of an argument that is written so; empty: it is not there.
std::string_view member_of(std::string_view structure, std::string_view name);
// The elements of an array […]; also its only structure.
std::vector<std::string_view> elements_of(std::string_view array);

// What -y, -yy write after a descriptor.
struct Decoration {
    schema::ObjectType type = schema::ObjectType::kUnknown;
    std::string path = {};  // of a file; "[eventfd]" of anon_inode:[eventfd]
    bool is_deleted = false;
    std::uint64_t inode = 0;  // of a pipe, a socket; 0: not said
    // Sockets.
    std::uint16_t family = 0, socket_type = 0, protocol = 0;
    std::string local_address = {}, remote_address = {};
    std::uint16_t local_port = 0, remote_port = 0;
    std::uint64_t peer_inode = 0;  // UNIX-STREAM:[1->2]
    std::string unix_path = {};
};

struct Descriptor {
    std::int32_t fd = -1;
    bool is_cwd = false;  // AT_FDCWD
    std::optional<Decoration> of;
};

// "3", "3</tmp/x>", "AT_FDCWD</tmp>"; nothing if it is none. A pointer or -1 is none.
std::optional<Descriptor> descriptor_in(std::string_view text);

// {sa_family=AF_INET, sin_port=htons(80), …} as the bytes of a sockaddr; empty if it is none.
std::string sockaddr_in_text(std::string_view text);

struct CallResult {
    std::optional<std::int64_t> value;  // nothing: it never returned
    std::optional<Descriptor> descriptor;
    std::string_view rest;  // "(Timeout)", "([{fd=3, revents=POLLIN}])"
    bool is_known = true;   // false: words that no number is known for
};

// What follows "name(…)": " = -1 ENOENT (No such file or directory)".
std::optional<CallResult> call_result(std::string_view text);

}  // namespace dyetrace::importer
