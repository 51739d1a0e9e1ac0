// Runs a command while empty BPF programs are attached to the entry and the exit of every system call.
//
//   bench_floor COMMAND...
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "bench/floor.skel.h"

int main(int argc, char** argv) {
    if (argc < 2) {
        return 2;
    }
    floor_bpf* skeleton = floor_bpf__open_and_load();
    if (skeleton == nullptr || floor_bpf__attach(skeleton) != 0) {
        std::perror("bench_floor: cannot load or attach");
        return 1;
    }
    pid_t child = -1;
    if (posix_spawnp(&child, argv[1], nullptr, nullptr, argv + 1, environ) != 0) {
        std::perror("bench_floor: cannot run the command");
        return 127;
    }
    int status = 0;
    waitpid(child, &status, 0);
    floor_bpf__destroy(skeleton);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
