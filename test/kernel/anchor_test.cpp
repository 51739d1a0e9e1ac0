// Anchors are those of the bytes, wherever these are cut.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/random_bytes.h"
#include "content/anchors.h"
#include "content/content_sum.h"
#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

using base::random_bytes;

class Anchors : public KernelTest {
  protected:
    Anchors() {
        options_.content = schema::ContentLevel::kAnchors;
        options_.anchor_distance = 256;
    }
    std::vector<FoundAnchor> of(std::string_view bytes) const {
        const content::AnchorRule rule(options_.anchor_distance, options_.content_key);
        std::vector<FoundAnchor> result;
        for (const auto& one : rule.find(std::as_bytes(std::span(bytes)))) {
            result.push_back({static_cast<std::int64_t>(one.position), one.fingerprint});
        }
        return result;
    }
    // Gives the anchors of all these events together, by place: what each moved begins
    // `begin(event)` bytes into the whole.
    template <typename Begin>
    static std::vector<FoundAnchor> together(const std::vector<Event>& events, Begin&& begin) {
        std::vector<FoundAnchor> result;
        for (const Event& event : events) {
            for (FoundAnchor one : event.anchors()) {
                one.position += begin(event);
                result.push_back(one);
            }
        }
        std::ranges::sort(result, {}, &FoundAnchor::position);
        return result;
    }
};

// Sums of the event, which moved these bytes: at each anchor, and of all.
void expect_sums(const Event& event, std::string_view bytes) {
    std::uint64_t sum = 0;
    std::size_t at = 0;
    const auto sum_at = [&](std::size_t end) {
        const auto more = std::as_bytes(std::span(bytes)).subspan(at, end - at);
        sum = content::joined_sum(sum, content::content_sum(more), more.size());
        at = end;
        return sum;
    };
    for (const FoundAnchor& one : event.anchors()) {
        EXPECT_EQ(one.prefix_sum, sum_at(static_cast<std::size_t>(one.position + ANCHOR_WINDOW)))
            << one.position << " of " << bytes.size();
    }
    ASSERT_TRUE(event.content()->has_sum);
    EXPECT_EQ(event.content()->sum, sum_at(bytes.size())) << bytes.size();
}

class KeyedAnchors : public Anchors {
  protected:
    KeyedAnchors() { options_.content_key = content::ContentKey{{7, 8}}; }
};

