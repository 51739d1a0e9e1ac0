// Programs that put frames in between the bytes that they pass on, and others that take them out again: how far flows go, and that each byte of them is what they say.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/dataflow/flow_cases.h"
#include "base/deep.h"
#include "base/random_bytes.h"
#include "content/anchors.h"
#include "content/content_sum.h"

namespace dyetrace::analysis {
namespace {

std::string random_bytes(std::size_t size, std::uint64_t seed) {
    return base::random_bytes(size, static_cast<std::uint32_t>(seed));
}

// What processes moved, with the anchors and sums that a recorder would have of it.
class Wire {
  public:
    static constexpr std::uint64_t kDistance = 1024;

    // `bytes` at `place` of a file, or of the stream of a connection; calls as long as `sizes` say, in turn.
    void move(std::uint64_t process,
              Side side,
              bool reads,
              std::string_view bytes,
              const std::vector<std::size_t>& sizes) {
        std::string& before = moved_[{process, side.object, reads}];
        const std::string all = before + std::string(bytes);
        const auto windows = content::AnchorRule(kDistance).find(std::as_bytes(std::span(all)));
        for (std::size_t at = 0, turn = 0; at < bytes.size(); ++turn) {
            const std::size_t size = std::min(bytes.size() - at, sizes[turn % sizes.size()]);
            const std::string_view call = bytes.substr(at, size);
            auto& anchors = anchors_.emplace_back();
            for (const auto& window : windows) {
                const std::size_t end = window.position + ANCHOR_WINDOW, begin = before.size();
                if (end > begin && end <= begin + size) {
                    anchors.push_back({static_cast<std::int64_t>(window.position) -
                                           static_cast<std::int64_t>(begin),
                                       window.fingerprint,
                                       sum(call.substr(0, end - begin))});
                }
            }
            before += call;
            Case made = reads ? read_of(++event_, side, size) : write_of(++event_, side, size);
            made.by(process).with(anchors);
            made.sum = sum(call);
            contents_[event_] = call;
            cases_.push_back(made);
            side.offset += size;
            at += size;
        }
    }

    // Flows of the rule `anchor`.
    std::vector<Flow> flows() {
        FlowEngine engine({}, {});
        std::vector<Flow> flows = flows_of(engine, cases_);
        engine.finish(flows);
        std::erase_if(flows,
                      [](const Flow& flow) { return flow.rule != schema::FlowRule::kAnchor; });
        return flows;
    }
    // Whether all that is at least likely moved the bytes that it says; each byte is told once.
    void check(const std::vector<Flow>& flows) {
        std::map<std::uint64_t, std::vector<bool>> told;
        for (const Flow& flow : flows) {
            if (flow.certainty < schema::Certainty::kLikely) {
                continue;
            }
            const std::string &from = contents_.at(flow.from_event),
                              &to = contents_.at(flow.to_event);
            ASSERT_LE(flow.from_position + flow.bytes, from.size());
            ASSERT_LE(flow.to_position + flow.bytes, to.size());
            ASSERT_TRUE(from.substr(flow.from_position, flow.bytes) ==
                        to.substr(flow.to_position, flow.bytes))
                << flow.from_event << " to " << flow.to_event << ", " << flow.bytes;
            auto& bytes = told[flow.to_event];
            bytes.resize(to.size());
            for (std::uint64_t i = 0; i < flow.bytes; ++i) {
                ASSERT_FALSE(bytes[flow.to_position + i])
                    << "byte " << flow.to_position + i << " of " << flow.to_event
                    << " is told twice";
                bytes[flow.to_position + i] = true;
            }
        }
    }
    // Bytes that likely flows took out of an object into what a process wrote.
    static std::uint64_t bytes_from(const std::vector<Flow>& flows,
                                    std::uint64_t object,
                                    std::uint64_t to_object) {
        std::uint64_t bytes = 0;
        for (const Flow& flow : flows) {
            bytes += flow.object == object && flow.to_object == to_object &&
                             flow.certainty >= schema::Certainty::kLikely
                         ? flow.bytes
                         : 0;
        }
        return bytes;
    }

  private:
    static std::uint64_t sum(std::string_view bytes) {
        return content::content_sum(std::as_bytes(std::span(bytes)));
    }

