// The fuzz target on mutations of real logs, so that every test run does a little of what a fuzzer does for hours.

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <random>
#include <string>

#include "base/random_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace dyetrace::importer {
namespace {

constexpr int kRounds = 150;  // a trace is made and removed in each

constexpr const char* kFalconLog =
    R"({"timestamp":1525880628342,"type":"CREATE","thread":"5005@a","child":"5669@a"}
{"timestamp":1525880628342,"type":"START","thread":"5669@a"}
{"timestamp":1525880628677,"size":50,"src":"10.0.0.2","src_port":54392,"socket":"s","thread":"5669@a","dst":"10.0.0.1","socket_type":"TCP","dst_port":53,"type":"SND"}
{"timestamp":1525880628677,"size":50,"src":"10.0.0.2","src_port":54392,"socket":"s","thread":"7@b","dst":"10.0.0.1","socket_type":"TCP","dst_port":53,"type":"RCV"}
{"timestamp":3,"thread":"T1@a","type":"LOCK","variable":"x","loc":"test.3"}
{"timestamp":4,"thread":"T1@a","type":"UNLOCK","variable":"x"}
{"timestamp":5,"type":22,"thread":"71@a","pid":71,"data":{"comm":"dd"},"filename":"/tmp/x","fd":3,"offset":0,"size":9,"returned_value":9}
)";

constexpr const char* kStraceLog =
    R"(7  12:56:18.800053 execve("/usr/bin/sh", ["sh", "-c", "x"], 0x7ffea4673f10 /* 39 vars */) = 0 <0.000400>
7  12:56:18.803836 pipe2([3<pipe:[136809]>, 4<pipe:[136809]>], 0) = 0
7  12:56:18.803899 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7fba06706a10) = 8
8  12:56:18.803950 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
8  12:56:18.803960 <... clone resumed>) = 8
8  12:56:18.804000 write(4<pipe:[136809]>, "hello\n", 6 <unfinished ...>
7  12:56:18.804100 read(3<pipe:[136809]>,  <unfinished ...>
8  12:56:18.804200 <... write resumed>) = 6
7  12:56:18.804300 <... read resumed>"hello\n", 100) = 6
7  12:56:18.804400 socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP) = 5<TCP:[190979]>
7  12:56:18.804500 connect(5<TCP:[190979]>, {sa_family=AF_INET, sin_port=htons(32827), sin_addr=inet_addr("127.0.0.1")}, 16) = 0
7  12:56:18.804600 sendto(5<TCP:[127.0.0.1:40142->127.0.0.1:32827]>, "hello", 5, 0, NULL, 0) = 5
8  12:56:18.804650 openat(AT_FDCWD</tmp>, "x", O_RDWR|O_CREAT, 0644) = 6</tmp/x>
8  12:56:18.804660 rename("x", "y") = 0
8  12:56:18.804670 dup2(6</tmp/y>, 1) = 1</tmp/y>
8  12:56:18.804680 close_range(3, 4294967295, 0) = 0
8  12:56:18.804700 exit_group(0) = ?
8  12:56:18.804800 +++ exited with 0 +++
7  12:56:18.804900 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=8, si_uid=0, si_status=0, si_utime=0, si_stime=0} ---
7  12:56:18.805000 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 8
7  12:56:18.806000 poll([{fd=3, events=POLLIN}], 1, -1 <unfinished ...>
)";

void move_lines_to_the_end(std::string& bytes, std::size_t at, std::mt19937_64& /*random*/) {
    const std::size_t begin = bytes.find('\n', at);
    if (begin != std::string::npos && begin + 1 < bytes.size()) {
        bytes = bytes.substr(begin + 1) + bytes.substr(0, begin + 1);
    }
}

void erase_some(std::string& bytes, std::size_t at, std::mt19937_64& random) {
    bytes.erase(at, random() % 40);
}

void put_a_word(std::string& bytes, std::size_t at, std::mt19937_64& random) {
    constexpr const char* kWords[] = {"18446744073709551615",
                                      "-9223372036854775808",
                                      "\"",
                                      "<",
                                      ">",
                                      "{",
                                      "]",
                                      ")",
                                      "\n",
                                      "\\",
                                      "null",
                                      "\xff",
                                      "",
                                      "<unfinished ...>",
                                      "99999999999999999999",
                                      "->",
                                      "0x"};
    bytes.replace(at, random() % 6, kWords[random() % std::size(kWords)]);
}

TEST(ImporterFuzz, survives_mutations_of_logs) {
    std::mt19937_64 random(5);
    for (const char* const log : {kFalconLog, kStraceLog}) {
        for (int i = 0; i < kRounds; ++i) {
            const std::string bytes =
                base::mutated(log, 5, random, {erase_some, move_lines_to_the_end, put_a_word});
            LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                   bytes.size());
        }
    }
}

}  // namespace
}  // namespace dyetrace::importer
