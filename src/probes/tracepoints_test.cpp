#include "probes/tracepoints.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace dyetrace::probes {
namespace {

const std::string kCommon =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

const std::string kSchedSwitch = "name: sched_switch\nID: 372\nformat:\n" + kCommon +
                                 "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                                 "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                                 "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
                                 "\nprint fmt: \"prev_comm=%s\", REC->prev_comm\n";

const std::string kNetDevQueue = "name: net_dev_queue\nID: 1521\nformat:\n" + kCommon +
                                 "\tfield:void * skbaddr;\toffset:8;\tsize:8;\tsigned:0;\n"
                                 "\tfield:unsigned int len;\toffset:16;\tsize:4;\tsigned:0;\n"
                                 "\tfield:__data_loc char[] name;\toffset:20;\tsize:4;\tsigned:0;\n"
                                 "\nprint fmt: \"dev=%s\", __get_str(name)\n";

const std::string kOpenat =
    "name: sys_enter_openat\nID: 782\nformat:\n" + kCommon +
    "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
    "\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n"
    "\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n"
    "\tfield:int flags;\toffset:32;\tsize:8;\tsigned:0;\n"
    "\tfield:umode_t mode;\toffset:40;\tsize:8;\tsigned:0;\n"
    "\tfield:__data_loc char[] __filename_val;\toffset:48;\tsize:4;\tsigned:0;\n"
    "\nprint fmt: \"dfd: 0x%08lx\", ((unsigned long)(REC->dfd))\n";

std::string with_field(const std::string& field) {
    return "name: x\nID: 1\nformat:\n\tfield:" + field + "\n";
}

// "name@byte form size type" for each field.
std::string fields_of(std::string_view category, const std::string& format) {
    const auto tracepoint = parse_tracepoint_format(category, format);
    if (!tracepoint.ok()) {
        return tracepoint.error().text();
    }
    std::string text;
    for (const auto& [name, value] : tracepoint.value().fields.values) {
        EXPECT_EQ(value.start, ValueStart::kContext);
        EXPECT_TRUE(value.hops.empty());
        static constexpr const char* kForms[] = {"integer", "text", "array", "location"};
        text += fmt::format("{}@{} {}{} {}{} {}\n",
                            name,
                            value.number,
                            value.is_in_user_memory ? "user " : "",
                            kForms[static_cast<int>(value.form)],
                            value.is_signed ? "-" : "",
                            value.bytes,
                            value.type);
    }
    return text;
}

std::string reason_of(std::string_view category, const std::string& format, std::string name) {
    const auto tracepoint = parse_tracepoint_format(category, format);
    return tracepoint.ok() ? value_named(tracepoint.value().fields, name, "x").error().text()
                           : tracepoint.error().text();
}

TEST(TracepointFormat, tells_numbers_and_texts_of_a_record) {
    EXPECT_EQ(fields_of("sched", kSchedSwitch),
              "prev_comm@8 array 16 char[16]\n"
              "prev_pid@24 integer -4 pid_t\n"
              "prev_state@32 integer -8 long\n");
    const Tracepoint tracepoint = parse_tracepoint_format("sched", kSchedSwitch).value();
    EXPECT_EQ(tracepoint.name, "sched_switch");
    EXPECT_EQ(tracepoint.id, 372u);
    EXPECT_EQ(value_named(tracepoint.fields, "prev_pit", "sched:sched_switch").error().text(),
              "sched:sched_switch has no 'prev_pit', did you mean 'prev_pid'?");
}

TEST(TracepointFormat, knows_text_that_stands_after_the_fields) {
    EXPECT_EQ(fields_of("net", kNetDevQueue),
              "skbaddr@8 integer 8 void *\n"
              "len@16 integer 4 unsigned int\n"
              "name@20 location 4 char[]\n");
}

TEST(TracepointFormat, of_a_system_call_has_the_width_of_its_types) {
    EXPECT_EQ(fields_of("syscalls", kOpenat),
              "__syscall_nr@8 integer -4 int\n"
              "dfd@16 integer -4 int\n"
              "filename@24 user text 8 const char *\n"
              "flags@32 integer -4 int\n"
              "mode@40 integer 2 umode_t\n");
    EXPECT_EQ(reason_of("syscalls", kOpenat, "__filename_val"),
              "'__filename_val' of x cannot be read: programs are given a system call's number "
              "and arguments only");
}

TEST(TracepointFormat, says_what_it_leaves_out) {
    EXPECT_EQ(reason_of("sched", kSchedSwitch, "common_pid"),
              "'common_pid' of x cannot be read: the kernel keeps the first 8 bytes of a record "
              "from programs");
    const auto reason = [](const std::string& field) {
        const std::string text = reason_of("x", with_field(field), "a");
        return text.substr(text.find(": ") + 2);
    };
    EXPECT_EQ(reason("u8 a[6];\toffset:8;\tsize:6;\tsigned:0;"), "it is an array of u8");
    EXPECT_EQ(reason("__u8 a[sizeof(struct sockaddr_in6)];\toffset:8;\tsize:28;\tsigned:0;"),
              "it is an array of __u8");
    EXPECT_EQ(reason("char a[0];\toffset:8;\tsize:0;\tsigned:0;"), "it is an array of char");
    EXPECT_EQ(reason("__data_loc u8[] a;\toffset:8;\tsize:4;\tsigned:0;"), "it is an array: u8[]");
    EXPECT_EQ(reason("__rel_data_loc char[] a;\toffset:8;\tsize:4;\tsigned:0;"),
              "its place counts from itself");
    EXPECT_EQ(reason("struct in_addr a;\toffset:8;\tsize:4;\tsigned:0;"),
              "it is no number but 4 bytes of struct in_addr");
    EXPECT_EQ(reason("cpumask_t a;\toffset:8;\tsize:1024;\tsigned:0;"),
              "it is no number but 1024 bytes of cpumask_t");
    EXPECT_EQ(reason("long a;\toffset:8185;\tsize:8;\tsigned:0;"),
              "it ends after the first 8,192 bytes of the record");
}

TEST(TracepointFormat, tells_pointers_to_text_from_others) {
    EXPECT_EQ(fields_of("x", with_field("const char * a;\toffset:8;\tsize:8;\tsigned:0;")),
              "a@8 text 8 const char *\n");
    EXPECT_EQ(fields_of("syscalls", with_field("char * a;\toffset:16;\tsize:8;\tsigned:0;")),
              "a@16 integer 8 char *\n");
    EXPECT_EQ(fields_of("x", with_field("struct page * a;\toffset:8;\tsize:8;\tsigned:1;")),
              "a@8 integer 8 struct page *\n");
}

TEST(TracepointFormat, that_no_kernel_writes_is_refused_with_its_line) {
    EXPECT_EQ(fields_of("x", ""), "a tracepoint's format has no name or no ID");
    EXPECT_EQ(fields_of("x", "name: x\nID: -1\n"),
              "line 2 of a tracepoint's format is not understood: 'ID: -1'");
    for (const std::string field : {"int a;",
                                    "int a;\toffset:8;\tsize:4;",
                                    "int a;\toffset:x;\tsize:4;\tsigned:0;",
                                    "int a;\toffset:99999999999;\tsize:4;\tsigned:0;",
                                    "a;\toffset:8;\tsize:4;\tsigned:0;",
                                    "int 4;\toffset:8;\tsize:4;\tsigned:0;",
                                    "int ];\toffset:8;\tsize:4;\tsigned:0;",
                                    "\x1b[2J a;\toffset:8;\tsize:4;\tsigned:0;",
                                    ";\toffset:8;\tsize:4;\tsigned:0;"}) {
        const std::string text = fields_of("x", with_field(field));
        EXPECT_EQ(text.find("line 4 of a tracepoint's format is not understood: '"), 0u) << text;
        EXPECT_EQ(text.find('\x1b'), std::string::npos);
    }
}

TEST(TracepointFormat, is_refused_or_shorter_wherever_it_is_cut) {
    const std::string whole = fields_of("syscalls", kOpenat);
    for (std::size_t size = 0; size < kOpenat.size(); ++size) {
        const auto cut = parse_tracepoint_format("syscalls", kOpenat.substr(0, size));
        if (cut.ok()) {
            EXPECT_EQ(whole.find(fields_of("syscalls", kOpenat.substr(0, size))), 0u) << size;
        }
    }
}

class FolderOfTracepoints : public testing::Test {
  protected:
    FolderOfTracepoints() : folder_(base::TemporaryFolder::make().value()) {
        write("available_events", "sched:sched_switch\nsched:sched_stat_wait\nnet:net_dev_queue\n");
        write("events/sched/sched_switch/format", kSchedSwitch);
        write("events/net/net_dev_queue/format", "nothing");
    }
    void write(const std::string& file, const std::string& text) {
        const std::string path = folder_.path() + "/" + file;
        base::make_folders(base::parent_folder(path)).value();
        base::write_file_atomically(path, text).value();
    }
    Tracepoints tracepoints() { return Tracepoints(KernelFolder::at(folder_.path())); }

