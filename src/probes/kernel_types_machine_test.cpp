// The types of the kernel that runs here.

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>

#include "probes/kernel_types.h"

namespace dyetrace::probes {
namespace {

class KernelTypesOfThisMachine : public testing::Test {
  protected:
    void SetUp() override {
        auto opened = KernelTypes::open({});
        if (!opened.ok()) {
            GTEST_SKIP() << opened.error().text();
        }
        types_.emplace(std::move(opened).value());
        raw_.reset(btf__parse("/sys/kernel/btf/vmlinux", nullptr));
        ASSERT_NE(raw_, nullptr);
    }

    // The plain way, for comparison.
    std::int64_t byte_of(const char* structure, std::string_view member) {
        const std::int32_t id = btf__find_by_name_kind(raw_.get(), structure, BTF_KIND_STRUCT);
        const btf_type* type = btf__type_by_id(raw_.get(), static_cast<std::uint32_t>(id));
        for (std::uint32_t i = 0; i < btf_vlen(type); ++i) {
            if (btf_name(*raw_, btf_members(type)[i].name_off) == member) {
                return btf_member_bit_offset(type, i) / 8;
            }
        }
        return -1;
    }

    std::optional<KernelTypes> types_;
    BtfOwner raw_;
};

TEST_F(KernelTypesOfThisMachine, lead_to_members_where_the_kernel_has_them) {
    const ProbeValue pid = types_->value("wake_up_process", "p.pid").value();
    EXPECT_EQ(pid.hops, std::vector<std::int64_t>{byte_of("task_struct", "pid")});
    EXPECT_EQ(pid.bytes, 4u);
    EXPECT_TRUE(pid.is_signed);
    const ProbeValue name = types_->value("wake_up_process", "p.comm").value();
    EXPECT_EQ(name.form, ValueForm::kTextArray);
    EXPECT_EQ(name.bytes, 16u);
    const ProbeValue number = types_->value("vfs_read", "file.f_inode.i_ino").value();
    EXPECT_EQ(number.hops,
              (std::vector<std::int64_t>{byte_of("file", "f_inode"), byte_of("inode", "i_ino")}));
    EXPECT_EQ(types_->value("vfs_read", "pos.value").value().hops, std::vector<std::int64_t>{0});
    const ProbeValue previous = types_->raw_tracepoint_value("sched_switch", "prev.pid").value();
    EXPECT_EQ(previous.start, ValueStart::kContext);
    EXPECT_EQ(previous.number, 8);
    EXPECT_EQ(previous.hops, pid.hops);
}

TEST_F(KernelTypesOfThisMachine, write_prototypes_as_the_kernel_s_sources_do) {
    const auto functions = types_->functions("vfs_read");
    ASSERT_EQ(functions.size(), 1u);
    const std::string expected =
        "ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)";
    EXPECT_EQ(functions[0].prototype, expected);
}

TEST_F(KernelTypesOfThisMachine, tell_the_arguments_of_all_functions) {
    std::size_t values = 0, left_out = 0, unreadable = 0;
    for (const KernelFunction& each : types_->functions("[a-f]*")) {
        const auto arguments = types_->arguments(each.name);
        EXPECT_TRUE(arguments.ok() || arguments.error().code() == ErrorCode::kUnsupported)
            << arguments.error().text();
        values += arguments.ok() ? arguments.value().values.size() : 0;
        left_out += arguments.ok() ? arguments.value().left_out.size() : 0;
        unreadable += types_->result(each.name).ok() ? 0 : 1;
        EXPECT_EQ(each.prototype.find("..."), each.prototype.rfind("...")) << each.prototype;
    }
    EXPECT_GT(values, 20 * left_out);
    EXPECT_GT(values, 100 * unreadable);
}

}  // namespace
}  // namespace dyetrace::probes
