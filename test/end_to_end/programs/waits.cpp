// Waits in every way that names no object, and says on stdout, a line each, what it learnt then:
//
//   epoll FD …       epoll_wait handed out these
//   poll FD …        poll or select said that these are ready; none: its time was up
//   wake TID         this thread had told the condition variable
//   exit TID         this thread was joined
//   signal           poll was interrupted
//
// Waits stand in the order in which its first thread waited.
#include <arpa/inet.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

constexpr long kPauseNs = 20'000'000;  // a wait is a wait
constexpr long kAlarmUs = 300'000;     // it comes in the next call, on a busy machine too
constexpr int kMessages = 5, kRounds = 20, kTellers = 2;

void require(bool condition) {
    if (!condition) {
        std::perror("waits");
        std::exit(1);
    }
}

void pause_a_while() {
    const timespec pause{0, kPauseNs};
    nanosleep(&pause, nullptr);
}

int own_tid() {
    return static_cast<int>(syscall(SYS_gettid));
}

// Whether the first thread is blocked in a futex whose operation is this one, and private or not.
bool first_waits_in_futex(int operation, bool is_private) {
    char path[64];
    long call = -1;
    unsigned long words[2] = {0, 0};
    std::snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", getpid());
    std::FILE* file = std::fopen(path, "re");
    require(file != nullptr);
    const int found = std::fscanf(file, "%ld %lx %lx", &call, &words[0], &words[1]);
    std::fclose(file);
    return found == 3 && call == SYS_futex &&
           (static_cast<int>(words[1]) & FUTEX_CMD_MASK) == operation &&
           ((words[1] & FUTEX_PRIVATE_FLAG) != 0) == is_private;
}

// A server with epoll, and a client that talks to it from another thread.
sockaddr_in server_address;

void* talk(void*) {
    pause_a_while();
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    require(connect(client,
                    reinterpret_cast<const sockaddr*>(&server_address),
                    sizeof(server_address)) == 0);
    for (int i = 0; i < kMessages; ++i) {
        pause_a_while();
        require(write(client, "hello", 5) == 5);
    }
    close(client);
    return nullptr;
}

int listening() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t length = sizeof(server_address);
    server_address.sin_family = AF_INET;
    server_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    require(bind(listener, reinterpret_cast<sockaddr*>(&server_address), length) == 0);
    require(getsockname(listener, reinterpret_cast<sockaddr*>(&server_address), &length) == 0);
    require(listen(listener, 1) == 0);
    return listener;
}

void add(int set, int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    require(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0);
}

// False at the end of the conversation.
bool take(int set, int listener, int fd) {
    char bytes[64];
    if (fd == listener) {
        add(set, accept(listener, nullptr, nullptr));
        return true;
    }
    return read(fd, bytes, sizeof(bytes)) > 0;
}

void serve() {
    const int listener = listening(), set = epoll_create1(0);
    pthread_t client{};
    add(set, listener);
    require(pthread_create(&client, nullptr, &talk, nullptr) == 0);
    for (bool goes_on = true; goes_on;) {
        epoll_event ready[8];
        const int count = epoll_wait(set, ready, 8, -1);
        require(count > 0);
        std::printf("epoll");
        for (int i = 0; i < count; ++i) {
            std::printf(" %d", ready[i].data.fd);
        }
        std::printf("\n");
        for (int i = 0; i < count; ++i) {
            goes_on = take(set, listener, ready[i].data.fd) && goes_on;
        }
    }
    require(pthread_detach(client) == 0);
}

// Two threads take turns in telling a third one.
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t told = PTHREAD_COND_INITIALIZER;
int teller = 0, turn = 0;  // teller: 0 when it was heard

void* tell(void* number) {
    const int own = static_cast<int>(reinterpret_cast<long>(number));
    for (int round = own; round < kRounds; round += kTellers) {
        bool done = false;
        while (!done) {
            pause_a_while();
            pthread_mutex_lock(&mutex);
            done = turn == round && teller == 0 && first_waits_in_futex(FUTEX_WAIT_BITSET, true);
            teller = done ? own_tid() : teller;
            pthread_mutex_unlock(&mutex);
        }
        pthread_cond_signal(&told);
    }
    return nullptr;
}

void be_told() {
    pthread_t tellers[kTellers];
    for (long i = 0; i < kTellers; ++i) {
        require(pthread_create(&tellers[i], nullptr, &tell, reinterpret_cast<void*>(i)) == 0);
    }
    for (int round = 0; round < kRounds; ++round) {
        pthread_mutex_lock(&mutex);
        while (teller == 0) {
            pthread_cond_wait(&told, &mutex);
        }
        std::printf("wake %d\n", teller);
        teller = 0;
        ++turn;
        pthread_mutex_unlock(&mutex);
    }
    for (const pthread_t thread : tellers) {
        pthread_detach(thread);
    }
}

void* end_soon(void* tid) {
    *static_cast<int*>(tid) = own_tid();
    while (!first_waits_in_futex(FUTEX_WAIT_BITSET, false)) {
        pause_a_while();
    }
    return nullptr;
}

void join() {
    int tid = 0;
    pthread_t thread{};
    require(pthread_create(&thread, nullptr, &end_soon, &tid) == 0);
    require(pthread_join(thread, nullptr) == 0);
    std::printf("exit %d\n", tid);
}

void look_at_pipes() {
    int one[2], other[2];
    require(pipe(one) == 0 && pipe(other) == 0);
    pollfd polled[2] = {{one[0], POLLIN, 0}, {other[0], POLLIN, 0}};
    require(poll(polled, 2, 30) == 0);
    std::printf("poll\n");
    require(write(other[1], "x", 1) == 1);
    require(poll(polled, 2, -1) == 1 && polled[1].revents == POLLIN);
    std::printf("poll %d\n", other[0]);
    fd_set read_set;
    FD_ZERO(&read_set);
    FD_SET(one[0], &read_set);
    FD_SET(other[0], &read_set);
    require(select(other[0] + 1, &read_set, nullptr, nullptr, nullptr) == 1);
    require(FD_ISSET(other[0], &read_set));
    std::printf("poll %d\n", other[0]);
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, nullptr);
    const itimerval soon{{0, 0}, {0, kAlarmUs}};
    require(setitimer(ITIMER_REAL, &soon, nullptr) == 0);
    require(poll(polled, 1, -1) == -1 && errno == EINTR);
    std::printf("signal\n");
}

}  // namespace

int main() {
    std::setvbuf(stdout, nullptr, _IOFBF, 1 << 16);  // no call in between
    serve();
    be_told();
    join();
    look_at_pipes();
    return 0;
}
