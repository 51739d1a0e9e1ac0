// What damage of a sealed trace costs: the file that is damaged, and no more.

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "base/file.h"
#include "base/sanitized.h"
#include "store/store_fixture.h"

namespace dyetrace::store {
namespace {

constexpr const char* kGaps = "SELECT reason, lost FROM gaps ORDER BY ALL";

class Damaged : public testing::Test {
  protected:
    void SetUp() override { trace_.record(3, 1000); }

    // Seals all, and keeps a copy of the segments.
    void seal() {
        for (const std::uint64_t number : {1u, 2u, 3u}) {
            std::filesystem::copy(segment(number), segment(number) + ".copy");
        }
        reseal();
    }
    void reseal() {
        Sealer::start(trace::TraceFolder::open(trace_.path()).value())
            .value()
            .seal_what_is_there()
            .value();
    }
    std::string segment(std::uint64_t number) { return trace_.folder().segment_path(number); }
    std::string file(std::uint64_t number, const std::string& name) {
        return trace_.folder().sealed_path(number) + "/" + name;
    }

    // `each` is called for every kind of damage, while the file has it.
    void with_each_damage(const std::string& path,
                          const std::function<void(const std::string&)>& each) {
        const std::string whole = base::read_file(path, 8u << 20).value();
        const auto write = [&](const std::string& content) {
            base::write_file_atomically(path, content).value();
        };
        const auto cuts = base::kIsSanitized
                              ? std::vector<std::size_t>{whole.size() / 2}
                              : std::vector<std::size_t>{0, 7, whole.size() / 2, whole.size() - 1};
        for (const std::size_t size : cuts) {
            write(whole.substr(0, size));
            each("cut: ");
        }
        for (std::size_t at = 0; at < whole.size(); at += whole.size() / cuts.size()) {
            std::string flipped = whole;
            flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
            write(flipped);
            each("changed: ");
        }
        std::filesystem::remove(path);
        each("missing");
        write(whole);
    }

