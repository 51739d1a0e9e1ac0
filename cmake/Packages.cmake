# Libraries from the distribution (tools/install_packages gets them). A layer names in LIBRARIES what it uses:
# fmt::fmt  nlohmann_json::nlohmann_json  CLI11::CLI11  PkgConfig::zstd  PkgConfig::xxhash  PkgConfig::libbpf  duckdb

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(libbpf REQUIRED IMPORTED_TARGET libbpf>=1.1)
pkg_check_modules(libelf REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
if(DYETRACE_TESTS)
    find_package(GTest REQUIRED)
endif()
if(DYETRACE_BENCH)
    find_package(benchmark REQUIRED)
endif()
