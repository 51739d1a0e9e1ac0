// The column `transfer` of every call that has bytes, beside what the kernel does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "schema/generated/enum_names.h"
#include "schema/record_builder.h"
#include "schema/syscalls.h"
#include "store/store_fixture.h"
#include "trace/segment_fixture.h"

namespace dyetrace::store {
namespace {

constexpr std::uint32_t kPeek = 2, kOutOfBand = 1, kTruncated = 0x20, kErrorQueue = 0x2000;
constexpr std::uint32_t kReadOnly = 0, kWriteOnly = 1, kReadAndWrite = 2;

// Every call that moves bytes of objects that it is given, on a file or socket that is open for reading and writing. All others move none.
constexpr struct {
    const char* transfer;
    const char* calls;
} kCalls[] = {
    {"copy_from", "sendfile sendfile64"},
    {"copy_to", "copy_file_range splice"},
    {"read",
     "mq_timedreceive mq_timedreceive_time64 msgrcv pread64 preadv preadv2 process_vm_readv read "
     "readv recv recvfrom recvmmsg recvmmsg_time64 recvmsg"},
    {"tee", "tee"},
    {"write",
     "mq_timedsend mq_timedsend_time64 msgsnd process_vm_writev pwrite64 pwritev pwritev2 send "
     "sendmmsg "
     "sendmsg sendto vmsplice write writev"},
};

// Calls that fill the column `bytes` in a trace, or those of their parts.
bool has_bytes(const schema::SyscallInfo& call) {
    bool has_messages = false;
    for (std::size_t i = 0; i < call.argument_count; ++i) {
        has_messages = has_messages || call.arguments[i].type.starts_with("messages_");
    }
    return call.returns == "bytes" || call.returns == "whole" || has_messages;
}

// The smallest trace that has these records, a row each.
class Transfers : public testing::Test {
  protected:
    struct Call {
        std::string_view name;
        std::uint32_t message_flags = 0;
        std::optional<std::uint32_t> open_flags = kReadAndWrite;
        schema::Abi abi = schema::Abi::kX8664;
    };

    static const schema::SyscallInfo& info_of(const Call& call) {
        for (const schema::SyscallInfo& info : schema::syscalls_of(call.abi)) {
            if (info.name == call.name) {
                return info;
            }
        }
        throw std::runtime_error(fmt::format("there is no call {}", call.name));
    }

    void add(const Call& call) {
        const schema::SyscallInfo& info = info_of(call);
        schema::SyscallEvent event{};
        event.abi = static_cast<std::uint8_t>(call.abi);
        event.syscall = info.number;
        event.present = schema::SyscallEvent::kHasOpenFlags;
        event.open_flags = call.open_flags.value_or(0);
        if (!call.open_flags) {
            event.present = 0;
        }
        for (std::size_t i = 0; i < info.argument_count; ++i) {
            event.arguments[i] =
                info.arguments[i].type == "message_flags" ? call.message_flags : ~std::uint64_t{0};
        }
        append(event);
    }

    void add_part(std::string_view name, std::uint32_t bits) {
        schema::PartEvent part{};
        part.operation = info_of({.name = name}).number;
        part.present = schema::PartEvent::kHasOpenFlags | bits;
        part.open_flags = kReadAndWrite;
        append(part);
    }

    // What SQL says, and C++ alike.
    std::string ask(const std::string& sql) {
        trace::SegmentFixture trace;
        trace.write({events_});
        trace.folder().finish().value();
        auto database = Database::open(trace.path(), {.threads = 1, .memory_limit = ""}).value();
        EXPECT_EQ(
            store::ask(*database, "SELECT coalesce(transfer, '') FROM events ORDER BY event_id"),
            in_cpp_);
        return store::ask(*database, sql);
    }

  private:
    template <class Event>
    void append(Event& event) {
        event.header.sequence = ++sequence_;
        const auto transfer = schema::transfer_of(event);
        in_cpp_ +=
            std::string(transfer ? schema::transfer_name(static_cast<std::uint8_t>(*transfer))
                                 : "") +
            "\n";
        const schema::OwnedRecord record = schema::build(event);
        events_.bytes.insert(events_.bytes.end(), record.bytes().begin(), record.bytes().end());
    }