    StoreFixture trace_;
};

TEST_F(Damaged, events_cost_their_segment) {
    seal();
    with_each_damage(file(2, "syscall_event.parquet"), [&](const std::string& what) {
        const auto database = trace_.database();
        EXPECT_EQ(ask(*database, "SELECT count(*) FROM events"), "2000\n") << what;
        EXPECT_EQ(ask(*database, kGaps), "damaged_file 1000\n") << what;
        ASSERT_EQ(database->damages().size(), 1u);
        const std::string& text = database->damages()[0];
        EXPECT_NE(text.find("sealed-000002/syscall_event.parquet' is damaged (" + what),
                  std::string::npos)
            << text;
        EXPECT_NE(text.find(": 1,000 events at "), std::string::npos) << text;
        EXPECT_EQ(text.find('\n'), std::string::npos);
        EXPECT_EQ(database->losses().text(), "1 gap: 1,000 events lost");
    });
    EXPECT_EQ(trace_.ask("SELECT count(*) FROM events"), "3000\n");
    EXPECT_TRUE(trace_.database()->damages().empty());
}

TEST_F(Damaged, the_gap_lies_where_the_segment_was) {
    seal();
    std::filesystem::remove(file(2, "syscall_event.parquet"));
    EXPECT_EQ(trace_.ask("SELECT begin_ns >= (SELECT min(start_ns) FROM events), end_ns <= (SELECT "
                         "max(start_ns) FROM events), end_ns > begin_ns FROM gaps"),
              "true true true\n");
}

TEST_F(Damaged, facts_cost_no_event) {
    seal();
    const std::string counts = "SELECT count(*), count(path), count(pid) FROM events";
    EXPECT_EQ(trace_.ask(counts), "3000 2666 3000\n");
    const auto expect_with = [&](const char* name, const std::string& answer) {
        with_each_damage(file(1, name), [&](const std::string& what) {
            const auto database = trace_.database();
            EXPECT_EQ(ask(*database, counts), answer) << what;
            EXPECT_EQ(ask(*database, kGaps), "damaged_file 0\n") << what;
        });
    };
    expect_with("handle.parquet", "3000 0 3000\n");
    expect_with("task_context.parquet", "3000 2666 0\n");
}

TEST_F(Damaged, the_description_of_a_segment_costs_nothing_but_certainty) {
    seal();
    with_each_damage(file(2, "segment.json"), [&](const std::string&) {
        const auto database = trace_.database();
        EXPECT_EQ(ask(*database, "SELECT count(*) FROM events"), "3000\n");
        EXPECT_EQ(ask(*database, kGaps), "damaged_file NULL\n");
        EXPECT_EQ(database->damages().size(), 1u);
    });
    // Without it only what is no Parquet file at all is noticed.
    std::filesystem::remove(file(2, "segment.json"));
    std::filesystem::resize_file(file(2, "syscall_event.parquet"), 3);
    EXPECT_EQ(trace_.ask("SELECT count(*) FROM events"), "2000\n");
    EXPECT_EQ(trace_.database()->damages().size(), 2u);
}

TEST_F(Damaged, a_missing_or_empty_folder_costs_its_segment) {
    seal();
    const std::string folder = trace_.folder().sealed_path(2);
    std::filesystem::remove_all(folder);
    EXPECT_EQ(trace_.ask("SELECT count(*) FROM events"), "2000\n");
    EXPECT_EQ(trace_.ask(kGaps), "damaged_file NULL\n");
    std::filesystem::create_directory(folder);
    EXPECT_EQ(trace_.ask("SELECT count(*) FROM events"), "2000\n");
    EXPECT_EQ(trace_.ask(kGaps), "damaged_file NULL\n");
}

TEST_F(Damaged, tables_without_rows_cost_nothing) {
    seal();
    std::filesystem::remove_all(trace_.folder().sealed_path(0));
    EXPECT_EQ(trace_.ask("SELECT count(*) FROM events"), "3000\n");
    EXPECT_EQ(trace_.ask(kGaps), "");
}

TEST_F(Damaged, the_segment_is_read_instead_while_it_is_there) {
    seal();
    std::filesystem::copy(segment(2) + ".copy", segment(2));
    std::filesystem::resize_file(file(2, "syscall_event.parquet"), 100);
    EXPECT_EQ(trace_.ask("SELECT count(*), count(DISTINCT event_id) FROM events"), "3000 3000\n");
    EXPECT_EQ(trace_.ask(kGaps), "");
    // and sealed again by the next sealer
    reseal();
    EXPECT_FALSE(std::filesystem::exists(segment(2)));
    EXPECT_EQ(trace_.ask("SELECT count(*), count(DISTINCT event_id) FROM events"), "3000 3000\n");
    EXPECT_TRUE(trace_.database()->damages().empty());
}

TEST_F(Damaged, the_segment_is_left_alone_if_it_is_damaged_too) {
    seal();
    std::string bytes = base::read_file(segment(1) + ".copy", 64u << 20).value();
    bytes[bytes.size() / 2] ^= 1;
    base::write_file_atomically(segment(1), bytes).value();
    std::filesystem::resize_file(file(1, "handle.parquet"), 0);
    for (const bool sealed_again : {false, true}) {
        if (sealed_again) {
            reseal();
        }
        EXPECT_EQ(trace_.ask("SELECT count(*), count(path) FROM events"), "3000 0\n");
        EXPECT_EQ(trace_.database()->damages().size(), 1u);
    }
}

TEST_F(Damaged, a_segment_without_a_header_costs_itself_before_and_after_sealing) {
    std::string bytes = base::read_file(segment(2), 64u << 20).value();
    bytes[0] ^= 1;
    base::write_file_atomically(segment(2), bytes).value();
    for (const bool sealed : {false, true}) {
        if (sealed) {
            reseal();
        }
        EXPECT_EQ(trace_.ask("SELECT count(*) FROM events"), "2000\n");
        EXPECT_EQ(trace_.ask(kGaps), "damaged_file NULL\n");
        EXPECT_EQ(trace_.database()->damages().size(), 1u);
    }
}

TEST_F(Damaged, a_large_trace_is_compared_in_size_only) {
    seal();
    const auto events = [&] {
        const auto database =
            Database::open(trace_.path(), {.threads = 1, .memory_limit = "", .check_bytes_max = 0});
        return ask(*database.value(), "SELECT count(*) FROM events");
    };
    std::filesystem::resize_file(file(2, "syscall_event.parquet"), 100);
    EXPECT_EQ(events(), "2000\n");
    std::string flipped = base::read_file(file(3, "syscall_event.parquet"), 8u << 20).value();
    flipped[flipped.size() / 3] ^= 1;
    base::write_file_atomically(file(3, "syscall_event.parquet"), flipped).value();
    EXPECT_EQ(trace_.database()->damages().size(), 2u);
    EXPECT_EQ(events(), "2000\n") << "the bit is in a page that a count does not read";
}

}  // namespace
}  // namespace dyetrace::store
