#include "store/trace_sealer.h"

#include <utility>
#include <vector>

namespace dyetrace::store {

Result<TraceSealer> TraceSealer::start(const std::string& path) {
    TRY(trace::TraceFolder folder, trace::TraceFolder::open(path));
    TraceSealer sealer(std::move(folder));
    TRY(sealer.find_parts());
    return sealer;
}

// A host may join at any time.
Result<void> TraceSealer::find_parts() {
    TRY(std::vector<trace::TraceFolder> parts, folder_.parts());
    std::vector<trace::Host> hosts;
    for (const trace::TraceFolder& part : parts) {
        hosts.insert(hosts.end(), part.info().hosts.begin(), part.info().hosts.end());
    }
    const std::size_t known = parts_.size();
    for (trace::TraceFolder& part : parts) {
        std::string path = part.path();
        if (!parts_.contains(path)) {
            TRY(Sealer sealer, Sealer::start(std::move(part)));
            parts_.emplace(std::move(path), std::move(sealer));
        }
    }
    return folder_.info().has_parts && parts_.size() > known ? write_frame_of_parts(folder_, hosts)
                                                             : Result<void>();
}

Result<trace::TraceState> TraceSealer::seal_what_is_there(const Sealer::MaySeal& may_seal) {
    TRY(const trace::TraceState state, folder_.current_state());
    TRY(find_parts());
    const bool may_carry_on =
        folder_.info().has_parts && folder_.info().state == trace::TraceState::kRecording;
    for (auto& [path, sealer] : parts_) {
        TRY(sealer.seal_what_is_there(
            may_seal,
            may_carry_on ? Sealer::Abandoned::kMayCarryOn : Sealer::Abandoned::kIsSealed));
    }
    return state;
}

SealedSegment TraceSealer::totals() const {
    SealedSegment sum;
    for (const auto& [path, sealer] : parts_) {
        sum.events += sealer.totals().events;
        sum.facts += sealer.totals().facts;
        sum.parquet_bytes += sealer.totals().parquet_bytes;
    }
    return sum;
}

}  // namespace dyetrace::store
