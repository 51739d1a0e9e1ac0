// Dyes and anchors over the borders of calls that move no buffer of the program (sendfile, splice, copy_file_range), of messages, and
// of control blocks.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/random_bytes.h"
#include "content/anchors.h"
#include "kernel/ends.h"
#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

constexpr std::string_view kCard = "card=4929123456781234";
constexpr std::string_view kRest = " and what comes after it.";

void put(int fd, std::string_view text, off_t at) {
    REQUIRE(pwrite(fd, text.data(), text.size(), at) == static_cast<ssize_t>(text.size()));
}

void append(int fd, std::string_view text) {
    REQUIRE(write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

void copy(int from, off_t at, int to, off_t to_at, std::size_t bytes) {
    REQUIRE(copy_file_range(from, &at, to, &to_at, bytes, 0) == static_cast<ssize_t>(bytes));
}

void send_file(int to, int from, off_t at, std::size_t bytes) {
    REQUIRE(sendfile(to, from, &at, bytes) == static_cast<ssize_t>(bytes));
}

struct Block {
    std::uint16_t operation;
    int fd;
    std::span<char> buffer;
    off_t at;
};

class AsynchronousIo {
  public:
    AsynchronousIo() { REQUIRE(syscall(SYS_io_setup, kBlocksMax, &context_) == 0); }
    // They are asked for by one call, and again by one when they are over.
    void transfer(const std::vector<Block>& blocks) const {
        std::vector<iocb> controls(blocks.size());
        std::vector<iocb*> pointers;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            controls[i].aio_lio_opcode = blocks[i].operation;
            controls[i].aio_fildes = static_cast<std::uint32_t>(blocks[i].fd);
            controls[i].aio_buf = reinterpret_cast<std::uint64_t>(blocks[i].buffer.data());
            controls[i].aio_nbytes = blocks[i].buffer.size();
            controls[i].aio_offset = blocks[i].at;
            pointers.push_back(&controls[i]);
        }
        const auto count = static_cast<long>(blocks.size());
        REQUIRE(syscall(SYS_io_submit, context_, count, pointers.data()) == count);
        std::vector<io_event> done(blocks.size());
        REQUIRE(syscall(SYS_io_getevents, context_, count, count, done.data(), nullptr) == count);
    }

  private:
    static constexpr int kBlocksMax = 8;
    aio_context_t context_ = 0;
};

// Calls look(name, event or part, its CPU) for each.
template <typename Look>
void each_moved(const Trace& trace, Look&& look) {
    for (const Event& event : trace.events()) {
        look(event.name(), event, event.cpu());
        for (const Part& part : event.parts()) {
            look(part.operation(), part, event.cpu());
        }
    }
}

template <typename Record, typename Look>
void each_record(const Trace& trace, std::uint32_t cpu, std::uint64_t sequence, Look&& look) {
    for (const auto* records : {&trace.records().events, &trace.records().facts}) {
        for (const auto& words : *records) {
            const auto* record = schema::as<Record>(std::as_bytes(std::span(words)));
            if (record != nullptr && record->cpu == cpu && record->parent_sequence == sequence) {
                look(*record);
            }
        }
    }
}

class DyeBorders : public KernelTest {
  protected:
    DyeBorders() {
        options_.look_for_dyes = true;
        options_.dyes = {{1, schema::DyeForm::kPlain, std::string(kCard), false}};
    }
    // What lies over borders: "sendfile -3, sendfile -3 second", of the calls in the order in which they began.
    static std::string crossings(const Trace& trace) {
        std::string found;
        each_moved(trace, [&](const std::string& name, const auto& moved, std::uint32_t cpu) {
            each_record<schema::DyeHit>(
                trace, cpu, moved.raw().header.sequence, [&](const schema::DyeHit& hit) {
                    if (hit.position < 0) {
                        found += (found.empty() ? "" : ", ") + name + " " +
                                 std::to_string(hit.position) + (hit.second ? " second" : "");
                    }
                });
        });
        return found;
    }
    // The program is given both halves of the dye, split at each of its positions, and a number.
    void expect_for_each_split(
        const std::function<void(const std::string& head, const std::string& tail, int number)>&
            program,
        const std::vector<std::string>& names) {
        const Trace trace = record([&] {
            for (std::size_t split = 1; split < kCard.size(); ++split) {
                program("in front of it " + std::string(kCard.substr(0, split)),
                        std::string(kCard.substr(split)) + std::string(kRest),
                        static_cast<int>(split));
            }
        });
        std::string expected;
        for (std::size_t split = 1; split < kCard.size(); ++split) {
            for (const std::string& name : names) {
                const std::size_t word = name.find(' ');
                expected += (expected.empty() ? "" : ", ") + name.substr(0, word) + " -" +
                            std::to_string(split) +
                            (word == std::string::npos ? "" : name.substr(word));
            }
        }
        EXPECT_EQ(crossings(trace), expected);
    }
    int file(const std::string& name, int number) const {
        const int fd =
            open(at(name + std::to_string(number)).c_str(), O_CREAT | O_TRUNC | O_RDWR, 0600);
        REQUIRE(fd >= 0);
        return fd;
    }
};

TEST_F(DyeBorders, of_sendfile_are_joined_with_the_writes_beside_it) {
    expect_for_each_split(
        [&](const std::string& head, const std::string& tail, int number) {
            const int from = file("from", number), to = file("to", number);
            put(from, tail, 100);
            put(from, head, 300);
            for (const int target : {tcp_ends().from, unix_ends().from, pipe_ends().from, to}) {
                append(target, head);
                send_file(target, from, 100, tail.size());
                send_file(target, from, 300, head.size());
                append(target, tail);
            }
        },
        {"sendfile", "write", "sendfile", "write", "sendfile", "write", "sendfile", "write"});
}

TEST_F(DyeBorders, of_two_copies_are_those_of_both_files_and_told_once) {
    expect_for_each_split(
        [&](const std::string& head, const std::string& tail, int number) {
            const int from = file("from", number), to = file("to", number),
                      second = file("second", number);
            put(from, head + tail, 0);
            const auto begin = static_cast<off_t>(head.size());
            const int stream = tcp_ends().from;
            send_file(stream, from, 0, head.size());
            send_file(stream, from, begin, tail.size());
            // by the positions of the files
            REQUIRE(copy_file_range(from, nullptr, to, nullptr, head.size(), 0) == begin);
            REQUIRE(copy_file_range(from, nullptr, to, nullptr, tail.size(), 0) > 0);
            // the second half first: the dye ends in it
            copy(from, begin, second, begin, tail.size());
            copy(from, 0, second, 0, head.size());
        },
        {"sendfile", "copy_file_range", "copy_file_range"});
}

TEST_F(DyeBorders, of_a_copy_are_those_of_the_one_file_that_has_them) {
    expect_for_each_split(
        [&](const std::string& head, const std::string& tail, int number) {
            const int source = file("source", number), tails = file("tails", number),
                      to = file("to", number);
            put(source, head + tail, 0);
            put(tails, tail, 0);
            const auto begin = static_cast<off_t>(head.size());
            char back[100];
            REQUIRE(pread(source, back, head.size(), 0) == begin);
            copy(source, begin, to, 5000, tail.size());
            send_file(unix_ends().from, source, begin, tail.size());
            put(to, head, 1000);
            copy(tails, 0, to, 1000 + begin, tail.size());
            // through a pipe, which is in order: the pipe has it, and then the file that it is spliced to
            const Ends pipe = pipe_ends();
            append(pipe.from, head);
            off_t from = 0, target = 2000 + begin;
            REQUIRE(splice(tails, &from, pipe.from, nullptr, tail.size(), 0) > 0);
            put(to, head, 2000);
            REQUIRE(read(pipe.to, back, head.size()) == begin);
            REQUIRE(splice(pipe.to, nullptr, to, &target, tail.size(), 0) > 0);
        },
        {"copy_file_range",
         "sendfile second",
         "copy_file_range second",
         "splice second",
         "splice"});
}

TEST_F(DyeBorders, of_messages_are_those_of_the_stream) {
    expect_for_each_split(
        [&](std::string head, std::string tail, int) {
            std::string front = "0123", back(4, 0), first(head.size(), 0), second(tail.size(), 0);
            for (const Ends& ends : {tcp_ends(), unix_ends()}) {
                messages(SYS_sendmmsg, ends.from, {front, head, tail});
                messages(SYS_recvmmsg, ends.to, {back, first, second});
                messages(SYS_sendmmsg, ends.from, {front, head});
                messages(SYS_sendmmsg, ends.from, {tail, front});
                append(ends.from, head);
                messages(SYS_sendmmsg, ends.from, {tail});
            }
        },
        {"sendmsg", "recvmsg", "sendmsg", "sendmsg", "sendmsg", "recvmsg", "sendmsg", "sendmsg"});
}

TEST_F(DyeBorders, of_control_blocks_are_those_of_the_file) {
    expect_for_each_split(
        [&](std::string head, std::string tail, int number) {
            static const AsynchronousIo kIo;
            const int fd = file("file", number);
            const auto begin = static_cast<off_t>(head.size());
            kIo.transfer({{IOCB_CMD_PWRITE, fd, head, 0}, {IOCB_CMD_PWRITE, fd, tail, begin}});
            kIo.transfer({{IOCB_CMD_PREAD, fd, tail, begin}, {IOCB_CMD_PREAD, fd, head, 0}});
            put(fd, head, 1000);
            kIo.transfer({{IOCB_CMD_PWRITE, fd, tail, 1000 + begin}});
        },
        {"pwrite64", "pread64", "pwrite64"});
}

TEST_F(DyeBorders, are_not_those_of_two_streams_or_files_or_of_datagrams) {
    const Trace trace = record([&] {
        std::string head(kCard.substr(0, 8)), tail(kCard.substr(8));
        const int halves = file("halves", 0), one = file("one", 0), two = file("two", 0);
        put(halves, tail, 0);
        put(halves, head, 100);
        const auto move_head = [&](int to) { send_file(to, halves, 100, head.size()); };
        const auto move_tail = [&](int to) { send_file(to, halves, 0, tail.size()); };
        for (const auto& [first, second] : {std::pair(tcp_ends(), tcp_ends()),
                                            std::pair(unix_ends(), unix_ends()),
                                            std::pair(pipe_ends(), pipe_ends())}) {
            move_head(first.from);
            move_tail(second.from);  // after the head of the other one
            move_head(second.from);
            append(first.from, "-");
            move_tail(first.from);
        }
        copy(halves, 100, one, 0, head.size());
        copy(halves, 0, two, 8, tail.size());
        copy(halves, 0, one, 9, tail.size());
        const Ends stream = unix_ends(), other = unix_ends(), letters = unix_ends(SOCK_DGRAM);
        messages(SYS_sendmmsg, stream.from, {head});
        messages(SYS_sendmmsg, other.from, {tail, head});
        messages(SYS_sendmmsg, letters.from, {head, tail});
        // each message begins where the first does: they do not follow each other
        std::string ends = tail + head, back(ends.size(), 0), again(ends.size(), 0);
        const Ends tcp = tcp_ends();
        append(tcp.from, ends);
        messages(SYS_recvmmsg, tcp.to, {back, again}, MSG_PEEK);
        const int aio = file("aio", 0);
        AsynchronousIo().transfer({{IOCB_CMD_PWRITE, aio, head, 0},
                                   {IOCB_CMD_PWRITE, one, tail, 508},
                                   {IOCB_CMD_PWRITE, aio, tail, 9}});
    });
    EXPECT_EQ(crossings(trace), "");
}

class AnchorBorders : public KernelTest {
  protected:
    static constexpr std::uint32_t kDistance = 64;
    static constexpr std::size_t kPlace = 8192;  // between pieces that are not neighbours

    AnchorBorders() {
        options_.content = schema::ContentLevel::kAnchors;
        options_.anchor_distance = kDistance;
    }
    // Most of them shorter than what a window needs.
    static std::vector<std::string> pieces_of(const std::string& bytes) {
        constexpr std::size_t kSizes[] = {7, 30, 1, 90, 31, 500, 64, 12, 200};
        std::vector<std::string> pieces;
        for (std::size_t at = 0; at < bytes.size(); at += pieces.back().size()) {
            pieces.push_back(bytes.substr(at, kSizes[pieces.size() % std::size(kSizes)]));
        }
        return pieces;
    }
    // Windows over borders, of what these bytes are when they are moved in these pieces.
    static std::vector<std::uint64_t> expected(const std::string& bytes,
                                               const std::vector<std::string>& pieces) {
        std::vector<std::size_t> borders;
        borders.reserve(pieces.size());
        std::size_t end = 0;
        for (const std::string& piece : pieces) {
            borders.push_back(end += piece.size());
        }
        std::vector<std::uint64_t> fingerprints;
        for (const auto& one :
             content::AnchorRule(kDistance, {}).find(std::as_bytes(std::span(bytes)))) {
            if (*std::ranges::upper_bound(borders, one.position) < one.position + ANCHOR_WINDOW) {
                fingerprints.push_back(one.fingerprint);
            }
        }
        std::ranges::sort(fingerprints);
        return fingerprints;
    }
    static std::vector<std::uint64_t> crossings(const Trace& trace) {
        std::vector<std::uint64_t> fingerprints;
        each_moved(trace, [&](const std::string&, const auto& moved, std::uint32_t cpu) {
            each_record<schema::Anchor>(
                trace, cpu, moved.raw().header.sequence, [&](const schema::Anchor& anchor) {
                    if (anchor.position < 0) {
                        fingerprints.push_back(anchor.fingerprint);
                    }
                });
        });
        std::ranges::sort(fingerprints);
        return fingerprints;
    }
    // Pieces far from each other, so that only where they go to they are neighbours.
    int scattered(const std::vector<std::string>& pieces) const {
        const int fd = open(at("scattered").c_str(), O_CREAT | O_RDWR, 0600);
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            put(fd, pieces[i], static_cast<off_t>(i * kPlace));
        }
        return fd;
    }
};

