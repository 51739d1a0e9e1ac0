#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "base/file.h"
#include "store/store_fixture.h"
#include "store/trace_sealer.h"

namespace dyetrace::store {
namespace {

trace::TraceInfo info_of(std::uint16_t index) {
    trace::TraceInfo info;
    info.program = "test";
    info.hosts.push_back({.index = index,
                          .name = "web" + std::to_string(index),
                          .boot_id = "b" + std::to_string(index),
                          .kernel = "6.1.0",
                          .machine = "x86_64",
                          .cpus = 2});
    return info;
}

constexpr std::uint16_t kHosts[] = {0, 7};

// A trace of hosts 0 and 7 as a collector has it.
class Parts : public testing::Test {
  protected:
    struct Part {
        std::unique_ptr<trace::TraceFolder> folder;
        std::unique_ptr<trace::SegmentWriter> writer;
        trace::SyntheticRecords records;
    };

    Parts() {
        trace::TraceInfo info;
        info.program = "test";
        info.has_parts = true;
        whole_ =
            std::make_unique<trace::TraceFolder>(trace::TraceFolder::create(path(), info).value());
        for (const std::uint16_t index : kHosts) {
            add_part(index);
        }
    }

    void add_part(std::uint16_t index) {
        Part& part = parts_[index];
        part.folder = std::make_unique<trace::TraceFolder>(
            trace::TraceFolder::create(whole_->part_path(index), info_of(index)).value());
        trace::SegmentWriterOptions options;
        options.limits.records_max = 1000;
        part.writer = std::make_unique<trace::SegmentWriter>(
            trace::SegmentWriter::create(*part.folder, index, options).value());
        part.writer->append(0, schema::Stream::kFacts, part.records.facts(0)).value();
    }

    void record(std::uint16_t index, std::size_t events) {
        Part& part = parts_[index];
        part.writer->append(0, schema::Stream::kEvents, part.records.events(0, events)).value();
        part.writer->flush().value();
    }

    void finish_part(std::uint16_t index) {
        parts_[index].writer->close().value();
        parts_[index].folder->finish().value();
    }

    // All that a killed collector held.
    void kill_collector() {
        parts_.clear();
        whole_.reset();
    }

    std::string path() const { return temporary_.path() + "/fleet"; }
    std::unique_ptr<Database> database() const {
        return Database::open(path(), {.threads = 2, .memory_limit = ""}).value();
    }
    std::string ask(const std::string& sql) const { return store::ask(*database(), sql); }
    trace::TraceState seal() const {
        return TraceSealer::start(path())
            .value()
            .seal_what_is_there([](std::size_t) { return true; })
            .value();
    }

