#include <gtest/gtest.h>

#include "analysis/findings/report_findings.h"
#include "base/json.h"
#include "reports/overview/finding_proof.h"
#include "reports/overview/report_sql.h"
#include "reports/overview/report_text.h"

namespace dyetrace::reports {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

analysis::Report demo() {
    analysis::Report report;
    report.trace = "demo.trace";
    report.stored_bytes = 3'100'000;
    report.overview = {214'883, 12, 0, 2, 2, 1, 6'200 * kMs};
    report.activities = {{"sqlite3[4711]",
                          "wrote",
                          "/tmp/demo.db",
                          52'318,
                          214'000'000,
                          {1'900 * kMs, 14'000, 310'000, 22 * kMs}},
                         {"sqlite3[4711]",
                          "synced",
                          "/tmp/demo.db-journal",
                          96,
                          0,
                          {1'100 * kMs, 9 * kMs, 31 * kMs, 44 * kMs}},
                         {"git[4699]",
                          "read",
                          "127.0.0.1:9418",
                          1'204,
                          38'000'000,
                          {300 * kMs, 4'000, 90'000, 3 * kMs}}};
    report.syncs = {
        {"sqlite3[4711]", "/tmp/demo.db-journal", 96, 1'100 * kMs, 44 * kMs, 1'900 * kMs, true}};
    report.opens = {{"git[4699]", ".git/config", 31, 2 * kMs, 100 * kMs}};
    return report;
}

TEST(Report, breaks_a_long_finding_between_words) {
    const std::string text = report_text(demo(), {.width = 60});
    EXPECT_NE(text.find("  · sqlite3[4711] spent 58 % of its time in 96 syncs of\n"
                        "    /tmp/demo.db-journal, which it then deleted\n"),
              std::string::npos)
        << text;
}

TEST(Report, says_what_happened_on_one_screen) {
    EXPECT_EQ(report_text(demo(), {.width = 110}),
              "  demo.trace  214,883 calls by 2 processes in 6.2 s · 3.1 MB · nothing lost\n"
              "\n"
              "  what happened                                 calls   bytes    time    p50     "
              "p99    max\n"
              "  sqlite3[4711]  wrote   /tmp/demo.db          52,318  214 MB   1.9 s  14 µs  310 "
              "µs  22 ms\n"
              "                 synced  /tmp/demo.db-journal      96       –   1.1 s   9 ms   31 "
              "ms  44 ms\n"
              "  git[4699]      read    127.0.0.1:9418         1,204   38 MB  300 ms   4 µs   90 "
              "µs   3 ms\n"
              "\n"
              "  worth a look\n"
              "  · sqlite3[4711] spent 58 % of its time in 96 syncs of /tmp/demo.db-journal, which "
              "it then deleted\n"
              "  · git[4699] opened .git/config 31 times (2 ms)\n");
}

TEST(Report, fits_in_eighty_columns) {
    const std::string text = report_text(demo(), {});
    EXPECT_NE(
        text.find("  what happened                                 calls   bytes    time    max\n"
                  "  sqlite3[4711]  wrote   /tmp/demo.db          52,318  214 MB   1.9 s  22 ms\n"
                  "                 synced  /tmp/demo.db-journal      96       –   1.1 s  44 ms\n"),
        std::string::npos)
        << text;
}

TEST(Report, says_what_is_missing) {
    analysis::Report report = demo();
    report.gaps = {{"db1", "ring_full", 3, 1'200, 0, 40 * kMs},
                   {"db1", "recorder_died", 1, 0, 1, 0}};
    report.not_covered = {{"db1", "tcp_sendmsg_locked", "refused", "Operation not permitted"},
                          {"db1", "page faults", "off", "of this version"},
                          {"db2", "page faults", "off", "of this version"},
                          {"db1", "AIO", "partial", "no ring"}};
    std::string text = report_text(report, {});
    EXPECT_NE(text.find("1,200 events lost, and more in 1 gap of unknown size"), std::string::npos)
        << text;
    EXPECT_NE(text.find("· db1: 1,200 events lost in 3 gaps of 40 ms (ring_full)"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("· db1: tcp_sendmsg_locked refused: Operation not permitted"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("· not seen: page faults\n  · seen in part: AIO\n"), std::string::npos)
        << text;
    report.gaps = {{"db1", "damaged_file", 1, 0, 0, 40 * kMs}};
    text = report_text(report, {});
    EXPECT_NE(text.find("no event lost, but facts about some"), std::string::npos) << text;
    EXPECT_NE(text.find("facts about events lost in 1 gap of 40 ms (damaged_file)"),
              std::string::npos)
        << text;
}

TEST(Report, of_an_empty_trace_says_what_to_do) {
    const std::string text = report_text({}, {});
    EXPECT_NE(text.find("dyetrace doctor"), std::string::npos) << text;
}

TEST(Report, lets_no_name_reach_the_terminal_as_it_is) {
    analysis::Report report = demo();
    report.activities[0].target = report.opens[0].path = "/tmp/\x1b[2J";
    EXPECT_EQ(report_text(report, {}).find('\x1b'), std::string::npos);
}

TEST(Report, is_json_for_programs) {
    const auto json = base::Json::parse(report_json(demo()));
    ASSERT_TRUE(json.ok());
    EXPECT_EQ(json.value().find("overview")->get<std::uint64_t>("calls").value(), 214'883u);
    EXPECT_EQ(json.value().items_at("findings")[0].get<std::string>("kind").value(), "sync_share");
    EXPECT_EQ(json.value().items_at("findings")[0].get<std::string>("query").value(),
              "select * from events where pid = 4711 and name in ('fsync', 'fdatasync', 'msync', "
              "'sync_file_range') and path = "
              "'/tmp/demo.db-journal' order by start_ns");
}

TEST(Findings, leave_out_what_nobody_would_change) {
    analysis::Report report;
    report.syncs = {{"a[1]", "/x", 1, 5 * kMs, 5 * kMs, 10 * kMs, false}};  // too short
    report.opens = {{"a[1]", "/x", 12, kMs}};                               // too few
    report.small = {
        {"a[1]", "read", "/x", 1'000, 12'000, kMs / 2, kMs},         // too cheap
        {"b[2]", "read", "/x", 1'000, 12'000, 5 * kMs, 900 * kMs}};  // next to what it does
    report.failures = {
        {"a[1]", "openat", "ENOENT", 60, 6'000, kMs, kMs},    // one in a hundred
        {"a[1]", "stat", "ENOENT", 60, 100, kMs / 2, kMs},    // too cheap
        {"a[1]", "ioctl", "ENOTTY", 6'000, 6'000, kMs, kMs},  // a question, and its answer
        {"a[1]", "getxattr", "ENODATA", 6'000, 6'000, kMs, kMs},
        {"a[1]", "readlink", "EINVAL", 6'000, 6'000, kMs, kMs},
        {"a[1]", "recvfrom", "EAGAIN", 6'000, 12'000, kMs, kMs},  // waits in between
        {"a[1]", "futex", "EAGAIN", 6'000, 6'000, kMs, kMs}};
    report.threads = {{"a[1]", 100 * kMs, 0, 40 * kMs, 0, 0, 60 * kMs, 0}};  // waits, as it should
    report.blocked = {{"a[1]", 9 * kMs, 9 * kMs}};                           // not for long
    report.sent_again = {{"a[1]", "10.0.0.7:443", 12, 17'376, 3, 2'000'000}};  // less than 1 %
    EXPECT_TRUE(analysis::findings_of(report).empty());
}

TEST(Findings, say_what_tcp_sent_again) {
    analysis::Report report;
    report.small = {{"dd[1]", "read", "/x", 40'000, 480'000, 30 * kMs, 50 * kMs}};
    report.sent_again = {{"git[2]", "10.0.0.7:443", 1'200, 1'737'600, 0, 20'000'000}};
    const auto findings = analysis::findings_of(report);
    ASSERT_EQ(findings.size(), 2u);
    EXPECT_EQ(
        findings[0].text,
        "8.7 % of what git[2] sent to 10.0.0.7:443 was sent again by TCP: 1,200 segments, none "
        "of them when a timer had run out");
    EXPECT_EQ(
        proof_of(findings[0]),
        "select * from retransmissions where object_id in (select object_id from events where "
        "pid = 2 and object_type = 'socket') order by time_ns");
}

TEST(Findings, name_who_does_io_that_is_not_seen) {
    analysis::Report report;
    report.small = {{"dd[1]", "read", "/x", 40'000, 480'000, 30 * kMs, 50 * kMs}};
    report.unseen_rings = {{"mariadbd[2]", 1'319}, {"mariadbd[3]", 1}};
    const auto findings = analysis::findings_of(report);
    ASSERT_EQ(findings.size(), 2u);
    EXPECT_EQ(findings[0].text,
              "mariadbd[2] gave 1,319 operations to an io_uring: what they read, wrote, sent or "
              "received is not seen; much the same in 1 more process");
    EXPECT_EQ(proof_of(findings[0]),
              "select * from events where pid = 2 and name = 'io_uring_enter' and result > 0 "
              "order by start_ns");
}

TEST(Findings, name_who_has_a_ring_that_no_call_fills) {
    analysis::Report report;
    report.unseen_rings = {{"node[2]", 0, true}, {"mariadbd[3]", 1}, {"nginx[4]", 7, true}};
    const auto findings = analysis::findings_of(report);
    ASSERT_EQ(findings.size(), 3u);
    EXPECT_EQ(
        findings[0].text,
        "node[2] made an io_uring and gave nothing to it by a call: what the kernel takes from "
        "it without one (SQPOLL) is not seen");
    EXPECT_EQ(proof_of(findings[0]),
              "select * from events where pid = 2 and name = 'io_uring_setup' and error is null "
              "order by start_ns");
    EXPECT_EQ(
        findings[1].text,
        "mariadbd[3] gave 1 operation to an io_uring: what they read, wrote, sent or received "
        "is not seen");
    EXPECT_EQ(findings[2].text,
              "nginx[4] gave 7 operations to an io_uring, and others without a call (SQPOLL): what "
              "they read, wrote, sent or received is not seen");
}

TEST(Findings, name_the_cost_and_put_the_dearest_first) {
    analysis::Report report;
    report.small = {{"dd[1]", "read", "/it's", 40'000, 480'000, 30 * kMs, 50 * kMs}};
    report.failures = {{"python[2]", "openat", "ENOENT", 812, 2'000, 3 * kMs, 20 * kMs}};
    report.blocked = {{"db[3]", 100 * kMs, 92 * kMs}};
    const auto findings = analysis::findings_of(report);
    ASSERT_EQ(findings.size(), 3u);
    EXPECT_EQ(findings[0].text, "thread db[3] was blocked 92 % of 100 ms by files");
    EXPECT_EQ(findings[1].text,
              "dd[1] read /it's in 40,000 calls of 12 B on average (30 ms); with a buffer of 64 "
              "KiB 8 would do");
    EXPECT_EQ(
        proof_of(findings[1]),
        "select * from events where pid = 1 and path = '/it''s' and bytes < 512 order by start_ns");
    EXPECT_EQ(findings[2].text,
              "python[2] looked 812 times for what is not there: 41 % of its 2,000 openat calls "
              "end in ENOENT");
}

TEST(Findings, of_several_hosts_ask_for_the_one_that_they_are_of) {
    analysis::Report report;
    report.overview.hosts = 2;
    report.killed_processes = {{"db1:nginx: worker[7]", 9, ""}};
    EXPECT_EQ(proof_of(analysis::findings_of(report)[0]),
              "select * from events where host = 'db1' and pid = 7 and name = 'signal_deliver' and "
              "result = 9 order by start_ns");
}

TEST(Findings, that_many_hosts_have_in_common_are_said_once) {
    analysis::Report report;
    report.overview.hosts = 3;
    report.failures = {{"db2:postgres[20]", "open", "EACCES", 680, 1'361, 9 * kMs, kMs},
                       {"db1:postgres[11]", "open", "EACCES", 659, 1'319, 8 * kMs, kMs},
                       {"db1:postgres[10]", "open", "EACCES", 600, 1'200, 7 * kMs, kMs},
                       {"db3:postgres[10]", "open", "EACCES", 61, 100, 6 * kMs, kMs},
                       {"db3:redis[7]", "open", "EACCES", 60, 100, 5 * kMs, kMs}};
    const auto findings = analysis::findings_of(report);
    ASSERT_EQ(findings.size(), 2u);
    EXPECT_EQ(findings[0].text,
              "db2:postgres[20] failed 680 times: 50 % of its 1,361 open calls end in "
              "EACCES; much the same on 2 more hosts, 30 ms in all");
    EXPECT_EQ(findings[0].hosts_alike, 2u);
    EXPECT_EQ(findings[0].cost_ns, 30 * kMs);
    EXPECT_EQ(findings[1].process, "db3:redis[7]");
    EXPECT_EQ(findings[1].hosts_alike, 0u);
}

TEST(Findings, of_a_program_are_said_once) {
    analysis::Report report;
    report.opens = {{"git[1]", "/r/.git/config", 40, 2 * kMs, 50 * kMs},
                    {"git[2]", "/r/.git/config", 30, kMs, 50 * kMs},
                    {"git[1]", "/r/.gitmodules", 20, kMs / 2, 50 * kMs},
                    {"make[3]", "/r/Makefile", 20, kMs / 2, 5 * kMs}};  // too cheap
    report.failures = {{"cc1[8]", "openat", "ENOENT", 90, 100, kMs / 2, 4 * kMs},
                       {"cc1[9]", "stat", "ENOENT", 80, 100, kMs / 2, 4 * kMs},
                       {"cc1[9]", "openat", "EIO", 80, 100, 10, 9 * kMs}};
    report.blocked = {{"pg[5]", 100 * kMs, 84 * kMs, "pg"},
                      {"pg of x[6]", 100 * kMs, 80 * kMs, "pg"}};
    report.killed_processes = {{"sleep[7]", 9, ""}, {"sleep[8]", 9, ""}, {"sleep[9]", 6, ""}};
    std::vector<std::string> texts;
    for (const auto& finding : analysis::findings_of(report)) {
        texts.push_back(finding.text);
    }
    EXPECT_EQ(texts,
              (std::vector<std::string>{
                  "sleep[7] was killed by SIGKILL; so was 1 more",
                  "sleep[9] was killed by SIGABRT",
                  "thread pg[5] was blocked 84 % of 100 ms by files; much the same in 1 more "
                  "thread, 164 ms in all",
                  "git[1] opened /r/.git/config 40 times (2 ms); much the same with 1 more file in "
                  "1 more process, 3.5 ms in all",
                  "cc1[8] looked 90 times for what is not there: 90 % of its 100 openat calls end "
                  "in ENOENT; much the same with 1 more call in 1 more process, 1 ms in all",
                  "cc1[9] failed 80 times: 80 % of its 100 openat calls end in EIO"}));
}

TEST(Findings, begin_with_what_ended_a_process) {
    analysis::Report report = demo();
    report.killed_processes = {{"crash[7]", 11, "0x10"}, {"victim[8]", 9, ""}};
    const auto findings = analysis::findings_of(report);
    ASSERT_EQ(findings.size(), 4u);
    EXPECT_EQ(findings[0].text, "crash[7] was killed by SIGSEGV, at the address 0x10");
    EXPECT_EQ(proof_of(findings[0]),
              "select * from events where pid = 7 and name = 'signal_deliver' and result = 11 "
              "order by start_ns");
    EXPECT_EQ(findings[1].text, "victim[8] was killed by SIGKILL");
}

TEST(ReportSql, takes_cells_as_they_come) {
    analysis::Report report;
    for (const ReportQuestion& question : report_questions()) {
        const std::vector<std::string_view> cells(12, "7");
        question.take(report, cells);
        const std::vector<std::string_view> nothing(12, "");
        question.take(report, nothing);
    }
    EXPECT_EQ(report.activities[0].times.max_ns, 7u);
    EXPECT_EQ(report.threads[1].blocked_ns(), 0u);
    EXPECT_FALSE(report_text(report, {}).empty());
}

}  // namespace
}  // namespace dyetrace::reports
