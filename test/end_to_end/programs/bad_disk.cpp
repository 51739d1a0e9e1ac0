// LD_PRELOAD of this makes a disk that fails for some files: those whose path contains $BAD_DISK_NAME.
//
//   BAD_DISK_BYTES=N    write() fails once the process has written N bytes to such files
//   BAD_DISK_SYNC=N     fsync(), fdatasync() fail from the Nth on
//   BAD_DISK_ERROR=E    with this error number
//   BAD_DISK_TIMES=N    so often only; else always
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<long> written = 0, synced = 0, failed = 0;

long number(const char* name, long otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::atol(text);
}

bool is_bad(int file) {
    const char* const name = std::getenv("BAD_DISK_NAME");
    char link[32] = "/proc/self/fd/";
    char digits[12];
    int length = 0;
    for (int rest = file; rest > 0 || length == 0; rest /= 10) {
        digits[length++] = static_cast<char>('0' + rest % 10);
    }
    char* end = link + std::strlen(link);
    while (length > 0) {
        *end++ = digits[--length];
    }
    *end = 0;
    char path[4096] = {};
    return name != nullptr && readlink(link, path, sizeof(path) - 1) > 0 &&
           std::strstr(path, name) != nullptr;
}

bool fails_now() {
    return failed++ < number("BAD_DISK_TIMES", 1L << 60);
}

int fail() {
    errno = static_cast<int>(number("BAD_DISK_ERROR", EIO));
    return -1;
}

template <typename Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool sync_fails(int file) {
    const long from = number("BAD_DISK_SYNC", 0);
    return from > 0 && is_bad(file) && ++synced >= from && fails_now();
}

}  // namespace

extern "C" ssize_t write(int file, const void* bytes, size_t size) {
    static const auto kWrite = real<ssize_t(int, const void*, size_t)>("write");
    const long limit = number("BAD_DISK_BYTES", 0);
    if (limit > 0 && is_bad(file) && (written += static_cast<long>(size)) > limit && fails_now()) {
        return fail();
    }
    return kWrite(file, bytes, size);
}

extern "C" int fsync(int file) {
    static const auto kSync = real<int(int)>("fsync");
    return sync_fails(file) ? fail() : kSync(file);
}

extern "C" int fdatasync(int file) {
    static const auto kSync = real<int(int)>("fdatasync");
    return sync_fails(file) ? fail() : kSync(file);
}
