// A file system in a file, mounted on a folder until it goes out of scope.
#pragma once

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace dyetrace::test {

class MountedImage {
  public:
    // Both are made. Not mounted where this machine has no mkfs of that type, or the kernel not the type.
    MountedImage(const std::string& type, const std::string& image, std::string folder)
        : folder_(std::move(folder)) {
        constexpr off_t kBytes = 320 << 20;  // mkfs.xfs wants 300 MB
        const int file = open(image.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        const bool has_room = ftruncate(file, kBytes) == 0;
        close(file);
        mounted_ =
            has_room && mkdir(folder_.c_str(), 0700) == 0 &&
            std::system(("mkfs." + type + " -q " + image + " >/dev/null 2>&1 && mount -o loop " +
                         image + " " + folder_ + " 2>/dev/null")
                            .c_str()) == 0;
    }
    MountedImage(const MountedImage&) = delete;
    MountedImage& operator=(const MountedImage&) = delete;
    ~MountedImage() {
        if (mounted_) {
            umount2(folder_.c_str(), MNT_DETACH);
        }
    }

    explicit operator bool() const { return mounted_; }
    const std::string& folder() const { return folder_; }

  private:
    std::string folder_;
    bool mounted_;
};

}  // namespace dyetrace::test
