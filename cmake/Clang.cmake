# The compiler of the presets `clang` and `fuzz`: Clang 14, Debian 12's, or where a release lacks that its own.
find_program(CMAKE_C_COMPILER NAMES clang-14 clang REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES clang++-14 clang++ REQUIRED)
