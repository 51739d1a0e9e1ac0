#include "capture/redactor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/file.h"

namespace dyetrace::capture {
namespace {

constexpr Lane kFile{1, false}, kPipe{2, true}, kOtherPipe{3, true};

Secrets secrets(const std::vector<std::string>& words) {
    return Secrets::parse(words).value();
}

// What reached the disk, by event and position; '?' where nothing did.
class Disk {
  public:
    void take(const Payload& payload) {
        std::string& bytes = events_[payload.sequence];
        bytes.resize(std::max<std::size_t>(bytes.size(), payload.position + payload.bytes.size()),
                     '?');
        bytes.replace(payload.position, payload.bytes.size(), base::text_of(payload.bytes));
    }
    std::string event(std::uint64_t sequence) const {
        const auto found = events_.find(sequence);
        return found == events_.end() ? "" : found->second;
    }
    bool holds(std::string_view text) const {
        return std::any_of(events_.begin(), events_.end(), [&](const auto& event) {
            return event.second.find(text) != std::string::npos;
        });
    }

  private:
    std::map<std::uint64_t, std::string> events_;
};

class Redaction : public testing::Test {
  protected:
    Redactor redactor(const std::vector<std::string>& words,
                      std::size_t held_max = Redactor::kHeldMax) {
        return Redactor(
            secrets(words), [this](const Payload& payload) { disk_.take(payload); }, held_max);
    }

    // Events are numbered from 0.
    Payload piece(std::string_view text, Lane lane, std::optional<std::uint64_t> place = {}) {
        Payload payload;
        payload.sequence = next_++;
        payload.lane = lane;
        payload.place = place;
        const auto bytes = base::bytes_of(text);
        payload.bytes.assign(bytes.begin(), bytes.end());
        return payload;
    }

