// Dyes are found wherever they lie in what a call moves, and nowhere else.
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <random>
#include <string>
#include <vector>

#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

using schema::DyeForm;

constexpr std::string_view kCard = "card=4929123456781234";
constexpr std::string_view kPin = "8241";

class Dyes : public KernelTest {
  protected:
    Dyes() {
        options_.look_for_dyes = true;
        options_.dyes = {{1, DyeForm::kPlain, std::string(kCard), false},
                         {2, DyeForm::kPlain, std::string(kPin), false}};
    }
    static std::string with(std::size_t size, std::string_view dye, std::size_t at) {
        std::string bytes(size, '.');
        return bytes.replace(at, dye.size(), dye);
    }
};

TEST_F(Dyes, are_found_at_any_position_of_a_write_of_any_size) {
    struct Case {
        std::size_t size, at;
    };
    std::vector<Case> cases;
    for (const std::size_t size : {21u, 22u, 100u, 255u, 256u, 257u, 600u, 1000u}) {
        for (std::size_t at = 0; at + kCard.size() <= size; at += 1 + size / 70) {
            cases.push_back({size, at});
        }
        cases.push_back({size, size - kCard.size()});
    }
    for (const std::size_t border : {65'280u, 65'536u, 130'560u, 130'816u}) {
        for (std::size_t at = border - 25; at <= border + 5; ++at) {
            cases.push_back({200'000, at});
            cases.push_back({at + kCard.size(), at});
        }
    }
    const Trace trace = record([&] {
        const int fd = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
        for (const Case& one : cases) {
            const std::string bytes = with(one.size, kCard, one.at);
            REQUIRE(pwrite(fd, bytes.data(), bytes.size(), 0) ==
                    static_cast<ssize_t>(bytes.size()));
        }
    });
    const auto writes = trace.all("pwrite64");
    ASSERT_EQ(writes.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::vector<DyeHit> expected = {
            {1, DyeForm::kPlain, static_cast<std::int64_t>(cases[i].at)}};
        EXPECT_EQ(writes[i].dye_hits(), expected) << cases[i].size << " " << cases[i].at;
        ASSERT_TRUE(writes[i].dyes());
        EXPECT_EQ(writes[i].dyes()->hits, 1u);
        EXPECT_FALSE(writes[i].content());  // the level of content is none
    }
}

TEST_F(Dyes, are_all_counted_where_more_than_a_call_lists) {
    constexpr std::size_t kCount = 5000;
    std::string bytes;
    for (std::size_t i = 0; i < kCount; ++i) {
        bytes += "x8241";
    }
    const Trace trace = record([&] {
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        REQUIRE(write(ends[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
        std::string back(bytes.size(), 0);
        REQUIRE(read(ends[0], back.data(), back.size()) > 0);
        REQUIRE(write(ends[1], "824", 3) == 3);
    });
    const Event write = trace.nth("write", 0);
    ASSERT_TRUE(write.dyes());
    EXPECT_EQ(write.dyes()->hits, kCount);
    ASSERT_EQ(write.dye_hits().size(), 64u);
    for (std::int64_t i = 0; i < 64; ++i) {
        EXPECT_EQ(write.dye_hits()[static_cast<std::size_t>(i)].position, 1 + 5 * i);
    }
    EXPECT_EQ(trace.only("read").dyes()->hits, kCount);
    EXPECT_FALSE(trace.nth("write", 1).dyes());
    EXPECT_TRUE(trace.nth("write", 1).dye_hits().empty());
}

TEST_F(Dyes, are_found_across_iovecs_split_at_each_of_their_positions) {
    const Trace trace = record([&] {
        const int fd = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
        for (std::size_t split = 1; split < kCard.size(); ++split) {
            std::string bytes = with(1000, kCard, 600);
            iovec parts[] = {{bytes.data(), 600 + split},
                             {bytes.data(), 0},
                             {bytes.data() + 600 + split, 400 - split}};
            REQUIRE(pwritev(fd, parts, 3, 0) == 1000);
        }
        std::string bytes = with(500, kCard, 300);
        std::vector<iovec> single;
        for (char& byte : bytes) {
            single.push_back({&byte, 1});
        }
        REQUIRE(pwritev(fd, single.data(), static_cast<int>(single.size()), 0) == 500);
    });
    const auto writes = trace.all("pwritev");
    ASSERT_EQ(writes.size(), kCard.size());
    for (std::size_t i = 0; i < writes.size(); ++i) {
        const std::int64_t at = i + 1 < writes.size() ? 600 : 300;
        EXPECT_EQ(writes[i].dye_hits(), (std::vector<DyeHit>{{1, DyeForm::kPlain, at}})) << i;
    }
}

std::vector<DyeHit> crossing(std::size_t split) {
    return {{1, DyeForm::kPlain, -static_cast<std::int64_t>(split)}};
}

TEST_F(Dyes, are_found_over_the_border_of_two_writes_and_two_reads_of_a_file) {
    const Trace trace = record([&] {
        for (std::size_t split = 1; split < kCard.size(); ++split) {
            const int fd = open(at("file").c_str(), O_CREAT | O_TRUNC | O_RDWR, 0600);
            const std::string bytes = with(6000, kCard, 3000);
            const std::size_t cut = 3000 + split;
            REQUIRE(write(fd, bytes.data(), cut) == static_cast<ssize_t>(cut));
            REQUIRE(write(fd, bytes.data() + cut, bytes.size() - cut) > 0);
            std::string back(bytes.size(), 0);
            // the second half first
            REQUIRE(pread(fd, back.data(), 100, static_cast<off_t>(cut)) == 100);
            REQUIRE(pread(fd, back.data(), cut, 0) == static_cast<ssize_t>(cut));
            close(fd);
        }
    });
    const auto writes = trace.all("write"), reads = trace.all("pread64");
    ASSERT_EQ(writes.size(), 2 * (kCard.size() - 1));
    ASSERT_EQ(reads.size(), writes.size());
    for (std::size_t split = 1; split < kCard.size(); ++split) {
        EXPECT_TRUE(writes[2 * split - 2].dye_hits().empty()) << split;
        EXPECT_EQ(writes[2 * split - 1].dye_hits(), crossing(split));
        EXPECT_EQ(reads[2 * split - 2].dye_hits(), crossing(split));
        EXPECT_TRUE(reads[2 * split - 1].dye_hits().empty()) << split;
    }
}

// Two connected descriptors that carry bytes from the first to the second.
void split_over(int from, int to) {
    for (std::size_t split = 1; split < kCard.size(); ++split) {
        char back[100];
        for (const std::string_view half : {kCard.substr(0, split), kCard.substr(split)}) {
            REQUIRE(write(from, half.data(), half.size()) == static_cast<ssize_t>(half.size()));
            REQUIRE(read(to, back, sizeof(back)) == static_cast<ssize_t>(half.size()));
        }
        REQUIRE(write(from, ".", 1) == 1);
        REQUIRE(read(to, back, sizeof(back)) == 1);
    }
}

void expect_split(const Trace& trace) {
    for (const char* name : {"write", "read"}) {
        const auto calls = trace.all(name);
        ASSERT_EQ(calls.size(), 3 * (kCard.size() - 1));
        for (std::size_t split = 1; split < kCard.size(); ++split) {
            EXPECT_TRUE(calls[3 * split - 3].dye_hits().empty()) << name << split;
            EXPECT_EQ(calls[3 * split - 2].dye_hits(), crossing(split)) << name;
        }
    }
}

TEST_F(Dyes, are_found_over_the_border_of_two_calls_on_a_pipe) {
    expect_split(record([] {
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        split_over(ends[1], ends[0]);
    }));
}

TEST_F(Dyes, are_found_over_the_border_of_two_calls_on_a_unix_socket) {
    expect_split(record([] {
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
        split_over(ends[0], ends[1]);
    }));
}

TEST_F(Dyes, are_found_over_the_border_of_two_segments_of_a_tcp_connection) {
    expect_split(record([] {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        const int listener = socket(AF_INET, SOCK_STREAM, 0),
                  client = socket(AF_INET, SOCK_STREAM, 0);
        REQUIRE(bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0);
        REQUIRE(listen(listener, 1) == 0);
        REQUIRE(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
        REQUIRE(connect(client, reinterpret_cast<sockaddr*>(&address), size) == 0);
        split_over(client, accept(listener, nullptr, nullptr));
    }));
}

TEST_F(Dyes, are_not_made_of_pieces_of_two_streams_or_of_two_messages) {
    const Trace trace = record([] {
        int one[2], two[2], messages[2];
        REQUIRE(pipe(one) == 0 && pipe(two) == 0);
        REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM, 0, messages) == 0);
        const std::string_view head = kCard.substr(0, 8), tail = kCard.substr(8);
        const auto put = [](int fd, std::string_view text) {
            REQUIRE(write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
        };
        put(one[1], head);
        put(two[1], tail);
        put(two[1], head);
        put(one[1], "-");
        put(one[1], tail);
        put(messages[0], head);
        put(messages[0], tail);
        char back[100];
        REQUIRE(read(one[0], back, 8) == 8);
        REQUIRE(read(two[0], back, sizeof(back)) == static_cast<ssize_t>(kCard.size()));
    });
    for (const Event& event : trace.events()) {
        EXPECT_TRUE(event.dye_hits().empty()) << event.name();
    }
}

TEST_F(Dyes, leave_none_of_the_bytes_in_what_is_handed_out) {
    const Trace trace = record([&] {
        const int fd = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
        const std::string bytes = with(1000, kCard, 990 - kCard.size());
        REQUIRE(write(fd, bytes.data(), bytes.size()) == 1000);
        REQUIRE(write(fd, kCard.data(), kCard.size()) > 0);
    });
    EXPECT_EQ(trace.nth("write", 1).dye_hits().size(), 1u);
    for (const auto& words : trace.records().events) {
        const std::string bytes(reinterpret_cast<const char*>(words.data()), 8 * words.size());
        EXPECT_EQ(bytes.find(kCard.substr(0, 5)), std::string::npos);
    }
}

TEST_F(Dyes, do_not_lie_over_bytes_that_could_not_be_read) {
    const Trace trace = record([&] {
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
        const std::string bytes = "..." + std::string(kCard) + "8241";
        REQUIRE(write(ends[0], bytes.data(), bytes.size()) > 0);
        char back[10];
        REQUIRE(recv(ends[1], back, 10, MSG_TRUNC) == static_cast<ssize_t>(bytes.size()));
        auto* memory = static_cast<char*>(
            mmap(nullptr, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        std::string around = with(3 * 4096, kCard, 4096 - 8);
        around.replace(8192, kPin.size(), kPin);
        std::copy(around.begin(), around.end(), memory);
        std::copy(kCard.begin() + 8, kCard.end(), memory + 8192 + 100);
        int pipes[2];
        REQUIRE(pipe(pipes) == 0);
        REQUIRE(write(pipes[1], memory, 3 * 4096) == 3 * 4096);
        REQUIRE(munmap(memory + 4096, 4096) == 0);
        iovec parts[] = {{memory, 8192 + 3}, {memory + 8192 + 3, 1}, {memory + 8192 + 100, 100}};
        REQUIRE(writev(open("/dev/null", O_WRONLY), parts, 3) > 0);
    });
    EXPECT_EQ(trace.only("recvfrom").dyes()->unread_bytes, 18u);
    EXPECT_TRUE(trace.only("recvfrom").dye_hits().empty());
    EXPECT_EQ(trace.nth("write", 1).dye_hits(),
              (std::vector<DyeHit>{{1, DyeForm::kPlain, 4088}, {2, DyeForm::kPlain, 8192}}));
    // /dev/null touches no page: nobody minds that the middle one is not there
    EXPECT_EQ(trace.only("writev").dyes()->unread_bytes, 4096u);
    EXPECT_EQ(trace.only("writev").dye_hits(), (std::vector<DyeHit>{{2, DyeForm::kPlain, 8192}}));
}

TEST_F(Dyes, are_found_in_messages_and_in_what_sendfile_sends) {
    const Trace trace = record([&] {
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
        std::string bytes = with(100, kCard, 50);
        iovec parts[] = {{bytes.data(), 20}, {bytes.data() + 20, 40}, {bytes.data() + 60, 40}};
        mmsghdr messages[2]{};
        messages[0].msg_hdr.msg_iov = parts;
        messages[0].msg_hdr.msg_iovlen = 1;
        messages[1].msg_hdr.msg_iov = parts;
        messages[1].msg_hdr.msg_iovlen = 3;
        REQUIRE(sendmmsg(ends[0], messages, 2, 0) == 2);
        const int file = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
        REQUIRE(pwrite(file, bytes.data(), bytes.size(), 0) == 100);
        const int copy = open(at("copy").c_str(), O_CREAT | O_RDWR, 0600);
        off_t from = 10;
        REQUIRE(sendfile(copy, file, &from, 80) == 80);
    });
    const Event sent = trace.only("sendmmsg");
    ASSERT_EQ(sent.parts().size(), 2u);
    EXPECT_FALSE(schema::dyes_found_in(sent.parts()[0].raw()));
    ASSERT_TRUE(schema::dyes_found_in(sent.parts()[1].raw()));
    EXPECT_EQ(schema::dyes_found_in(sent.parts()[1].raw())->hits, 1u);
    EXPECT_EQ(trace.only("sendfile").dye_hits(), (std::vector<DyeHit>{{1, DyeForm::kPlain, 40}}));
}

class AlikeDyes : public KernelTest {
  protected:
    // All of them begin and end alike, and so no window tells them apart.
    AlikeDyes() {
        options_.look_for_dyes = true;
        for (std::uint32_t dye = 1; dye <= 1000; ++dye) {
            options_.dyes.push_back({dye, DyeForm::kPlain, "aaaa", false});
        }
    }
};

TEST_F(AlikeDyes, that_are_too_many_to_be_compared_are_counted) {
    const Trace trace = record([&] {
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        REQUIRE(write(ends[1], "aaaaaaaa", 8) == 8);
    });
    ASSERT_TRUE(trace.only("write").dyes());
    EXPECT_EQ(trace.only("write").dyes()->hits, 5u * DYE_CHAIN_MAX);
    EXPECT_EQ(trace.only("write").dyes()->candidates_dropped, 5u * (1000 - DYE_CHAIN_MAX));
}

class ManyDyes : public KernelTest {
  protected:
    ManyDyes() {
        std::mt19937_64 random(1);
        options_.look_for_dyes = true;
        options_.content = schema::ContentLevel::kHash;
        for (std::uint32_t dye = 1; dye <= 10'000; ++dye) {
            std::string text(dye % 3 == 0 ? 4 + random() % 11 : 15 + random() % 30, 0);
            for (char& c : text) {
                c = static_cast<char>('a' + random() % 8);
            }
            options_.dyes.push_back({dye, DyeForm::kPlain, text, dye % 5 == 0});
        }
    }
};

TEST_F(ManyDyes, are_found_as_a_naive_search_finds_them) {
    std::mt19937_64 random(2);
    std::string bytes(150'000, 0);
    for (char& c : bytes) {
        c = static_cast<char>((random() % 50 == 0 ? 'A' : 'a') + random() % 8);
    }
    for (std::size_t at = 0; at + 60 < bytes.size(); at += 300 + random() % 300) {
        const std::string& text = options_.dyes[random() % options_.dyes.size()].text;
        bytes.replace(at, text.size(), text);
    }
    std::uint64_t expected = 0;
    std::string small = bytes;
    for (char& c : small) {
        c = static_cast<char>(c | 0x20);
    }
    for (const capture::DyePattern& dye : options_.dyes) {
        const std::string& in = dye.any_case ? small : bytes;
        for (auto at = in.find(dye.text); at != std::string::npos; at = in.find(dye.text, at + 1)) {
            ++expected;
        }
    }
    ASSERT_GT(expected, 10'000u);
    const Trace trace = record([&] {
        const int fd = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
        iovec parts[] = {{bytes.data(), 70'001}, {bytes.data() + 70'001, 79'999}};
        REQUIRE(writev(fd, parts, 2) == 150'000);
        std::string back(bytes.size(), 0);
        REQUIRE(pread(fd, back.data(), back.size(), 0) == 150'000);
    });
    for (const char* name : {"writev", "pread64"}) {
        ASSERT_TRUE(trace.only(name).dyes());
        EXPECT_EQ(trace.only(name).dyes()->hits, expected);
        EXPECT_EQ(trace.only(name).dyes()->candidates_dropped, 0u);
        ASSERT_TRUE(trace.only(name).content());
        EXPECT_EQ(trace.only(name).content()->fingerprint,
                  content::fingerprint(std::as_bytes(std::span(bytes))));
    }
}

}  // namespace
}  // namespace dyetrace::test
