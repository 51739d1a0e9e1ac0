// Hides in command lines of programs what must not be kept, before it reaches the disk.
//
//   mysql -psecret shop      with the secret "secret"      mysql -p****** shop
//
// Arguments are parted by NUL where they lie, by a space where somebody types them: a secret with a space is found over two of them,
// too. At the end of a command line that was cut whatever could be the begin of a secret is hidden.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capture/secrets.h"

namespace dyetrace::recorder {

class CommandRedactor {
  public:
    explicit CommandRedactor(capture::Secrets secrets) : secrets_(std::move(secrets)) {}

    bool is_idle() const { return secrets_.empty(); }

    // The same records with each byte of a match as '*'. Valid until the next call.
    std::span<const std::byte> apply(std::span<const std::byte> facts);

    // The words of a command line, as many as there were.
    std::vector<std::string> hidden(const std::vector<std::string>& words) const;

  private:
    void hide(std::span<std::byte> command, bool is_cut) const;

    capture::Secrets secrets_;
    std::vector<std::byte> records_;
};

}  // namespace dyetrace::recorder