    base::TemporaryFolder folder_;
};

TEST_F(FolderOfTracepoints, are_found_by_pattern) {
    using Names = std::vector<std::string>;
    EXPECT_EQ(tracepoints().matching("sched:sched_s*").value(),
              Names({"sched:sched_stat_wait", "sched:sched_switch"}));
    EXPECT_EQ(tracepoints().matching("*_queue").value(), Names({"net:net_dev_queue"}));
    EXPECT_EQ(tracepoints().matching("sched").value(), Names());
    EXPECT_EQ(tracepoints().matching("*").value().size(), 3u);
}

TEST_F(FolderOfTracepoints, are_found_by_name) {
    EXPECT_EQ(tracepoints().find("sched", "sched_switch").value().id, 372u);
    EXPECT_EQ(tracepoints().find("sched", "sched_swich").error().text(),
              "this kernel has no tracepoint 'sched:sched_swich', did you mean "
              "'sched:sched_switch'?");
    EXPECT_EQ(tracepoints().find("net", "net_dev_queue").error().text(),
              "tracepoint net:net_dev_queue: line 1 of a tracepoint's format is not understood: "
              "'nothing'");
    for (const std::string name : {"", "..", "a/b", "../sched/sched_switch", "a:b", "a b"}) {
        EXPECT_EQ(tracepoints().find("sched", name).error().code(), ErrorCode::kInvalidArgument);
    }
}

TEST(TracepointsOfThisKernel, can_all_be_read) {
    const auto tracepoints = Tracepoints::of_this_kernel();
    if (!tracepoints.ok()) {
        GTEST_SKIP() << tracepoints.error().text();
    }
    std::size_t values = 0;
    const auto names = tracepoints.value().matching("*").value();
    for (const std::string& name : names) {
        const std::size_t colon = name.find(':');
        const auto found = tracepoints.value().find(name.substr(0, colon), name.substr(colon + 1));
        ASSERT_TRUE(found.ok()) << found.error().text();
        EXPECT_EQ(found.value().name, name.substr(colon + 1));
        values += found.value().fields.values.size();
    }
    EXPECT_GT(names.size(), 0u);
    EXPECT_GT(values, names.size());
}

}  // namespace
}  // namespace dyetrace::probes
