// What processes have taken in, by anchors: where a write has windows that an earlier read of the same process (or of one whose bytes
// it may have, recall.h) has too, the bytes between them are the same, however the program cut, framed or joined them.
//
//   read A   |....a......b...|                a, b, c: anchors
//   read B                   |..c......|
//   write        |head|..a......b.....c..     flows A ─► write (a to the border of A and B), B ─► write (to the end of c)
//
// Where sums are known (content/content_sum.h), what lies between two anchors, or an anchor and a border of calls that both sides have, is compared by them: equal
// ones are likely, others only possible. So a flow goes on over the borders of writes, and up to the border of a frame (frames.h). Without sums two reads
// that follow each other in their file or stream, and do so in the write, meet at their border, and at the ends a flow is as long as the anchors show.
// If several calls read the same bytes, the last read is meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/dataflow/flow.h"
#include "analysis/dataflow/frames.h"
#include "analysis/dataflow/operation.h"
#include "analysis/dataflow/recall.h"
#include "analysis/dataflow/strips.h"

namespace dyetrace::analysis {

class AnchorMemory {
  public:
    // Remembers `anchors_max` anchors, and up to twice as many. `ancestry` must outlive it.
    AnchorMemory(std::size_t anchors_max, const Ancestry& ancestry)
        : recall_(anchors_max, ancestry) {}

    void read(const Operation& operation, const Act& act);
    void write(const Operation& operation, const Act& act, std::vector<Flow>& flows);
    // A write whose bytes are all accounted for.
    void pass(const Operation& operation, const Act& act);
    // No more comes.
    void finish(std::vector<Flow>& flows) { guesses_.give_up(flows); }

    std::uint64_t forgotten() const {
        return recall_.forgotten() + reads_.forgotten() + writes_.forgotten();
    }

  private:
    // An anchor that a write has in common with a read.
    struct Match {
        std::uint64_t fingerprint = 0;
        std::uint64_t strip = 0;    // of the read
        StripPlace source, target;  // after the window's last byte
    };
    // Where a written strip stands.
    struct Written {
        std::optional<Match> last;
        std::uint64_t covered = 0;  // up to there its bytes have flows, or will have none
    };
    class Writer;

    // A write at the end of its strip; what is known of strips that are forgotten goes.
    const SummedStrip* add_written(const Operation& operation, const Act& act);
    void write_without_sums(const Operation& operation,
                            const Act& act,
                            std::vector<Flow>& flows) const;

    Recall recall_;
    Strips reads_, writes_;
    std::unordered_map<std::uint64_t, Written> written_;  // by strip
    FrameGuesses guesses_;
};

}  // namespace dyetrace::analysis
