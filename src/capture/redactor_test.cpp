#include "capture/redactor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/file.h"

namespace dyetrace::capture {
namespace {

constexpr Lane kFile{1, false}, kPipe{2, true}, kStream{3, true}, kOtherStream{4, true};

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
                      std::size_t held_bytes_max = Redactor::kHeldBytesMax) {
        return Redactor(
            secrets(words),
            [this](const Payload& payload) { disk_.take(payload); },
            held_bytes_max);
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
        }
    }
}

TEST_F(Redaction, never_gives_out_half_of_what_may_go_on) {
    Redactor redactor = this->redactor({"secret"});
    redactor.take(piece("the sec", kStream, 0));
    EXPECT_FALSE(disk_.holds("sec"));
    redactor.take(piece("re", kStream, 7));
    redactor.take(piece("t is out", kStream, 9));
    redactor.finish();
    EXPECT_EQ(disk_.event(0) + disk_.event(1) + disk_.event(2), "the ****** is out");
}

TEST_F(Redaction, hides_what_could_be_half_of_one_where_nobody_knows_what_is_beside_it) {
    Redactor redactor = this->redactor({"secret"});
    redactor.take(piece("all sec", kPipe));
    redactor.take(piece("cre", kPipe));
    redactor.take(piece("ret is out", kPipe));
    EXPECT_EQ(disk_.event(0), "all ***") << "and that at once";
    EXPECT_EQ(disk_.event(1), "***");
    EXPECT_EQ(disk_.event(2), "*** is out");
    redactor.take(piece("a sec", kStream, 0));
    redactor.take(piece("ret that was not in a row", kStream, 6));
    redactor.finish();
    EXPECT_EQ(disk_.event(3), "a ***");
    EXPECT_EQ(disk_.event(4), "*** that was not in a row");
    EXPECT_EQ(redactor.redacted_bytes(), 15u);
}

TEST_F(Redaction, knows_that_nothing_is_in_front_of_the_first_byte) {
    Redactor redactor = this->redactor({"secret"});
    redactor.take(piece("ret is no end of it", kStream, 0));
    redactor.finish();
    EXPECT_EQ(disk_.event(0), "ret is no end of it");
}