    std::map<std::tuple<std::uint64_t, std::uint64_t, bool>, std::string> moved_;
    std::deque<std::vector<Anchor>> anchors_;
    std::map<std::uint64_t, std::string> contents_;
    std::vector<Case> cases_;
    std::uint64_t event_ = 0;
};

// The ends of one connection have objects 100 + n and 200 + n.
Side end_of(std::uint64_t connection, bool sends, std::uint64_t at) {
    return tcp((sends ? 100 : 200) + connection, connection, at);
}

constexpr std::size_t kPacketBytes = 64'512;  // of HDFS, with 4 bytes of checksum for each 512
constexpr std::size_t kChecksumBytes = 504;

TEST(FrameFlow, goes_over_the_borders_of_calls_where_nothing_was_put_in) {
    const std::string content = random_bytes(400'000, 1);
    Wire wire;
    wire.move(5, file(1, 0), true, content, {4096});
    wire.move(5, end_of(1, true, 0), false, content, {10'000, 777});
    const auto flows = wire.flows();
    wire.check(flows);
    EXPECT_EQ(Wire::bytes_from(flows, 1, 101), content.size());
}

// As redis-cli reads a value, and sed writes it: what one call moves on the one side are hundreds on the other.
TEST(FrameFlow, goes_through_many_small_calls_on_either_side) {
    const std::string content = random_bytes(400'000, 11);
    Wire wire;
    wire.move(5, file(1, 0), true, content, {512});
    wire.move(5, end_of(1, true, 0), false, "SET " + content, {content.size() + 4});
    wire.move(6, file(2, 0), true, content, {content.size()});
    wire.move(6, end_of(2, true, 0), false, content, {7});
    const auto flows = wire.flows();
    wire.check(flows);
    EXPECT_EQ(Wire::bytes_from(flows, 1, 101), content.size());
    EXPECT_EQ(Wire::bytes_from(flows, 2, 102), content.size());
}

// A process that reads a file in calls of a byte, and one that reads many files: what is forgotten is counted.
TEST(FrameFlow, has_strips_of_as_many_calls_as_there_is_room_for) {
    Strips strips;
    const auto read = [&](std::uint64_t object, std::uint64_t at) {
        Operation operation = read_of(1, file(object, at), 1);
        operation.sum = 7;
        return strips.add(operation, Act{.event = 1, .object = object, .offset = at});
    };
    for (std::uint64_t at = 0; at < kCallsOfStripMax; ++at) {
        read(1, at);
    }
    EXPECT_EQ(strips.forgotten(), 0u);
    const SummedStrip* const strip = read(1, kCallsOfStripMax);
    EXPECT_EQ(strip->calls.size(), kCallsOfStripMax);
    EXPECT_EQ(strip->calls.front().begin.position, 1u);
    EXPECT_EQ(strips.forgotten(), 1u);
    for (std::uint64_t object = 2; object <= 4; ++object) {
        for (std::uint64_t at = 0; at < kCallsOfStripMax; ++at) {
            read(object, at);
        }
    }
    EXPECT_EQ(strips.forgotten(), 1u);
    read(4, kCallsOfStripMax);
    read(5, 0);
    EXPECT_EQ(strips.forgotten(), 2u + kCallsOfStripMax) << "the one that did not grow for longest";
}

TEST(FrameFlow, goes_up_to_a_short_head_wherever_it_is) {
    const std::string content = random_bytes(400'000, 2);
    Wire wire;
    std::string framed;
    for (std::size_t at = 0; at < content.size(); at += 10'000) {
        framed += std::string("\0\1\x27\x10", 4) + content.substr(at, 10'000);
    }
    wire.move(5, file(1, 0), true, content, {10'000});
    wire.move(5, end_of(1, true, 0), false, framed, {10'004});
    wire.move(6, end_of(1, false, 0), true, framed, {3333});
    wire.move(6, file(2, 0), false, content, {10'000});
    const auto flows = wire.flows();
    wire.check(flows);
    EXPECT_EQ(Wire::bytes_from(flows, 1, 101), content.size());
    EXPECT_EQ(Wire::bytes_from(flows, 201, 2), content.size());
}

TEST(FrameFlow, goes_up_to_a_head_that_has_a_call_of_its_own) {
    const std::string content = random_bytes(300'000, 3);
    Wire wire;
    wire.move(5, file(1, 0), true, content, {4096});
    std::uint64_t at = 0;
    for (std::size_t done = 0; done < content.size(); done += 30'001) {
        const std::string piece = content.substr(done, 30'001),
                          head = random_bytes(100, 1000 + done);
        wire.move(5, end_of(1, true, at), false, head, {100});
        wire.move(5, end_of(1, true, at + 100), false, piece, {piece.size()});
        at += 100 + piece.size();
    }
    const auto flows = wire.flows();
    wire.check(flows);
    EXPECT_GE(Wire::bytes_from(flows, 1, 101), content.size() - 4 * Wire::kDistance)
        << "but for the very first bytes and the last ones";
}

// Client, and three nodes that pass packets on and store the data.
TEST(FrameFlow, goes_through_a_pipeline_of_packets_with_checksums) {
    const std::string content = random_bytes(8 * kPacketBytes + 1000, 4);
    Wire wire;
    std::uint64_t at = 0;
    for (std::size_t done = 0; done < content.size(); done += kPacketBytes) {
        const std::string data = content.substr(done, kPacketBytes);
        const std::string packet = random_bytes(31 + kChecksumBytes, 2000 + done) + data;
        wire.move(5, file(1, done), true, data, {4096});
        wire.move(5, end_of(1, true, at), false, packet, {packet.size()});
        for (std::uint64_t node = 1; node <= 3; ++node) {
            wire.move(5 + node, end_of(node, false, at), true, packet, {6, 25, packet.size()});
            if (node < 3) {
                wire.move(5 + node, end_of(node + 1, true, at), false, packet, {packet.size()});
            }
            wire.move(5 + node, file(1 + node, done), false, data, {data.size()});
        }
        at += packet.size();
    }
    const auto flows = wire.flows();
    wire.check(flows);
    const std::uint64_t ends = 6 * Wire::kDistance;  // the first bytes and the last ones
    EXPECT_GE(Wire::bytes_from(flows, 1, 101), content.size() - ends);
    EXPECT_EQ(Wire::bytes_from(flows, 201, 102), at)
        << "what is passed on as it came is the same, heads and all";
    for (std::uint64_t node = 1; node <= 3; ++node) {
        EXPECT_GE(Wire::bytes_from(flows, 200 + node, 1 + node), content.size() - ends) << node;
    }
}

TEST(FrameFlow, goes_through_chunks) {
    const std::string content = random_bytes(40 * 8192, 5);
    std::string framed = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    Wire wire;
    wire.move(5, file(1, 0), true, content, {8192});
    wire.move(5, end_of(1, true, 0), false, framed, {framed.size()});
    std::uint64_t at = framed.size();
    for (std::size_t done = 0; done < content.size(); done += 8192) {
        const std::string chunk = "2000\r\n" + content.substr(done, 8192) + "\r\n";
        wire.move(5, end_of(1, true, at), false, chunk, {chunk.size()});
        framed += chunk;
        at += chunk.size();
    }
    wire.move(6, end_of(1, false, 0), true, framed, {16'384, 5000});
    wire.move(6, file(2, 0), false, content, {8192});
    const auto flows = wire.flows();
    wire.check(flows);
    EXPECT_GE(Wire::bytes_from(flows, 1, 101), content.size() - 4 * Wire::kDistance);
    EXPECT_GE(Wire::bytes_from(flows, 201, 2), content.size() - 4 * Wire::kDistance);
}

TEST(FrameFlow, of_what_was_changed_on_the_way_is_only_possible) {
    std::string content = random_bytes(100'000, 6);
    Wire wire;
    wire.move(5, file(1, 0), true, content, {10'000});
    content[55'555] ^= 1;
    wire.move(5, end_of(1, true, 0), false, content, {25'000});
    const auto flows = wire.flows();
    wire.check(flows);
    const std::uint64_t likely = Wire::bytes_from(flows, 1, 101);
    EXPECT_GT(likely, content.size() - 10 * Wire::kDistance);
    EXPECT_LT(likely, content.size());
}

// Frames of any length at any place, calls of any size: nothing is said to be likely that is not so, and most of it is found.
TEST(FrameFlow, is_never_of_other_bytes) {
    const unsigned seeds = base::deep(15U, 50U);
    std::uint64_t moved = 0, found = 0;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        std::mt19937_64 random(seed);
        const auto up_to = [&](std::uint64_t most) {
            return static_cast<std::size_t>(1 + random() % most);
        };
        const std::string content = random_bytes(200'000, 100 + seed);
        Wire wire;
        std::string framed;
        std::vector<std::size_t> pieces, calls;
        const std::size_t head = up_to(seed % 2 == 0 ? 8 : 600);
        for (std::size_t done = 0; done < content.size();) {
            const std::size_t size = std::min(content.size() - done, 2000 + up_to(30'000));
            framed += random_bytes(head, random()) + content.substr(done, size);
            pieces.push_back(size);
            calls.push_back(head + size);
            done += size;
        }
        wire.move(5,
                  file(1, 0),
                  true,
                  content,
                  seed % 3 == 0 ? pieces : std::vector{up_to(9000), up_to(9000)});
        wire.move(5,
                  end_of(1, true, 0),
                  false,
                  framed,
                  seed % 5 == 0 ? std::vector{up_to(30'000), up_to(3000)} : calls);
        wire.move(
            6, end_of(1, false, 0), true, framed, {up_to(20'000), up_to(20'000), up_to(20'000)});
        wire.move(
            6, file(2, 0), false, content, seed % 4 == 0 ? std::vector{up_to(50'000)} : pieces);
        const auto flows = wire.flows();
        wire.check(flows);
        if (testing::Test::HasFatalFailure()) {
            FAIL() << "seed " << seed;
        }
        moved += 2 * content.size();
        found += Wire::bytes_from(flows, 1, 101) + Wire::bytes_from(flows, 201, 2);
    }
    EXPECT_GT(static_cast<double>(found), 0.85 * static_cast<double>(moved));
}

}  // namespace
}  // namespace dyetrace::analysis
