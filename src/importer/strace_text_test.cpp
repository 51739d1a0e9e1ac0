#include "importer/strace_text.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "importer/syscall_names.h"
#include "schema/text.h"

namespace dyetrace::importer {
namespace {

using schema::ObjectType;

TEST(StraceText, splits_arguments_at_their_own_commas) {
    const auto arguments =
        split_arguments(R"(3<UNIX-STREAM:[1->2,"/a,b"]>, "c,d"..., [{e=1, f=2}, g], h|i)");
    ASSERT_EQ(arguments.size(), 4u);
    EXPECT_EQ(arguments[1], R"("c,d"...)");
    EXPECT_EQ(arguments[2], "[{e=1, f=2}, g]");
    EXPECT_TRUE(split_arguments("").empty());
}

TEST(StraceText, takes_strings_back_to_their_bytes) {
    const auto text = quoted_string(R"("a\n\t\"\\\0\12\x7f\377z"...)");
    ASSERT_TRUE(text);
    EXPECT_EQ(text->bytes, std::string("a\n\t\"\\\0\n\x7f\xffz", 10));
    EXPECT_TRUE(text->is_cut);
    EXPECT_FALSE(quoted_string("0x7ffc"));
    EXPECT_FALSE(quoted_string("\"abc"));
}

TEST(StraceText, reads_what_a_descriptor_is_of) {
    const auto file = descriptor_in("3</tmp/a\\74b>");
    EXPECT_EQ(file->fd, 3);
    EXPECT_EQ(file->of->path, "/tmp/a<b");
    EXPECT_EQ(descriptor_in("1</dev/null<char 1:3>>")->of->type, ObjectType::kCharacterDevice);
    EXPECT_EQ(descriptor_in("1</dev/null<char 1:3>>")->of->path, "/dev/null");
    EXPECT_TRUE(descriptor_in("3</tmp/x>(deleted)")->of->is_deleted);
    EXPECT_EQ(descriptor_in("4<pipe:[77]>")->of->inode, 77u);
    EXPECT_EQ(descriptor_in("5<anon_inode:[eventfd]>")->of->path, "[eventfd]");
    EXPECT_TRUE(descriptor_in("AT_FDCWD</tmp>")->is_cwd);
    EXPECT_FALSE(descriptor_in("-1"));
    EXPECT_FALSE(descriptor_in("0x7ffc"));
    const auto tcp = descriptor_in("4<TCPv6:[[::1]:80->[::2]:5]>")->of;
    EXPECT_EQ(tcp->local_address + " " + tcp->remote_address, "::1 ::2");
    EXPECT_EQ(tcp->remote_port, 5);
    EXPECT_EQ(descriptor_in("4<TCP:[190979]>")->of->inode, 190979u);
    EXPECT_EQ(descriptor_in("4<TCP:[127.0.0.1:80]>")->of->local_port, 80);
    const auto pair = descriptor_in("4<UNIX-STREAM:[1->2,@\"x\"]>")->of;
    EXPECT_EQ(pair->peer_inode, 2u);
    EXPECT_EQ(pair->unix_path, "@x");
}

TEST(StraceText, reads_addresses) {
    const auto text = [](const char* address) {
        const auto read = schema::parse_socket_address(sockaddr_in_text(address));
        return read ? read->address + " " + std::to_string(read->port) : "none";
    };
    EXPECT_EQ(text("{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"10.0.0.1\")}"),
              "10.0.0.1 80");
    EXPECT_EQ(text("{sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), "
                   "inet_pton(AF_INET6, \"::1\", &sin6_addr), sin6_scope_id=0}"),
              "::1 443");
    EXPECT_EQ(text("{sa_family=AF_UNIX, sun_path=\"/run/x\"}"), "/run/x 0");
    EXPECT_EQ(text("{sa_family=AF_UNIX, sun_path=@\"x\"}"), "@x 0");
    EXPECT_EQ(text("0x7ffc"), "none");
    EXPECT_EQ(text("{sa_family=AF_INET, sin_port=htons(99999), sin_addr=inet_addr(\"x\")}"),
              "none");
}

TEST(StraceText, reads_results) {
    EXPECT_EQ(call_result(" = 3</tmp/x>")->descriptor->of->path, "/tmp/x");
    EXPECT_EQ(call_result("     = -1 ENOENT (No such file or directory)")->value, -2);
    EXPECT_EQ(call_result(" = ? ERESTARTSYS (To be restarted if SA_RESTART is set)")->value, -512);
    EXPECT_FALSE(call_result(" = ?")->value);
    EXPECT_EQ(call_result(" = 0x7f00")->value, 0x7f00);
    EXPECT_EQ(call_result(" = 1 ([{fd=3, revents=POLLIN}])")->rest, "([{fd=3, revents=POLLIN}])");
    EXPECT_FALSE(call_result(" = -1 EVERYTHING (x)")->is_known);
    EXPECT_FALSE(call_result(" = x"));
    EXPECT_FALSE(call_result(""));
}

TEST(StraceText, knows_the_numbers_of_words) {
    EXPECT_EQ(argument_number("open_flags", "O_WRONLY|O_CREAT|O_TRUNC"), 01101u);
    EXPECT_EQ(argument_number("signal", "SIGCHLD"), 17u);
    EXPECT_EQ(argument_number("signal", "SIGRT_2"), 34u);
    EXPECT_EQ(argument_number("mode", "0644"), 0644u);
    EXPECT_EQ(argument_number("mode", "S_IFREG|0644"), 0100644u);
    EXPECT_EQ(argument_number("int", "-1"), UINT64_MAX);
    EXPECT_EQ(argument_number("size", "8192*1024"), 8192u * 1024u);
    EXPECT_EQ(argument_number("address", "NULL"), 0u);
    EXPECT_EQ(argument_number("seek_whence", "SEEK_END"), 2u);
    EXPECT_EQ(argument_number("message_flags", "0x4000 /* MSG_NOSIGNAL */"), 0x4000u);
    EXPECT_FALSE(argument_number("int", "SOMETHING_NEW"));
    EXPECT_FALSE(argument_number("int", ""));
    EXPECT_FALSE(argument_number("size", "99999999999999999999999"));
}

}  // namespace
}  // namespace dyetrace::importer
