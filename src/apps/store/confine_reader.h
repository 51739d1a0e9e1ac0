// What the verbs that read traces give up before they open one: they read what others wrote.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/confinement.h"
#include "base/log.h"

namespace dyetrace::apps {

// What is written is in the traces (tables that are derived), below $TMPDIR, and in the folders of `outputs`; empty ones count for nothing. Capabilities go, but
// those of files where one of these belongs to somebody else: root reads a user's trace. What cannot be given up is said. What is derived has the
// rights of the first trace from here on.
void confine_reader(const base::Log& log,
                    const std::vector<std::string>& traces,
                    const std::vector<std::string>& outputs = {});

// The page, which others ask: it reads the traces and nothing else. It may still listen on `port`.
void confine_page(const base::Log& log, const std::vector<std::string>& traces, std::uint16_t port);

}  // namespace dyetrace::apps
