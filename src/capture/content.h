// What of the BPF programs looks at content: chosen before they are loaded, made ready afterwards.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "capture/capture.h"
#include "capture/kernel_support.h"
#include "content/anchors.h"

struct dyetrace_bpf;

namespace dyetrace::capture {

content::AnchorRule anchor_rule(const CaptureOptions& options);

Result<void> choose_content(dyetrace_bpf& skeleton,
                            const CaptureOptions& options,
                            const KernelSupport& support,
                            std::uint32_t cpus);

// How content is looked at, and what is not seen of it, for `coverage`.
Result<std::vector<Source>> prepare_content(dyetrace_bpf& skeleton, const CaptureOptions& options);

// Waits until each call whose bytes were not in memory (src/kernel/content/deferred.h) is written, when nothing is attached any more; at most
// a second, as memory may be slow to come. Returns how many never will be.
std::uint64_t finish_deferred_calls(dyetrace_bpf& skeleton);

}  // namespace dyetrace::capture
