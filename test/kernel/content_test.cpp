// The fingerprint of every event is that of what its program moved, whatever the call, the size and the pieces.
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

constexpr content::ContentKey kKey{{0x0123456789abcdef, 0xfedcba9876543210}};

class ContentHash : public KernelTest {
  protected:
    ContentHash() { options_.content = schema::ContentLevel::kHash; }

    // Bytes that repeat nowhere.
    static std::string bytes_of(std::size_t size) {
        std::string bytes(size, 0);
        std::uint64_t state = size + 1;
        for (char& byte : bytes) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            byte = static_cast<char>(state >> 56);
        }
        return bytes;
    }
    std::uint64_t fingerprint(std::string_view bytes) const {
        return content::fingerprint(std::as_bytes(std::span(bytes)), options_.content_key);
    }
};

class KeyedContentHash : public ContentHash {
  protected:
    KeyedContentHash() { options_.content_key = kKey; }
};

std::vector<std::size_t> sizes() {
    std::vector<std::size_t> sizes;
    for (std::size_t size = 0; size <= 600; ++size) {
        sizes.push_back(size);
    }
    for (const std::size_t border : {4096u, 65'280u, 65'536u, 130'560u, 1u << 20, 8u << 20}) {
        sizes.insert(sizes.end(), {border - 33, border - 1, border, border + 1, border + 255});
    }
    return sizes;
}

TEST_F(ContentHash, of_writes_and_reads_of_any_size_is_that_of_the_bytes) {
    const std::string file = at("file");
    const Trace trace = record([&] {
        const int fd = open(file.c_str(), O_CREAT | O_RDWR, 0600);
        for (const std::size_t size : sizes()) {
            const std::string bytes = bytes_of(size);
            std::string back(size + 7, 0);
            REQUIRE(pwrite(fd, bytes.data(), size, 0) == static_cast<ssize_t>(size));
            REQUIRE(ftruncate(fd, static_cast<off_t>(size)) == 0);
            REQUIRE(pread(fd, back.data(), back.size(), 0) == static_cast<ssize_t>(size));
        }
    });
    const auto writes = trace.all("pwrite64"), reads = trace.all("pread64");
    ASSERT_EQ(writes.size(), sizes().size());
    ASSERT_EQ(reads.size(), sizes().size());
    for (std::size_t i = 0; i < sizes().size(); ++i) {
        for (const Event& event : {writes[i], reads[i]}) {
            ASSERT_TRUE(event.content()) << event.name() << sizes()[i];
            EXPECT_EQ(event.content()->unread_bytes, 0u);
            EXPECT_EQ(event.content()->fingerprint, fingerprint(bytes_of(sizes()[i])))
                << event.name() << " " << sizes()[i];
        }
    }
}

TEST_F(KeyedContentHash, is_that_of_the_key) {
    const Trace trace = record([&] {
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        REQUIRE(write(ends[1], "hello", 5) == 5);
    });
    EXPECT_EQ(trace.only("write").content()->fingerprint, fingerprint("hello"));
}

TEST_F(ContentHash, of_iovecs_and_messages_is_that_of_their_bytes_one_after_another) {
    const std::string bytes = bytes_of(300'000);
    const auto pieces = [](std::string& text) {
        std::vector<iovec> parts;
        std::size_t at = 0, size = 0;
        for (; at < text.size(); at += size) {
            size = std::min(text.size() - at, parts.size() * 7 % 1031);
            parts.push_back({text.data() + at, size});
        }
        return parts;
    };
    const Trace trace = record([&] {
        std::string out = bytes, in(bytes.size(), 0);
        auto parts = pieces(out);
        REQUIRE(parts.size() < 1024);
        const int fd = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
        REQUIRE(pwritev(fd, parts.data(), static_cast<int>(parts.size()), 0) ==
                static_cast<ssize_t>(out.size()));
        parts = pieces(in);
        REQUIRE(preadv(fd, parts.data(), static_cast<int>(parts.size()), 0) ==
                static_cast<ssize_t>(in.size()));
        REQUIRE(in == out);
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
        iovec short_parts[] = {{out.data(), 3}, {out.data() + 3, 0}, {out.data() + 3, 4094}};
        msghdr message{};
        message.msg_iov = short_parts;
        message.msg_iovlen = 3;
        REQUIRE(sendmsg(ends[0], &message, 0) == 4097);
        REQUIRE(recv(ends[1], in.data(), 100, MSG_TRUNC) == 4097);
    });
    EXPECT_EQ(trace.only("pwritev").content()->fingerprint, fingerprint(bytes));
    EXPECT_EQ(trace.only("preadv").content()->fingerprint, fingerprint(bytes));
    EXPECT_EQ(trace.only("sendmsg").content()->fingerprint, fingerprint(bytes.substr(0, 4097)));
    EXPECT_EQ(trace.only("sendmsg").content()->unread_bytes, 0u);
    EXPECT_EQ(trace.only("recvfrom").content()->unread_bytes, 4097u - 100u);
}

TEST_F(ContentHash, of_pages_that_nobody_touched_before_and_of_nothing) {
    constexpr std::size_t kBytes = 1u << 20, kPage = 4096;
    const Trace trace = record([&] {
        const int fd = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
        auto* memory = static_cast<char*>(mmap(
            nullptr, kBytes + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        REQUIRE(memory != MAP_FAILED);
        REQUIRE(mprotect(memory + kBytes, kPage, PROT_NONE) == 0);
        // the kernel reads all of it, and so it is there at the end
        REQUIRE(write(fd, memory, kBytes) == kBytes);
        REQUIRE(write(fd, memory, 0) == 0);
        REQUIRE(write(fd, memory + kBytes, 8) == -1);  // nobody may read it
    });
    EXPECT_EQ(trace.nth("write", 0).content()->unread_bytes, 0u);
    EXPECT_EQ(trace.nth("write", 0).content()->fingerprint, fingerprint(std::string(kBytes, 0)));
    EXPECT_EQ(trace.nth("write", 1).content()->fingerprint, fingerprint(""));
    EXPECT_FALSE(trace.nth("write", 2).content());
}

TEST_F(ContentHash, of_each_message_of_a_call_is_its_own) {
    const std::string bytes = bytes_of(70'000);
    const Trace trace = record([&] {
        std::string out = bytes, in(2 * bytes.size(), 0);
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
        iovec first[] = {{out.data(), 1}, {out.data() + 1, 65'999}},
              second{out.data() + 66'000, 4000};
        mmsghdr messages[2]{};
        messages[0].msg_hdr.msg_iov = first;
        messages[0].msg_hdr.msg_iovlen = 2;
        messages[1].msg_hdr.msg_iov = &second;
        messages[1].msg_hdr.msg_iovlen = 1;
        REQUIRE(sendmmsg(ends[0], messages, 2, 0) == 2);
        iovec half{in.data(), bytes.size()}, other{in.data() + bytes.size(), bytes.size()};
        messages[0].msg_hdr.msg_iov = &half;
        messages[0].msg_hdr.msg_iovlen = 1;
        messages[1].msg_hdr.msg_iov = &other;
        REQUIRE(recvmmsg(ends[1], messages, 2, 0, nullptr) == 2);
    });
    for (const char* name : {"sendmmsg", "recvmmsg"}) {
        EXPECT_FALSE(trace.only(name).content()) << name;
        ASSERT_EQ(trace.only(name).parts().size(), 2u) << name;
        const auto whole = trace.only(name).parts()[0].content(),
                   rest = trace.only(name).parts()[1].content();
        ASSERT_TRUE(whole && rest) << name;
        EXPECT_EQ(whole->fingerprint, fingerprint(bytes.substr(0, 66'000))) << name;
        EXPECT_EQ(rest->fingerprint, fingerprint(bytes.substr(66'000))) << name;
        EXPECT_EQ(whole->unread_bytes + rest->unread_bytes, 0u) << name;
    }
}

TEST_F(ContentHash, of_each_control_block_is_known_when_it_is_over) {
    const std::string bytes = bytes_of(100'000);
    const Trace trace = record([&] {
        std::string out = bytes, in(bytes.size(), 0);
        aio_context_t context = 0;
        REQUIRE(syscall(SYS_io_setup, 8, &context) == 0);
        const int fd = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
        const auto run = [&](std::uint16_t operation, void* buffer, std::uint64_t size) {
            iocb block{};
            block.aio_lio_opcode = operation;
            block.aio_fildes = static_cast<std::uint32_t>(fd);
            block.aio_buf = reinterpret_cast<std::uint64_t>(buffer);
            block.aio_nbytes = size;
            iocb* list = &block;
            io_event done{};
            REQUIRE(syscall(SYS_io_submit, context, 1, &list) == 1);
            REQUIRE(syscall(SYS_io_getevents, context, 1, 1, &done, nullptr) == 1);
            REQUIRE(done.res == static_cast<std::int64_t>(bytes.size()));
        };
        iovec parts[] = {{out.data(), 99'000}, {out.data() + 99'000, 1000}};
        run(IOCB_CMD_PWRITEV, parts, 2);
        run(IOCB_CMD_PREAD, in.data(), in.size());
        REQUIRE(in == out);
    });
    for (const std::size_t call : {0u, 1u}) {
        EXPECT_FALSE(trace.nth("io_submit", call).parts().at(0).content());
        const auto content = trace.nth("io_getevents", call).parts().at(0).content();
        ASSERT_TRUE(content);
        EXPECT_EQ(content->fingerprint, fingerprint(bytes));
        EXPECT_EQ(content->unread_bytes, 0u);
    }
}

// Sparse, so that its tree of pages has levels with nothing in them.
TEST_F(ContentHash, of_what_moves_without_a_buffer_is_that_of_the_pages_of_the_file) {
    constexpr off_t kFar = (off_t{1} << 36) + 777;
    const std::string bytes = bytes_of(3'000'000);
    const auto piece = [&](std::size_t from, std::size_t size) {
        return fingerprint(std::string_view(bytes).substr(from, size));
    };
    const Trace trace = record([&] {
        const int from = open(at("from").c_str(), O_CREAT | O_RDWR, 0600);
        const int to = open(at("to").c_str(), O_CREAT | O_RDWR, 0600);
        REQUIRE(pwrite(from, bytes.data(), bytes.size(), kFar) ==
                static_cast<ssize_t>(bytes.size()));
        off_t at = kFar;
        REQUIRE(sendfile(to, from, &at, 2'000'000) == 2'000'000);
        REQUIRE(sendfile(to, from, &at, 1) == 1);
        off_t in = kFar + 5, out = 0;
        REQUIRE(copy_file_range(from, &in, to, &out, 1'000'000, 0) == 1'000'000);
        int pipes[2];
        REQUIRE(pipe(pipes) == 0);
        in = kFar + 4090;
        REQUIRE(splice(from, &in, pipes[1], nullptr, 10'000, 0) == 10'000);
        REQUIRE(splice(pipes[0], nullptr, to, &out, 10'000, 0) == 10'000);
        iovec parts[] = {{const_cast<char*>(bytes.data()), 100},
                         {const_cast<char*>(bytes.data()) + 100, 11}};
        REQUIRE(vmsplice(pipes[1], parts, 2, 0) == 111);
        int others[2];
        REQUIRE(pipe(others) == 0);
        REQUIRE(tee(pipes[0], others[1], 50, 0) == 50);
        REQUIRE(splice(pipes[0], nullptr, others[1], nullptr, 111, 0) == 111);
        REQUIRE(sendfile(to, from, &at, 0) == 0);
    });
    const auto whole = [&](const Event& event, std::uint64_t expected) {
        ASSERT_TRUE(event.content()) << event.name();
        EXPECT_EQ(event.content()->unread_bytes, 0u) << event.name();
        EXPECT_EQ(event.content()->fingerprint, expected) << event.name();
    };
    whole(trace.nth("sendfile", 0), piece(0, 2'000'000));
    whole(trace.nth("sendfile", 1), piece(2'000'000, 1));
    whole(trace.nth("sendfile", 2), fingerprint(""));
    whole(trace.only("copy_file_range"), piece(5, 1'000'000));
    whole(trace.nth("splice", 0), piece(4090, 10'000));
    whole(trace.nth("splice", 1), piece(4090, 10'000));
    whole(trace.only("vmsplice"), piece(0, 111));
    EXPECT_EQ(trace.only("tee").content()->unread_bytes, 50u);
    EXPECT_EQ(trace.nth("splice", 2).content()->unread_bytes, 111u);
}

TEST_F(ContentHash, of_pages_that_the_call_itself_brought_into_memory_is_that_of_their_bytes) {
    const std::string file = at("from");
    const std::string bytes = bytes_of(1 << 20);
    const Trace trace = record([&] {
        const int from = open(file.c_str(), O_CREAT | O_RDWR, 0600);
        REQUIRE(write(from, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
        REQUIRE(fsync(from) == 0);
        REQUIRE(posix_fadvise(from, 0, 0, POSIX_FADV_DONTNEED) == 0);
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
        off_t at = 4096;
        REQUIRE(sendfile(ends[0], from, &at, 8192) == 8192);  // reads them into memory
    });
    EXPECT_EQ(trace.only("sendfile").content()->unread_bytes, 0u);
    EXPECT_EQ(trace.only("sendfile").content()->fingerprint, fingerprint(bytes.substr(4096, 8192)));
}

}  // namespace
}  // namespace dyetrace::test
