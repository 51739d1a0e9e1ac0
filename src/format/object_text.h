// An object as strace -y and -yy show it after a descriptor.
//
//   </home/a/b>   </dev/null<char 1:3>>   <pipe:[12]>   <TCP:[127.0.0.1:33->127.0.0.1:80]>   <UNIX-STREAM:[12,"/run/x"]>
#pragma once

#include <cstdint>
#include <string>

#include "schema/dictionary.h"

namespace dyetrace::format {

// No names; paths, and sockets by number (-y); sockets by their ends, and devices with their number (-yy).
enum class Names : std::uint8_t { kNone, kPaths, kAll };

// Nothing for an object that has no name.
void append_object(std::string& out, const schema::Object& object, Names names);

// "TCP:[127.0.0.1:33->127.0.0.1:80]", "UDP:[0.0.0.0:53]", "UNIX-STREAM:[12->13]", "socket:[12]".
void append_socket(std::string& out, const schema::Object& object);

}  // namespace dyetrace::format
