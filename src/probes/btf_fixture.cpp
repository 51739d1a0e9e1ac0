#include "probes/btf_fixture.h"

namespace dyetrace::probes {
namespace {

// Where GCC and Clang begin the bit fields of Inode.
constexpr std::size_t kFirstBit = 8 * (offsetof(Inode, table) + sizeof(Inode::table));
constexpr std::size_t kWideBit = kFirstBit + 64;
static_assert(offsetof(Inode, is_open) == (kWideBit + 40) / 8);

}  // namespace

TestKernel::TestKernel(BtfFixture& btf) {
    int_ = btf.integer("int", 4, BTF_INT_SIGNED);
    long_ = btf.integer("long", 8, BTF_INT_SIGNED);
    char_ = btf.integer("char", 1);
    text = btf.pointer(btf.constant(char_));
    const std::uint32_t unsigned_int = btf.integer("unsigned int", 4);
    const std::uint32_t unsigned_long = btf.integer("unsigned long", 8);
    const std::uint32_t mode = btf.alias("umode_t", btf.integer("unsigned short", 2));
    const std::uint32_t short_type = btf.integer("short", 2, BTF_INT_SIGNED);
    const std::uint32_t truth = btf.integer("_Bool", 1, BTF_INT_BOOL);
    const std::uint32_t label = btf.array(char_, sizeof(Inode::label));
    const std::uint32_t table = btf.array(btf.array(short_type, 3), 2);

    const std::uint32_t number = btf.constant(unsigned_long);
    const std::uint32_t tail = btf.array(char_, 0);

    const std::uint32_t links = btf.either("", 4);
    btf.member("links", unsigned_int, 0);
    btf.member("signed_links", int_, 0);

    inode = btf.structure("inode", sizeof(Inode));
    btf.member("mode", mode, offsetof(Inode, mode));
    btf.member("", links, offsetof(Inode, links));
    btf.member("number", number, offsetof(Inode, number));
    btf.member("label", label, offsetof(Inode, label));
    btf.member("table", table, offsetof(Inode, table));
    btf.bits("low", unsigned_int, kFirstBit, 3);
    btf.bits("middle", int_, kFirstBit + 3, 7);
    btf.bits("high", unsigned_int, kFirstBit + 10, 22);
    btf.bits("wide", unsigned_long, kWideBit, 40);
    btf.member("is_open", truth, offsetof(Inode, is_open));

    const std::uint32_t inode_pointer = btf.pointer(inode);
    const std::uint32_t long_pointer = btf.pointer(long_);
    const std::uint32_t nothing_pointer = btf.pointer(0);
    // What points to the structure has a smaller number than it has.
    file_pointer = btf.pointer(nothing_pointer + 3);
    const std::uint32_t all = btf.pointer(file_pointer);
    file = btf.structure("file", sizeof(File));
    CHECK(file == nothing_pointer + 3);
    btf.member("inode", inode_pointer, offsetof(File, inode));
    btf.member("name", text, offsetof(File, name));
    btf.member("next", file_pointer, offsetof(File, next));
    btf.member("all", all, offsetof(File, all));
    btf.member("data", nothing_pointer, offsetof(File, data));
    btf.member("position", long_pointer, offsetof(File, position));
    btf.member("own", inode, offsetof(File, own));
    btf.member("tail", tail, sizeof(File));
}

}  // namespace dyetrace::probes
