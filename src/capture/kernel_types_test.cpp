#include "capture/kernel_types.h"

#include <bpf/btf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace dyetrace::capture {
namespace {

using Types = std::unique_ptr<btf, decltype(&btf__free)>;

Types no_types() {
    return {btf__new_empty(), &btf__free};
}

void add_structure(const Types& types, const char* name, int member, int bits = 0) {
    ASSERT_GT(btf__add_struct(types.get(), name, 8), 0);
    ASSERT_EQ(btf__add_field(types.get(), "member", member, static_cast<unsigned>(bits), 0), 0);
}

// One line for each.
std::string shown(const Types& types) {
    std::string lines;
    for (std::uint32_t id = 1; types && id < btf__type_cnt(types.get()); ++id) {
        const btf_type& type = *btf__type_by_id(types.get(), id);
        const char* name = btf__name_by_offset(types.get(), type.name_off);
        lines += fmt::format("{} {} {}", id, btf_kind(&type), name);
        if (btf_is_struct(&type)) {
            lines += fmt::format(" of {}", btf_members(&type)[0].type);
        }
        lines += '\n';
    }
    return lines;
}

Types parsed(const Result<NamedTypes>& named) {
    return {btf__parse(named.value().path().c_str(), nullptr), &btf__free};
}

TEST(KernelTypes, those_that_are_named_and_what_lies_in_them) {
    const Types kernel = no_types();
    add_structure(kernel, "stranger", 2);  // 1
    ASSERT_EQ(btf__add_int(kernel.get(), "int", 4, BTF_INT_SIGNED), 2);
    add_structure(kernel, "asked", 4);  // 3
    ASSERT_EQ(btf__add_const(kernel.get(), 5), 4);
    add_structure(kernel, "inner", 6);  // 5
    ASSERT_EQ(btf__add_ptr(kernel.get(), 1), 6);
    add_structure(kernel, "asked", 8);  // 7: the name is there twice
    ASSERT_EQ(btf__add_array(kernel.get(), 2, 2, 2), 8);
    ASSERT_EQ(btf__add_enum(kernel.get(), "not_asked", 4), 9);
    const Types programs = no_types();
    ASSERT_EQ(btf__add_int(programs.get(), "int", 4, 0), 1);
    add_structure(programs, "asked___before_6_2", 1);
    add_structure(programs, "our_own", 1);

    const Types named = parsed(NamedTypes::of(*kernel, {}, *programs));
    EXPECT_EQ(shown(named),
              "1 2 \n"
              "2 4 asked of 3\n"
              "3 10 \n"
              "4 4 inner of 1\n"
              "5 4 asked of 6\n"
              "6 3 \n"
              "7 1 int\n"
              "8 6 kernel_type_id\n");
}

TEST(KernelTypes, those_of_modules_lie_in_them_with_the_kernels) {
    const Types kernel = no_types();
    ASSERT_EQ(btf__add_int(kernel.get(), "int", 4, BTF_INT_SIGNED), 1);
    add_structure(kernel, "inode", 1);  // 2
    const Types xfs(btf__new_empty_split(kernel.get()), &btf__free);
    add_structure(xfs, "stranger", 1);   // 3
    add_structure(xfs, "xfs_inode", 2);  // 4
    const Types ext4(btf__new_empty_split(kernel.get()), &btf__free);
    add_structure(ext4, "inside", 1);      // 3, too
    add_structure(ext4, "ext4_inode", 3);  // 4
    const Types programs = no_types();
    ASSERT_EQ(btf__add_int(programs.get(), "int", 4, 0), 1);
    add_structure(programs, "xfs_inode", 1);
    add_structure(programs, "ext4_inode", 1);

    const btf* const modules[] = {xfs.get(), ext4.get()};
    const Types named = parsed(NamedTypes::of(*kernel, modules, *programs));
    EXPECT_EQ(shown(named),
              "1 2 \n"
              "2 4 xfs_inode of 3\n"
              "3 4 inode of 4\n"
              "4 1 int\n"
              "5 4 ext4_inode of 6\n"
              "6 4 inside of 4\n"
              "7 6 kernel_type_id\n");
}

TEST(KernelTypes, numbers_that_the_programs_ask_for) {
    const Types kernel = no_types();
    ASSERT_EQ(btf__add_int(kernel.get(), "int", 4, BTF_INT_SIGNED), 1);
    ASSERT_EQ(btf__add_union(kernel.get(), "inode", 4), 2);
    add_structure(kernel, "stranger", 1);  // 3
    add_structure(kernel, "inode", 1);     // 4
    add_structure(kernel, "inode", 1);     // 5: libbpf takes the first, too
    const Types programs = no_types();
    ASSERT_EQ(btf__add_enum(programs.get(), "kernel_type_id", 4), 1);
    ASSERT_EQ(btf__add_enum_value(programs.get(), "id_of_inode", 1), 0);
    ASSERT_EQ(btf__add_enum_value(programs.get(), "id_of_folio", 2), 0);

    const Types named = parsed(NamedTypes::of(*kernel, {}, *programs));
    const int id = btf__find_by_name_kind(named.get(), "kernel_type_id", BTF_KIND_ENUM);
    ASSERT_GT(id, 0);
    const btf_type* numbers = btf__type_by_id(named.get(), static_cast<unsigned>(id));
    ASSERT_EQ(btf_vlen(numbers), 1);
    EXPECT_STREQ(btf__name_by_offset(named.get(), btf_enum(numbers)->name_off), "id_of_inode");
    EXPECT_EQ(btf_enum(numbers)->val, 4);
}

TEST(KernelTypes, of_this_kernel_a_part_is_enough) {
    const Types kernel(btf__load_vmlinux_btf(), &btf__free);
    if (!kernel) {
        GTEST_SKIP() << "this kernel shows no types";
    }
    const Types programs = no_types();
    ASSERT_EQ(btf__add_int(programs.get(), "int", 4, 0), 1);
    add_structure(programs, "task_struct", 1);
    const Types named = parsed(NamedTypes::of(*kernel, {}, *programs));
    ASSERT_TRUE(named);
    const auto size_in = [](const Types& types) {
        const int id = btf__find_by_name_kind(types.get(), "task_struct", BTF_KIND_STRUCT);
        return btf__resolve_size(types.get(), static_cast<unsigned>(id));
    };
    EXPECT_EQ(size_in(named), size_in(kernel));
    EXPECT_LT(btf__type_cnt(named.get()), btf__type_cnt(kernel.get()) / 10);
    EXPECT_LT(btf__find_by_name_kind(named.get(), "tcp_sock", BTF_KIND_STRUCT), 0);
}

}  // namespace
}  // namespace dyetrace::capture
