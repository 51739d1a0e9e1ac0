// What tests find in a program in C++: methods, templates, base classes, references, results in memory. It is never run.

#include <cstdint>
#include <string>

#define KEPT [[gnu::noinline, gnu::used]]

namespace disk {

volatile std::int64_t sink;

struct Named {
    std::int64_t number = 1;
    const char* label = "label";
};

class Cache : public Named {
  public:
    KEPT bool read(const char* path, std::uint32_t bytes) const;
    KEPT std::string text(std::int32_t page) const;
    KEPT static int count();

  private:
    std::int32_t pages_ = 2;
    Named* other_ = nullptr;
};

bool Cache::read(const char* path, std::uint32_t bytes) const {
    sink = path[0] + bytes + pages_;
    return sink > 3;
}

std::string Cache::text(std::int32_t page) const {
    sink = page;
    return other_ != nullptr ? other_->label : "none";
}

int Cache::count() {
    sink = 4;
    return 7;
}

KEPT std::int64_t by_reference(Cache& cache, std::string text, std::int8_t after) {
    sink = after + static_cast<std::int64_t>(text.size());
    return cache.number;
}

template <class T>
KEPT T twice(T value) {
    sink = value;
    return value + value;
}

template std::int32_t twice<std::int32_t>(std::int32_t);

}  // namespace disk

int main() {
    disk::Cache cache;
    disk::by_reference(cache, cache.text(1), 2);
    return disk::twice(disk::Cache::count()) + (cache.read("path", 3) ? 1 : 0);
}
