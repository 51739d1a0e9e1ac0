// What the tables of the other tests show is what SQL shows: they read the records with src/filter, a user reads the view
// `events`. One recording of calls of all kinds goes through both, every column of every event.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <map>

#include "filter/event_values.h"
#include "kernel/compat.h"
#include "kernel/old_calls.h"
#include "kernel/rows.h"
#include "kernel/socket_address.h"
#include "store/store_fixture.h"

namespace dyetrace::test {
namespace {

constexpr const char* kHostName = "here";

// One event: a line per column that is not NULL.
using Columns = std::map<std::string, std::string>;
using EventsById = std::map<std::string, Columns>;

class Sql : public RowsTest {
  protected:
    Sql() { alone_ = true; }  // the trace that is asked has all that its events refer to

    // These two say what only a stored trace knows.
    static bool is_compared(const schema::EventColumnInfo& column) {
        return column.column != schema::EventColumn::kTime &&
               column.column != schema::EventColumn::kNode;
    }

    static EventsById by_records(const Records& records) {
        filter::TextBuffers buffers;
        filter::EventValues values(buffers, kHostName);
        EventsById result;
        for (std::size_t i = 0; i < records.events.size(); ++i) {
            const auto record = std::as_bytes(std::span(records.events[i]));
            if (!values.set(
                    record, static_cast<std::uint16_t>(records.cpus[i]), *records.dictionary)) {
                continue;  // an object that an event touched: a table of its own
            }
            Columns columns;
            for (const schema::EventColumnInfo& column : schema::event_columns()) {
                const filter::Value value = values.of(column.column);
                if (is_compared(column) && value.type != filter::Type::kNull) {
                    columns[std::string(column.name)] = text_of(value);
                }
            }
            result[columns["event_id"]] = columns;
        }
        return result;
    }

    static std::string text_of(const filter::Value& value) {
        switch (value.type) {
            case filter::Type::kBoolean:
                return value.integer != 0 ? "true" : "false";
            case filter::Type::kInteger:
                return value.integer < 0
                           ? std::to_string(static_cast<std::int64_t>(value.integer))
                           : std::to_string(static_cast<std::uint64_t>(value.integer));
            default:
                return std::string(value.text);
        }
    }

    EventsById by_sql(const Records& records) {
        const std::string path = at("trace");
        trace::TraceInfo info;
        info.hosts.push_back({.index = 0,
                              .name = kHostName,
                              .boot_id = "0",
                              .kernel = "",
                              .machine = "",
                              .cpus = 1024,
                              .wall_offset_ns = 0});
        auto folder = trace::TraceFolder::create(path, info).value();
        auto writer = trace::SegmentWriter::create(folder, 0).value();
        for (const auto& fact : records.facts) {
            writer.append(0, schema::Stream::kFacts, std::as_bytes(std::span(fact))).value();
        }
        for (std::size_t i = 0; i < records.events.size(); ++i) {
            writer
                .append(records.cpus[i],
                        schema::Stream::kEvents,
                        std::as_bytes(std::span(records.events[i])))
                .value();
        }
        writer.close().value();
        folder.finish().value();
        return read_events(*store::Database::open(path, {}).value());
    }

    static EventsById read_events(store::Database& database) {
        EventsById result;
        const auto read = [&](store::Rows& rows) -> Result<void> {
            for (;;) {
                TRY(const std::span<const store::Cell> row, rows.next());
                if (row.empty()) {
                    return {};
                }
                Columns columns;
                for (std::size_t i = 0; i < row.size(); ++i) {
                    if (row[i].kind != store::CellKind::kNull) {
                        columns[rows.columns()[i].name] = row[i].text;
                    }
                }
                columns["weight"] = std::to_string(std::stoi(columns["weight"]));  // a DOUBLE
                result[columns["event_id"]] = columns;
            }
        };
        const auto done = database.query("SELECT * EXCLUDE (time, node) FROM events", read);
        EXPECT_TRUE(done.ok()) << done.error().text();
        return result;
    }