TEST_F(Anchors, of_a_call_of_any_size_are_those_of_its_bytes) {
    std::vector<std::size_t> sizes = {
        0, 1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 255, 256, 257, 319, 1000};
    for (const std::size_t border : {65'280u, 65'536u, 130'560u, 1u << 20, 5u << 20}) {
        sizes.insert(sizes.end(),
                     {border - 1, border, border + 1, border + 31, border + 32, border + 300});
    }
    const Trace trace = record([&] {
        const int fd = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
        off_t place = 0;
        for (const std::size_t size : sizes) {
            const std::string bytes = random_bytes(size, static_cast<std::uint32_t>(size));
            REQUIRE(ftruncate(fd, 0) == 0);
            // in a place of its own, so that it has no neighbours
            REQUIRE(pwrite(fd, bytes.data(), size, place) == static_cast<ssize_t>(size));
            place += 16 << 20;
        }
    });
    const auto writes = trace.all("pwrite64");
    ASSERT_EQ(writes.size(), sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::string bytes = random_bytes(sizes[i], static_cast<std::uint32_t>(sizes[i]));
        EXPECT_EQ(writes[i].anchors(), of(bytes)) << sizes[i];
        expect_sums(writes[i], bytes);
        EXPECT_EQ(writes[i].content()->anchors_dropped, 0u);
    }
}

std::uint32_t distinct_values(std::string_view bytes) {
    return static_cast<std::uint32_t>(std::set<char>(bytes.begin(), bytes.end()).size());
}

// One sample comes after a head of 192 bytes, the other one is the last 64.
TEST_F(Anchors, come_with_how_random_the_bytes_look) {
    const std::string random = random_bytes(1 << 20, 21), text(1 << 20, 'x');
    std::vector<std::string> contents = {random.substr(0, 63) + text.substr(0, 193)};
    for (const std::size_t size : {1u,
                                   63u,
                                   64u,
                                   100u,
                                   255u,
                                   256u,
                                   257u,
                                   4096u,
                                   65'279u,
                                   65'280u,
                                   65'281u,
                                   65'300u,
                                   200'000u,
                                   1u << 20}) {
        contents.push_back(random.substr(0, size));
        contents.push_back(text.substr(0, size));
        contents.push_back(text.substr(0, size - size / 2) + random.substr(0, size / 2));
        contents.push_back(random.substr(0, size - size / 2) + text.substr(0, size / 2));
    }
    const Trace trace = record([&] {
        const int fd = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
        for (const std::string& bytes : contents) {
            REQUIRE(write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
        }
    });
    const auto writes = trace.all("write");
    ASSERT_EQ(writes.size(), contents.size());
    for (std::size_t i = 0; i < contents.size(); ++i) {
        const std::string_view bytes = contents[i];
        std::uint32_t expected = 0;
        if (bytes.size() >= 64) {
            expected = distinct_values(bytes.substr(bytes.size() - 64));
        }
        if (bytes.size() >= 256) {
            expected = std::max(expected, distinct_values(bytes.substr(192, 64)));
        }
        EXPECT_EQ(writes[i].content()->distinct_bytes, expected) << bytes.size();
    }
}

TEST_F(KeyedAnchors, are_those_of_the_key) {
    const std::string bytes = random_bytes(20'000, 9);
    const Trace trace = record([&] {
        const int fd = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
        REQUIRE(write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    });
    EXPECT_FALSE(of(bytes).empty());
    EXPECT_EQ(trace.only("write").anchors(), of(bytes));
    EXPECT_FALSE(trace.only("write").content()->has_sum);
    EXPECT_FALSE(trace.only("write").anchors().front().prefix_sum);
}

TEST_F(Anchors, of_iovecs_messages_and_sendfile_are_those_of_all_their_bytes) {
    std::string bytes = random_bytes(100'000, 10);
    const Trace trace = record([&] {
        const int fd = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
        std::vector<iovec> parts;
        for (std::size_t from = 0, size = 0; from < bytes.size(); from += size) {
            size = std::min(bytes.size() - from, parts.size() % 301);
            parts.push_back({bytes.data() + from, size});
        }
        REQUIRE(parts.size() <= 1024);
        REQUIRE(writev(fd, parts.data(), static_cast<int>(parts.size())) ==
                static_cast<ssize_t>(bytes.size()));
        const int to = open(at("to").c_str(), O_CREAT | O_RDWR, 0600);
        off_t from = 5;
        REQUIRE(sendfile(to, fd, &from, 90'001) == 90'001);
    });
    EXPECT_EQ(trace.only("writev").anchors(), of(bytes));
    expect_sums(trace.only("writev"), bytes);
    expect_sums(trace.only("sendfile"), std::string_view(bytes).substr(5, 90'001));
    EXPECT_EQ(trace.only("sendfile").anchors(), of(std::string_view(bytes).substr(5, 90'001)));
}

// Each side cuts into pieces of other sizes, most of them shorter than what a window needs.
TEST_F(Anchors, of_a_stream_and_of_a_file_do_not_depend_on_how_they_were_cut) {
    const std::string bytes = random_bytes(60'000, 11);
    const Trace trace = record([&] {
        std::mt19937 random(12);
        const auto cut = [&](std::size_t left) {
            const std::size_t most = random() % 8 == 0 ? 5000 : 40;
            return std::min<std::size_t>(left, 1 + random() % most);
        };
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
        const int fd = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
        std::string back(bytes.size(), 0);
        std::size_t sent = 0, got = 0;
        while (got < bytes.size()) {
            if (sent < bytes.size()) {
                const std::size_t size = cut(bytes.size() - sent);
                REQUIRE(send(ends[0], bytes.data() + sent, size, 0) == static_cast<ssize_t>(size));
                sent += size;
            }
            const ssize_t size = recv(ends[1], back.data() + got, cut(sent - got), 0);
            REQUIRE(size > 0);
            got += static_cast<std::size_t>(size);
        }
        // the file from both ends: even pieces first, odd ones afterwards
        for (const std::size_t first : {0u, 1u}) {
            for (std::size_t i = first; i * 100 < back.size(); i += 2) {
                REQUIRE(pwrite(fd, back.data() + i * 100, 100, static_cast<off_t>(i * 100)) == 100);
            }
        }
    });
    const auto expected = of(bytes);
    ASSERT_GT(expected.size(), 100u);
    for (const char* name : {"sendto", "recvfrom"}) {
        std::map<std::uint64_t, std::int64_t> begins;  // by the time at which it ended
        std::int64_t at = 0;
        for (const Event& event : trace.all(name)) {
            begins[event.raw().header.sequence] = at;
            expect_sums(
                event,
                std::string_view(bytes).substr(static_cast<std::size_t>(at),
                                               static_cast<std::size_t>(event.bytes().value())));
            at += event.bytes().value();
        }
        EXPECT_EQ(together(trace.all(name),
                           [&](const Event& event) { return begins[event.raw().header.sequence]; }),
                  expected)
            << name;
    }
    EXPECT_EQ(together(trace.all("pwrite64"),
                       [](const Event& event) { return event.file_offset().value(); }),
              expected);
    for (const Event& event : trace.all("pwrite64")) {
        expect_sums(event,
                    std::string_view(bytes).substr(
                        static_cast<std::size_t>(event.file_offset().value()), 100));
    }
}

TEST_F(Anchors, are_not_seen_over_bytes_that_could_not_be_read) {
    const std::string bytes = random_bytes(12'288, 13);
    const Trace trace = record([&] {
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
        auto* memory = static_cast<char*>(mmap(
            nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        REQUIRE(memory != MAP_FAILED);
        std::copy(bytes.begin(), bytes.end(), memory);
        REQUIRE(send(ends[0], memory, bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
        std::string short_one(5000, 0);  // 7,288 bytes are counted, and nobody got them
        REQUIRE(recv(ends[1], short_one.data(), short_one.size(), MSG_TRUNC) ==
                static_cast<ssize_t>(bytes.size()));
    });
    EXPECT_EQ(trace.only("sendto").anchors(), of(bytes));
    EXPECT_EQ(trace.only("recvfrom").anchors(), of(std::string_view(bytes).substr(0, 5000)));
    EXPECT_EQ(trace.only("recvfrom").content()->unread_bytes, 7288u);
}

TEST_F(Anchors, after_the_last_that_a_call_may_list_are_counted) {
    constexpr std::size_t kListed = 65'536;
    const std::string bytes = random_bytes(20u << 20, 14);
    const Trace trace = record([&] {
        const int fd = memfd_create("large", 0);
        REQUIRE(write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    });
    const std::size_t expected = of(bytes).size();
    ASSERT_GT(expected, kListed);
    EXPECT_EQ(trace.only("write").anchors().size(), kListed);
    EXPECT_EQ(trace.only("write").content()->anchors_dropped, expected - kListed);
}

class Sketches : public KernelTest {
  protected:
    Sketches() { options_.content = schema::ContentLevel::kAnchors; }
    std::optional<content::WindowSketch> of(std::string_view bytes) const {
        const content::AnchorRule rule(options_.anchor_distance, options_.content_key);
        return rule.sketch(std::as_bytes(std::span(bytes)));
    }
    // Each is written in a place of its own.
    Trace recorded_writes(const std::vector<std::string>& contents) {
        return record([&] {
            const int fd = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
            off_t place = 0;
            for (const std::string& bytes : contents) {
                REQUIRE(pwrite(fd, bytes.data(), bytes.size(), place) ==
                        static_cast<ssize_t>(bytes.size()));
                place += 1 << 20;
            }
        });
    }
    void expect_those_of(const std::vector<std::string>& contents) {
        const Trace trace = recorded_writes(contents);
        const auto writes = trace.all("pwrite64");
        ASSERT_EQ(writes.size(), contents.size());
        for (std::size_t i = 0; i < contents.size(); ++i) {
            EXPECT_EQ(writes[i].sketch(), of(contents[i])) << i << ": " << contents[i].size();
        }
    }
};

// The sizes around which another distance is used, and around a step and a stretch of the kernel's look.
TEST_F(Sketches, of_a_call_of_any_size_are_those_of_its_bytes) {
    std::vector<std::string> contents;
    for (const std::size_t border : {512u, 576u, 768u, 4096u, 8192u, 16'384u, 32'768u}) {
        for (const std::size_t size : {border - 1, border, border + 1, border + 32}) {
            contents.push_back(random_bytes(size, static_cast<std::uint32_t>(size)));
        }
    }
    for (const std::size_t size : {0u, 1u, 31u, 100u, 65'280u}) {
        contents.push_back(random_bytes(size, 1));
    }
    ASSERT_EQ(of(contents[0]), std::nullopt);          // 511 bytes
    ASSERT_EQ(of(contents[1])->distance, 64u);         // 512
    ASSERT_EQ(of(contents[24])->distance, 512u);       // 32,767
    ASSERT_EQ(of(contents[26]), std::nullopt);         // 32,769
    ASSERT_GT(of(contents[13])->windows.size(), 40u);  // 4,096
    expect_those_of(contents);
}

TEST_F(Sketches, of_zeros_and_of_bytes_that_repeat_too_much_are_none) {
    // windows one after another, as many as there is room for, and those that lie over the borders
    // between them
    std::string dense;
    const std::string random = random_bytes(1 << 20, 31);
    const auto windows = content::AnchorRule(64).find(std::as_bytes(std::span(random)));
    for (std::size_t i = 0; dense.size() < 4096; ++i) {
        dense += random.substr(windows[i].position, ANCHOR_WINDOW);
    }
    const std::string zeros(4096, 0), half = dense.substr(0, 2048);
    ASSERT_EQ(of(zeros), std::nullopt);
    ASSERT_EQ(of(dense), std::nullopt);
    ASSERT_GT(of(half)->windows.size(), 64u);
    expect_those_of({zeros, dense, half});
}

TEST_F(Sketches, of_iovecs_messages_and_sendfile_are_those_of_all_their_bytes) {
    std::string bytes = random_bytes(6000, 33);
    const Trace trace = record([&] {
        const int fd = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
        std::vector<iovec> parts;
        for (std::size_t from = 0, size = 0; from < bytes.size(); from += size) {
            size = std::min(bytes.size() - from, parts.size() % 31);
            parts.push_back({bytes.data() + from, size});
        }
        REQUIRE(writev(fd, parts.data(), static_cast<int>(parts.size())) == 6000);
        const int to = open(at("to").c_str(), O_CREAT | O_RDWR, 0600);
        off_t from = 5;
        REQUIRE(sendfile(to, fd, &from, 5001) == 5001);
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
        iovec halves[2] = {{bytes.data(), 1000}, {bytes.data() + 1000, 5000}};
        mmsghdr messages[2] = {};
        messages[0].msg_hdr.msg_iov = messages[1].msg_hdr.msg_iov = halves;
        messages[0].msg_hdr.msg_iovlen = 1;
        messages[1].msg_hdr.msg_iovlen = 2;
        REQUIRE(sendmmsg(ends[0], messages, 2, 0) == 2);
    });
    const std::string_view all = bytes;
    EXPECT_EQ(trace.only("writev").sketch(), of(all));
    EXPECT_EQ(trace.only("sendfile").sketch(), of(all.substr(5, 5001)));
    const Event sent = trace.only("sendmmsg");
    ASSERT_EQ(sent.parts().size(), 2u);
    EXPECT_EQ(sent.sketch(), std::nullopt);
    EXPECT_EQ(sent.sketch_of(sent.parts()[0].raw().header.sequence), of(all.substr(0, 1000)));
    EXPECT_EQ(sent.sketch_of(sent.parts()[1].raw().header.sequence), of(all));
}

TEST_F(Sketches, of_bytes_some_of_which_could_not_be_read_are_none) {
    const std::string bytes = random_bytes(4096, 34);
    const Trace trace = record([&] {
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
        REQUIRE(send(ends[0], bytes.data(), bytes.size(), 0) == 4096);
        std::string half(2048, 0);
        REQUIRE(recv(ends[1], half.data(), half.size(), MSG_TRUNC) == 4096);
    });
    EXPECT_EQ(trace.only("sendto").sketch(), of(bytes));
    EXPECT_EQ(trace.only("recvfrom").sketch(), std::nullopt);
}

class KeyedSketches : public Sketches {
  protected:
    KeyedSketches() { options_.content_key = content::ContentKey{{7, 8}}; }
};

TEST_F(KeyedSketches, are_those_of_the_key) {
    const std::string bytes = random_bytes(4096, 35);
    expect_those_of({bytes});
    EXPECT_NE(of(bytes), content::AnchorRule().sketch(std::as_bytes(std::span(bytes))));
}

class FineAnchors : public Sketches {
  protected:
    FineAnchors() { options_.anchor_distance = 128; }
};

TEST_F(FineAnchors, as_dense_as_a_sketch_take_its_place) {
    const std::string small = random_bytes(4096, 36), large = random_bytes(8192, 37);
    EXPECT_EQ(of(small)->distance, 64u);
    EXPECT_EQ(of(large), std::nullopt);
    expect_those_of({small, large});
}

}  // namespace
}  // namespace dyetrace::test