TEST_F(AnchorBorders, of_a_file_are_those_of_all_ways_to_write_it) {
    const std::string bytes = base::random_bytes(20'000, 31);
    std::vector<std::string> pieces = pieces_of(bytes);
    const Trace trace = record([&] {
        const AsynchronousIo io;
        const int from = scattered(pieces), to = open(at("to").c_str(), O_CREAT | O_RDWR, 0600);
        off_t place = 0;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const auto source = static_cast<off_t>(i * kPlace);
            if (i % 4 == 0) {
                copy(from, source, to, place, pieces[i].size());
            } else if (i % 4 == 1) {
                REQUIRE(lseek(to, place, SEEK_SET) == place);
                send_file(to, from, source, pieces[i].size());
            } else if (i % 4 == 2) {
                io.transfer({{IOCB_CMD_PWRITE, to, pieces[i], place}});
            } else {
                put(to, pieces[i], place);
            }
            place += static_cast<off_t>(pieces[i].size());
        }
    });
    EXPECT_GT(expected(bytes, pieces).size(), 50u);
    EXPECT_EQ(crossings(trace), expected(bytes, pieces));
}

TEST_F(AnchorBorders, of_a_file_are_those_of_all_ways_to_read_it) {
    const std::string bytes = base::random_bytes(20'000, 32);
    std::vector<std::string> pieces = pieces_of(bytes);
    const Trace trace = record([&] {
        const AsynchronousIo io;
        const int from = open(at("from").c_str(), O_CREAT | O_RDWR, 0600),
                  to = open(at("to").c_str(), O_CREAT | O_RDWR, 0600);
        put(from, bytes, 0);
        off_t place = 0;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const auto target = static_cast<off_t>(i * kPlace);
            if (i % 4 == 0) {
                copy(from, place, to, target, pieces[i].size());
            } else if (i % 4 == 1) {
                send_file(unix_ends().from, from, place, pieces[i].size());
            } else if (i % 4 == 2) {
                io.transfer({{IOCB_CMD_PREAD, from, pieces[i], place}});
            } else {
                REQUIRE(pread(from, pieces[i].data(), pieces[i].size(), place) > 0);
            }
            place += static_cast<off_t>(pieces[i].size());
        }
    });
    EXPECT_EQ(crossings(trace), expected(bytes, pieces));
}

TEST_F(AnchorBorders, of_a_stream_are_those_of_all_ways_to_send_it) {
    const std::string bytes = base::random_bytes(20'000, 33);
    std::vector<std::string> pieces = pieces_of(bytes);
    const Trace trace = record([&] {
        const int from = scattered(pieces);
        const Ends ends = tcp_ends();
        for (std::size_t i = 0; i + 2 < pieces.size(); i += 3) {
            send_file(ends.from, from, static_cast<off_t>(i * kPlace), pieces[i].size());
            messages(SYS_sendmmsg, ends.from, {pieces[i + 1], pieces[i + 2]});
        }
        for (std::size_t i = pieces.size() / 3 * 3; i < pieces.size(); ++i) {
            append(ends.from, pieces[i]);
        }
    });
    EXPECT_EQ(crossings(trace), expected(bytes, pieces));
}

}  // namespace
}  // namespace dyetrace::test