    void use_files() {
        char buffer[8];
        REQUIRE(mkdir(at("d\xe4").c_str(), 0755) == 0);
        REQUIRE(chdir(at("d\xe4").c_str()) == 0);
        const int fd = open("../data", O_CREAT | O_RDWR, 0600);
        REQUIRE(write(fd, "0123456789", 10) == 10);
        REQUIRE(pread(fd, buffer, 8, 5) == 5);
        REQUIRE(fcntl(fd, F_SETFL, O_APPEND) == 0);
        REQUIRE(fcntl(fd, F_GETFL) >= 0 && fcntl(fd, 9999, 77) < 0);
        REQUIRE(prctl(PR_SET_PDEATHSIG, 0) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) < 0);
        REQUIRE(fsetxattr(fd, "user.\"\\\n\t\x01\x1f\x7f/\xc3\xa9\xff", "1", 1, 0) == 0);
        REQUIRE(removexattr("../data", reinterpret_cast<const char*>(1)) < 0);
        REQUIRE(syscall(SYS_preadv2, fd, nullptr, 0, -1, -1, 0) == 0);
        REQUIRE(rename("../data", "./x\"y\\z\n") == 0);
        REQUIRE(symlink("/nowhere//", "link") == 0);
        REQUIRE(open("none/../link", O_RDONLY) < 0);
        REQUIRE(syscall(SYS_newfstatat, fd, "", buffer, AT_SYMLINK_NOFOLLOW) < 0);
        REQUIRE(close(fd) == 0);
    }

    static void use_sockets() {
        char buffer[8];
        const int server = socket(AF_INET6, SOCK_STREAM, 0),
                  client = socket(AF_INET6, SOCK_STREAM, 0);
        REQUIRE(Address::loopback6(0).bind(server) == 0);
        REQUIRE(listen(server, 1) == 0);
        REQUIRE(Address::of(server).connect(client) == 0);
        const int accepted = accept(server, nullptr, nullptr);
        REQUIRE(send(client, "abc", 3, 0) == 3);
        REQUIRE(recv(accepted, buffer, 8, 0) == 3);
        const int local = socket(AF_UNIX, SOCK_DGRAM, 0);
        const Address name = Address::abstract("dyetrace sql");
        REQUIRE(name.bind(local) == 0);
        REQUIRE(sendto(local, "abc", 3, 0, name.get(), name.length()) == 3);
    }

    static void use_processes() {
        int ends[2];
        REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
        const pid_t child = fork();
        if (child == 0) {
            REQUIRE(write(ends[1], "abc", 3) == 3);
            _exit(3);
        }
        REQUIRE(waitpid(child, nullptr, 0) == child);
        REQUIRE(syscall(SYS_kill, -1, 99) < 0);
        REQUIRE(syscall(511, 1, 2, 3) < 0);
    }

    static void use_signals() {
        for (const int number : {SIGUSR1, SIGALRM, SIGCHLD, SIGRTMAX}) {
            struct sigaction action {};
            action.sa_handler = [](int) {};
            REQUIRE(sigaction(number, &action, nullptr) == 0);
        }
        sigval value{};
        value.sival_ptr = reinterpret_cast<void*>(-5);
        REQUIRE(sigqueue(getpid(), SIGRTMAX, value) == 0);
        REQUIRE(kill(getpid(), SIGUSR1) == 0);
        REQUIRE(raise(SIGALRM) == 0);
        const pid_t child = fork();
        if (child == 0) {
            *reinterpret_cast<volatile int*>(getpid() & 8) = 1;  // an address that nothing has
        }
        while (waitpid(child, nullptr, 0) < 0) {
        }
    }
};

TEST_F(Sql, shows_every_column_of_every_event_as_these_tests_do) {
    NEEDS_OLD_CALLS();
    LowMemory memory;
    const Trace trace = record([&] {
        use_files();
        use_sockets();
        use_processes();
        use_signals();
        REQUIRE(call32(20) == getpid());
        REQUIRE(call32(5, memory.put_text("none"), O_RDONLY) < 0);
        REQUIRE(call32(19, 99, 0xffffffff, SEEK_SET) < 0);
        REQUIRE(call32(102, 13, memory.put(std::array<std::uint32_t, 2>{99, SHUT_RD})) < 0);
        REQUIRE(call32(90, 1) < 0);
        REQUIRE(syscall(0x40000000 | SYS_close, 99) < 0);  // x32
        REQUIRE(syscall(0x40000000 | 515, 99, nullptr, 0) < 0);
    });
    const EventsById expected = by_records(trace.records());
    const EventsById shown = by_sql(trace.records());
    EXPECT_GT(expected.size(), 30u);
    EXPECT_EQ(shown.size(), expected.size());
    for (const auto& [id, columns] : expected) {
        ASSERT_TRUE(shown.contains(id)) << id;
        EXPECT_EQ(shown.at(id), columns);
    }
}

}  // namespace
}  // namespace dyetrace::test