    base::TemporaryFolder temporary_ = base::TemporaryFolder::make().value();
    std::unique_ptr<trace::TraceFolder> whole_;
    std::map<std::uint16_t, Part> parts_;
};

constexpr const char* kByHost =
    "SELECT host, count(*), count(DISTINCT event_id), count(pid) FROM events GROUP BY 1 ORDER BY 1";

TEST_F(Parts, are_asked_as_one_trace_while_they_grow_and_sealed) {
    record(0, 600);
    record(7, 1000);
    record(7, 300);
    const std::string expected = "web0 600 600 600\nweb7 1300 1300 1300\n";
    EXPECT_EQ(ask(kByHost), expected);
    EXPECT_EQ(seal(), trace::TraceState::kRecording);
    EXPECT_FALSE(std::filesystem::exists(whole_->part_path(7) + "/segment-000001.seg"));
    EXPECT_EQ(ask(kByHost), expected);
    EXPECT_EQ(ask("SELECT host, host_index FROM hosts ORDER BY 2"), "web0 0\nweb7 7\n");
    finish_part(0);
    finish_part(7);
    whole_->finish().value();
    EXPECT_EQ(seal(), trace::TraceState::kFinished);
    EXPECT_EQ(ask(kByHost), expected);
    EXPECT_EQ(ask("SELECT count(*) FROM gaps"), "0\n");
    EXPECT_EQ(ask_elsewhere(path(), kByHost), expected);
}

TEST_F(Parts, are_traces_themselves) {
    record(7, 10);
    const auto part = Database::open(whole_->part_path(7), {}).value();
    EXPECT_EQ(part->state(), trace::TraceState::kRecording);
    EXPECT_EQ(store::ask(*part, "SELECT host, count(*) FROM events GROUP BY 1"), "web7 10\n");
}

TEST_F(Parts, may_join_late) {
    record(0, 10);
    const auto database = this->database();
    EXPECT_EQ(store::ask(*database, kByHost), "web0 10 10 10\n");
    add_part(12);
    record(12, 5);
    database->refresh().value();
    EXPECT_EQ(store::ask(*database, kByHost), "web0 10 10 10\nweb12 5 5 5\n");
}

TEST_F(Parts, that_lack_their_collector_say_so_and_carry_on) {
    constexpr const char* kHostGaps = "SELECT host, reason FROM gaps ORDER BY 1";
    record(0, 10);
    record(7, 20);
    kill_collector();
    EXPECT_EQ(database()->state(), trace::TraceState::kDied);
    EXPECT_EQ(ask(kHostGaps), "web0 recorder_died\nweb7 recorder_died\n");
    EXPECT_EQ(seal(), trace::TraceState::kDied);  // and leaves the last segments alone
    auto whole = trace::TraceFolder::resume(path()).value();
    std::vector<trace::TraceFolder> parts;
    for (const std::uint16_t index : kHosts) {
        EXPECT_FALSE(std::filesystem::exists(whole.part_path(index) + "/sealed-000001"));
        parts.push_back(trace::TraceFolder::resume(whole.part_path(index)).value());
    }
    EXPECT_EQ(ask(kHostGaps), "");
    EXPECT_EQ(ask(kByHost), "web0 10 10 10\nweb7 20 20 20\n");
    EXPECT_EQ(trace::TraceFolder::resume(path()).error().code(), ErrorCode::kUnavailable);
    parts.front().finish().value();
    EXPECT_EQ(trace::TraceFolder::resume(whole.part_path(0)).error().code(),
              ErrorCode::kInvalidArgument);
}

TEST_F(Parts, whose_host_never_came_back_end_with_a_gap_of_that_host) {
    record(0, 10);
    record(7, 20);
    finish_part(0);
    parts_.clear();
    whole_->finish().value();
    for (const bool sealed : {false, true}) {
        if (sealed) {
            EXPECT_EQ(seal(), trace::TraceState::kFinished);
        }
        EXPECT_EQ(ask("SELECT host, reason FROM gaps"), "web7 recorder_died\n");
        EXPECT_EQ(ask(kByHost), "web0 10 10 10\nweb7 20 20 20\n");
    }
}

TEST_F(Parts, that_are_damaged_cost_their_own_host_only) {
    record(0, 10);
    record(7, 20);
    base::write_file_atomically(
        whole_->part_path(7) + "/segment-000001.seg",
        "no segment at all, but some words of more than sixty-four bytes in all")
        .value();
    const auto database = this->database();
    EXPECT_EQ(store::ask(*database, kByHost), "web0 10 10 10\n");
    EXPECT_EQ(store::ask(*database, "SELECT host, reason FROM gaps"), "web7 damaged_file\n");
    ASSERT_EQ(database->damages().size(), 1u);
    EXPECT_NE(database->damages().front().find("host-0007"), std::string::npos);
}

TEST_F(Parts, each_has_all_tables_whoever_made_them) {
    for (const std::uint16_t index : kHosts) {
        record(index, 10);
        finish_part(index);
    }
    whole_->finish().value();
    EXPECT_EQ(seal(), trace::TraceState::kFinished);
    const auto names = [&](std::uint16_t index) {
        std::vector<std::string> found =
            base::list_folder(whole_->part_path(index) + "/sealed-000000").value();
        for (const char* name : {"hosts.parquet", "syscalls.parquet", "flags.parquet"}) {
            EXPECT_TRUE(std::filesystem::exists(whole_->part_path(index) + "/" + name)) << name;
        }
        return found;
    };
    EXPECT_EQ(names(kHosts[0]), names(kHosts[1]));
    EXPECT_GT(names(kHosts[1]).size(), 20u);
    EXPECT_EQ(ask("SELECT count(*) AS n FROM read_parquet('" + whole_->part_path(kHosts[1]) +
                  "/hosts.parquet') WHERE name = 'web7'"),
              "1\n")
        << "its own";
}

}  // namespace
}  // namespace dyetrace::store