TEST_F(Redaction, joins_no_pieces_of_two_streams) {
    Redactor redactor = this->redactor({"aba"});
    redactor.take(piece("xxab", kStream, 0));
    redactor.take(piece("axx", kOtherStream, 4));
    redactor.take(piece("xx", kStream, 4));
    redactor.finish();
    EXPECT_EQ(disk_.event(0), "xxab");
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

TEST_F(Redaction, hides_what_waits_where_something_else_is_written_now) {
    Redactor redactor = this->redactor({"secret"});
    redactor.take(piece("all sec", kFile, 100));
    redactor.take(piece("nothing", kFile, 100));
    redactor.take(piece("ret is out", kFile, 107));
    redactor.finish();
    EXPECT_EQ(disk_.event(0), "all ***");
    EXPECT_EQ(disk_.event(1), "nothing");
}

TEST_F(Redaction, hides_a_second_half_that_is_written_over_something_else) {
    Redactor redactor = this->redactor({"secret"});
    redactor.take(piece("the sec and what is after it", kFile, 0));
    redactor.take(piece("ret", kFile, 7));
    redactor.finish();
    EXPECT_EQ(disk_.event(1), "***");
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
}

TEST_F(Redaction, of_what_is_written_byte_by_byte_asks_each_neighbour_once) {
    Redactor redactor = this->redactor({"re:key=[^;]*;"});  // up to 4,095 bytes wait at each side
    const std::string text = std::string(2'000, 'x') + "key=" + std::string(1'500, 'k') + ";x";
    for (std::size_t place = 0; place < text.size(); ++place) {
        redactor.take(piece(text.substr(place, 1), kFile, place));
    }
    redactor.finish();
    std::string kept;
    for (std::size_t place = 0; place < text.size(); ++place) {
        kept += disk_.event(place);
    }
    EXPECT_EQ(kept, std::string(2'000, 'x') + std::string(1'505, '*') + "x");
}

TEST_F(Redaction, gives_the_oldest_when_too_much_waits_without_what_could_go_on) {
    Redactor redactor = this->redactor({"secret"}, 10'000);
    for (std::uint64_t i = 0; i < 1'000; ++i) {
        redactor.take(piece("0123456789sec", kFile, 1000 * i));
    }
    EXPECT_EQ(disk_.event(0), "0123456789***");
    redactor.take(piece("ret", kFile, 13));
    redactor.finish();
    EXPECT_EQ(disk_.event(1'000), "***");
    EXPECT_FALSE(disk_.holds("sec"));
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

std::string with_secrets_hidden(std::string content, const Secrets& secrets, Ends ends) {
    for (const auto& [from, to] : secrets.find(base::bytes_of(content), ends)) {
        content.replace(from, to - from, to - from, '*');
    }
    return content;
}

std::string random_content(std::size_t size, std::mt19937& random) {
    std::string content(size, ' ');
    std::generate(content.begin(), content.end(), [&] { return "abc"[random() % 3]; });
    return content;
}

const std::vector<std::vector<std::string>> kWords = {{"aba"},
                                                      {"abcabc", "cc"},
                                                      {"hex:6161616161"},
                                                      {"aba", "bbbb", "cabac"},
                                                      {"re:a[bc]{2,5}a"},
                                                      {"re:(ab|ca){1,4}b", "bbb"}};

// Random contents over few letters, cut and ordered at random: what is on the disk is what one search over the whole hides.
TEST_F(Redaction, hides_what_a_search_over_the_whole_hides) {
    std::mt19937 random(3);
    for (int round = 0; round < 1'000; ++round) {
        const auto& words = kWords[random() % kWords.size()];
        const std::string content = random_content(50 + random() % 400, random);
        const std::string expected = with_secrets_hidden(content, secrets(words), {false, true});
        Redactor redactor = this->redactor(words);
        std::string kept = content;
        const std::uint64_t first = next_;
        const Cuts cuts = random_cuts(content.size(), random);
        for (const auto& [at, size] : cuts) {
            redactor.take(piece(std::string_view(content).substr(at, size), kFile, at));
        }
        redactor.finish();
        for (std::size_t i = 0; i < cuts.size(); ++i) {
            kept.replace(cuts[i].first, cuts[i].second, disk_.event(first + i));
        }
        ASSERT_EQ(kept, expected) << round;
    }
}

// Read several times with other cuts; some pieces were not seen, some have no place, and some must not wait: no byte of a secret of the whole is on the disk.
TEST_F(Redaction, lets_nothing_through_whatever_it_sees) {
    std::mt19937 random(4);
    for (int round = 0; round < 2'000; ++round) {
        const auto& words = kWords[random() % kWords.size()];
        const std::string content = random_content(50 + random() % 200, random);
        const std::string expected = with_secrets_hidden(content, secrets(words), {});
        Redactor redactor = this->redactor(words, random() % 2 == 0 ? 100'000 : 2'000);
        std::map<std::uint64_t, std::string> events;
        for (std::uint32_t pass = 0; pass < 1 + random() % 3; ++pass) {
            for (const auto& [at, size] : random_cuts(content.size(), random)) {
                if (random() % 4 == 0) {
                    continue;
                }
                const std::optional<std::uint64_t> place =
                    random() % 4 == 0 ? std::nullopt : std::optional<std::uint64_t>(at);
                events[next_] = expected.substr(at, size);
                redactor.take(piece(std::string_view(content).substr(at, size), kFile, place));
            }
        }
        redactor.finish();
        for (const auto& [event, text] : events) {
            const std::string seen = disk_.event(event);
            ASSERT_EQ(seen.size(), text.size());
            for (std::size_t i = 0; i < text.size(); ++i) {
                ASSERT_TRUE(text[i] != '*' || seen[i] == '*') << round << ": " << seen;
            }
        }
    }
}

}  // namespace
}  // namespace dyetrace::capture