    Disk disk_;
    std::uint64_t next_ = 0;
};

TEST(Secrets, find_what_they_say) {
    const auto found = [](const std::vector<std::string>& words, std::string_view text) {
        return secrets(words).find(base::bytes_of(text));
    };
    using Stretches = std::vector<Stretch>;
    EXPECT_EQ(found({"abc"}, "xabcabcx"), (Stretches{{1, 7}}));
    EXPECT_EQ(found({"aa"}, "aaa_a"), (Stretches{{0, 3}})) << "overlapping ones too";
    EXPECT_EQ(found({"hex:00ff"}, std::string_view("a\x00\xff", 3)), (Stretches{{1, 3}}));
    EXPECT_EQ(found({"re:[0-9]{4}"}, "ab12345c"), (Stretches{{2, 7}})) << "wherever one begins";
    EXPECT_EQ(found({"re:k.y", "no"}, "key no kay"), (Stretches{{0, 3}, {4, 6}, {7, 10}}));
    EXPECT_EQ(found({"re:x*"}, "aaa"), Stretches{}) << "nothing is no match";
    EXPECT_EQ(found({"re:b"}, std::string_view("a\0b", 3)), (Stretches{{2, 3}}));
}

TEST(Secrets, that_make_no_sense_are_refused_in_one_line) {
    for (const char* word : {"", "hex:0", "hex:0g", "re:(", "re:[", "@/nowhere/at/all"}) {
        const auto parsed = Secrets::parse({word});
        ASSERT_FALSE(parsed.ok()) << word;
        EXPECT_EQ(parsed.error().text().find('\n'), std::string::npos);
    }
    EXPECT_FALSE(Secrets::parse({std::string(Secrets::kJoinedBytesMax + 1, 'x')}).ok());
}

TEST_F(Redaction, hides_a_secret_split_at_each_of_its_positions) {
    const std::string secret = "4929123456781234", text = "card " + secret + " end";
    for (std::size_t split = 1; split < text.size(); ++split) {
        for (const bool has_places : {false, true}) {
            Redactor redactor = this->redactor({secret});
            const std::uint64_t first = next_;
            redactor.take(piece(text.substr(0, split),
                                kPipe,
                                has_places ? std::optional<std::uint64_t>(0) : std::nullopt));
            redactor.take(piece(text.substr(split),
                                kPipe,
                                has_places ? std::optional<std::uint64_t>(split) : std::nullopt));
            redactor.finish();
            EXPECT_EQ(disk_.event(first) + disk_.event(first + 1), "card **************** end")
                << split;
            EXPECT_EQ(redactor.redacted_bytes(), secret.size());
            EXPECT_EQ(redactor.withheld_bytes(), 0u);
        }
    }
}

TEST_F(Redaction, never_gives_out_half_of_what_may_go_on) {
    Redactor redactor = this->redactor({"secret"});
    redactor.take(piece("the sec", kPipe));
    EXPECT_FALSE(disk_.holds("sec"));
    redactor.take(piece("re", kPipe));
    redactor.take(piece("t is out", kPipe));
    redactor.finish();
    EXPECT_EQ(disk_.event(0) + disk_.event(1) + disk_.event(2), "the ****** is out");
}

TEST_F(Redaction, joins_no_pieces_of_two_streams) {
    Redactor redactor = this->redactor({"secret"});
    redactor.take(piece("sec", kPipe));
    redactor.take(piece("ret", kOtherPipe));
    redactor.finish();
    EXPECT_EQ(disk_.event(0), "sec");
    EXPECT_EQ(disk_.event(1), "ret");
}

TEST_F(Redaction, takes_pieces_of_a_file_in_any_order) {
    Redactor redactor = this->redactor({"secret"});
    redactor.take(piece("ret is out", kFile, 7));
    redactor.take(piece("the sec", kFile, 0));
    redactor.finish();
    EXPECT_EQ(disk_.event(1) + disk_.event(0), "the ****** is out");
}

TEST_F(Redaction, hides_it_again_when_a_file_is_read_again) {
    Redactor redactor = this->redactor({"secret"});
    for (int pass = 0; pass < 3; ++pass) {
        redactor.take(piece("the sec", kFile, 0));
        redactor.take(piece("ret is out", kFile, 7));
    }
    redactor.finish();
    for (std::uint64_t event = 0; event < 6; event += 2) {
        EXPECT_EQ(disk_.event(event) + disk_.event(event + 1), "the ****** is out");
    }
}

TEST_F(Redaction, hides_the_second_half_that_is_read_by_itself) {
    Redactor redactor = this->redactor({"secret"});
    redactor.take(piece("here is a secret and more", kFile, 0));
    redactor.take(piece("ret and more", kFile, 13));
    redactor.take(piece("here is a sec", kFile, 0));
    redactor.finish();
    EXPECT_EQ(disk_.event(1), "*** and more");
    EXPECT_EQ(disk_.event(2), "here is a ***");
}

TEST_F(Redaction, withholds_what_waits_where_something_else_is_written_now) {
    Redactor redactor = this->redactor({"secret"});
    redactor.take(piece("the sec", kFile, 100));
    redactor.take(piece("nothing", kFile, 100));
    redactor.take(piece("ret is out", kFile, 107));
    redactor.finish();
    EXPECT_FALSE(disk_.holds("sec"));
    EXPECT_GT(redactor.withheld_bytes(), 0u);
}

TEST_F(Redaction, withholds_what_stands_beside_bytes_that_nobody_saw) {
    for (const bool saw_everything : {true, false}) {
        Redactor redactor = this->redactor({"secret"});
        const std::uint64_t first = next_;
        Payload cut = piece("the first secre", kFile, 0);
        cut.is_cut_behind = true;
        redactor.take(std::move(cut));
        redactor.take(piece("and then sec", kPipe));
        redactor.finish(saw_everything);
        EXPECT_EQ(disk_.event(first), "the first ");
        EXPECT_EQ(disk_.event(first + 1), saw_everything ? "and then sec" : "and the");
    }
}

TEST_F(Redaction, of_a_block_that_is_written_over_and_over_takes_no_longer_each_time) {
    Redactor redactor = this->redactor({"secret"});
    for (int i = 0; i < 40'000; ++i) {  // compared pair by pair these would take minutes
        redactor.take(piece("a block with a sec", kFile, 100));
    }
    redactor.take(piece("ret", kFile, 118));
    redactor.finish();
    EXPECT_EQ(disk_.event(0), "a block with a ***");
    EXPECT_EQ(disk_.event(39'999), "a block with a ***");
    EXPECT_EQ(redactor.withheld_bytes(), 0u);
}

TEST_F(Redaction, withholds_both_ends_of_what_goes_from_file_to_file) {
    Redactor redactor = this->redactor({"secret"});
    Payload copied = piece("ret, then a secret, and sec", kFile, 3);
    copied.is_in_two_lanes = copied.is_cut_before = copied.is_cut_behind = true;
    redactor.take(std::move(copied));
    redactor.take(piece("sec", kFile, 0));
    redactor.take(piece("ret", kFile, 30));
    redactor.finish();
    EXPECT_EQ(disk_.event(0), "?????then a ******, an");
    EXPECT_EQ(disk_.event(1), "***") << "what is beside it is compared with it";
    EXPECT_EQ(disk_.event(2), "***");
}

TEST_F(Redaction, withholds_the_oldest_when_too_much_waits) {
    Redactor redactor = this->redactor({"secret"}, 10);
    for (std::uint64_t i = 0; i < 100; ++i) {
        redactor.take(piece("0123456789sec", kFile, 1000 * i));
    }
    redactor.take(piece("ret", kFile, 13));
    redactor.finish();
    EXPECT_EQ(disk_.event(0).find("sec"), std::string::npos);
    EXPECT_NE(disk_.event(99).find("sec"), std::string::npos) << "it has no neighbour";
    EXPECT_GT(redactor.withheld_bytes(), 90u * 5);
}

TEST_F(Redaction, passes_all_on_at_once_when_there_is_nothing_to_hide) {
    Redactor redactor = this->redactor({});
    redactor.take(piece("the secret", kPipe));
    EXPECT_EQ(disk_.event(0), "the secret");
}

using Cuts = std::vector<std::pair<std::size_t, std::size_t>>;  // begin, size

Cuts random_cuts(std::size_t size, std::mt19937& random) {
    Cuts cuts;
    for (std::size_t at = 0; at < size; at += cuts.back().second) {
        cuts.emplace_back(at, std::min<std::size_t>(1 + random() % (1 + random() % 40), size - at));
    }
    std::shuffle(cuts.begin(), cuts.end(), random);
    return cuts;
}

std::string with_secrets_hidden(std::string content, const Secrets& secrets) {
    for (const auto& [from, to] : secrets.find(base::bytes_of(content))) {
        content.replace(from, to - from, to - from, '*');
    }
    return content;
}

// Random contents over few letters, cut and ordered at random, and read again with other cuts: what is on the disk is what
// one search over the whole hides.
TEST_F(Redaction, hides_what_a_search_over_the_whole_hides) {
    std::mt19937 random(3);
    const std::vector<std::vector<std::string>> all = {
        {"aba"}, {"abcabc", "cc"}, {"hex:6161616161"}, {"aba", "bbbb", "cabac"}};
    for (int round = 0; round < 500; ++round) {
        const auto& words = all[random() % all.size()];
        std::string content(50 + random() % 400, ' ');
        std::generate(content.begin(), content.end(), [&] { return "abc"[random() % 3]; });
        const std::string expected = with_secrets_hidden(content, secrets(words));
        Redactor redactor = this->redactor(words);
        std::map<std::uint64_t, std::string> events;
        for (std::uint32_t pass = 0; pass < 1 + random() % 3; ++pass) {
            for (const auto& [at, size] : random_cuts(content.size(), random)) {
                events[next_] = expected.substr(at, size);
                redactor.take(piece(std::string_view(content).substr(at, size), kFile, at));
            }
        }
        redactor.finish();
        EXPECT_EQ(redactor.withheld_bytes(), 0u);
        for (const auto& [event, text] : events) {
            ASSERT_EQ(disk_.event(event), text) << round;
        }
    }
}

}  // namespace
}  // namespace dyetrace::capture
