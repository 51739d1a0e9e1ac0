// Paths are read from the root of the mount namespace. Where tests run in a chroot, what lies above it is taken off, so that
// they know what to expect.
#pragma once

#include "kernel/recorded.h"

namespace dyetrace::test {

// Fills the dictionary from the facts. The first directory that was announced is the root of the child, which looks at it
// after its gate: it is `root` from then on.
void learn(Records& records, std::optional<std::string>& root);

}  // namespace dyetrace::test