    trace::Drain events_{0, schema::Stream::kEvents, {}};
    std::string in_cpp_;
    std::uint64_t sequence_ = 0;
};

TEST_F(Transfers, are_known_of_every_call_that_has_bytes_and_of_no_other) {
    for (const schema::SyscallInfo& call : schema::syscalls()) {
        add({.name = call.name, .abi = call.abi});
        EXPECT_EQ(has_bytes(call), !call.transfer.empty()) << call.name;
    }
    std::string expected;
    for (const auto& row : kCalls) {
        expected += fmt::format("{} {}\n", row.transfer, row.calls);
    }
    EXPECT_EQ(ask("SELECT transfer, string_agg(DISTINCT name, ' ' ORDER BY name) FROM events WHERE "
                  "transfer IS NOT NULL GROUP BY transfer ORDER BY transfer"),
              expected);
}

TEST_F(Transfers, are_the_same_in_every_abi) {
    for (const schema::SyscallInfo& call : schema::syscalls()) {
        add({.name = call.name, .abi = call.abi});
    }
    EXPECT_EQ(ask("SELECT name FROM events GROUP BY name HAVING count(DISTINCT coalesce(transfer, "
                  "'none')) > 1"),
              "");
}

TEST_F(Transfers, of_messages_follow_their_flags) {
    for (const char* name : {"recvfrom", "recvmsg", "recvmmsg", "sendto", "sendmsg", "sendmmsg"}) {
        for (const std::uint32_t flags : {kPeek,
                                          kPeek | kTruncated,
                                          kTruncated,
                                          kOutOfBand,
                                          kErrorQueue,
                                          kErrorQueue | kPeek}) {
            add({.name = name, .message_flags = flags});
        }
    }
    // MSG_PEEK, with MSG_TRUNC, MSG_TRUNC alone, MSG_OOB, MSG_ERRQUEUE, with MSG_PEEK
    EXPECT_EQ(ask("SELECT name, string_agg(coalesce(transfer, 'none'), ' ' ORDER BY event_id) FROM "
                  "events GROUP BY name ORDER BY min(event_id)"),
              "recvfrom peek peek read read none none\n"
              "recvmsg peek peek read read none none\n"
              "recvmmsg peek peek read read none none\n"
              "sendto write write write write write write\n"
              "sendmsg write write write write write write\n"
              "sendmmsg write write write write write write\n");
}

TEST_F(Transfers, of_vmsplice_follow_the_mode_of_its_pipe) {
    for (const std::optional<std::uint32_t> mode :
         {std::optional(kReadOnly), {kWriteOnly}, {kReadAndWrite}, {}}) {
        add({.name = "vmsplice", .open_flags = mode});
    }
    EXPECT_EQ(ask("SELECT coalesce(transfer, 'none') FROM events ORDER BY event_id"),
              "read\nwrite\nwrite\nnone\n");
}

TEST_F(Transfers, of_parts_are_those_of_what_they_amount_to) {
    add_part("recvmsg", 0);
    add_part("recvmsg", schema::PartEvent::kHasPeeks);
    add_part("recvmsg", schema::PartEvent::kHasReportsError);
    add_part("sendmsg", 0);
    for (const char* name : {"pread64", "preadv", "pwrite64", "pwritev", "fsync", "poll"}) {
        add_part(name, 0);
    }
    EXPECT_EQ(ask("SELECT name, coalesce(transfer, 'none') FROM events ORDER BY event_id"),
              "recvmsg read\nrecvmsg peek\nrecvmsg none\nsendmsg write\npread64 read\npreadv "
              "read\npwrite64 write\npwritev write\nfsync none\npoll none\n");
}

// _numbered_calls() is made while dyetrace is built, of the view that readers without it have.
TEST_F(Transfers, come_with_the_calls_of_the_view_to_the_row) {
    const std::string columns = "abi, number, name, transfer, message_flags_at, cuts";
    const std::string ours = "SELECT " + columns + " FROM internal.syscalls";
    const std::string view = "SELECT " + columns + " FROM internal.numbered_calls";
    EXPECT_EQ(ask("SELECT count(*) FROM ((" + ours + " EXCEPT ALL " + view + ") UNION ALL (" +
                  view + " EXCEPT ALL " + ours + "))"),
              "0\n");
    EXPECT_EQ(ask("SELECT count(*) > 1000, count(DISTINCT abi) FROM internal.syscalls"),
              "true 5\n");
    EXPECT_EQ(ask("SELECT typeof(message_flags_at), typeof(abi), typeof(name) FROM "
                  "internal.syscalls LIMIT 1"),
              ask("SELECT typeof(message_flags_at), typeof(abi), typeof(name) FROM "
                  "internal.numbered_calls LIMIT 1"));
}

// What changes a file without moving bytes has no transfer; the flows know it as a cut.
TEST_F(Transfers, are_none_of_what_only_cuts) {
    for (const char* name : {"open",
                             "openat",
                             "openat2",
                             "open_by_handle_at",
                             "creat",
                             "truncate",
                             "ftruncate",
                             "fallocate"}) {
        add({.name = name});
    }
    for (const char* name : {"truncate64", "ftruncate64", "fallocate"}) {
        add({.name = name, .abi = schema::Abi::kI386});
    }
    EXPECT_EQ(ask("SELECT count(*), count(transfer) FROM events"), "11 0\n");
    EXPECT_EQ(
        ask("SELECT cuts, string_agg(DISTINCT name, ' ' ORDER BY name) FROM "
            "internal.syscalls WHERE cuts IS NOT NULL GROUP BY cuts ORDER BY cuts"),
        "allocate fallocate\nallocate_split fallocate\nopen creat open open_by_handle_at openat "
        "openat2\ntruncate ftruncate truncate\ntruncate_split ftruncate64 truncate64\n");
}

}  // namespace
}  // namespace dyetrace::store
