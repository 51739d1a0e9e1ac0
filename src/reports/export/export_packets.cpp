#include "reports/export/export_packets.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/version.h"
#include "exporter/packets.h"
#include "exporter/pcapng.h"
#include "query/asked_rows.h"
#include "query/named_sql.h"
#include "query/payload/trace_payload.h"
#include "query/sql.h"
#include "reports/export/export_events.h"
#include "reports/export/export_scene.h"

namespace dyetrace::reports {
namespace {

using exporter::Endpoint;

enum Column : std::uint8_t {
    kEvent,
    kHost,
    kMoment,
    kIsSent,
    kIsIp,
    kSocketType,
    kLocalAddress,
    kLocalPort,
    kRemoteAddress,
    kRemotePort,
    kConnection,
    kStreamOffset,
    kBytes,
    kComm,
    kPid,
    kCallName
};

// What of the payload belongs to calls that are exported, by event.
class PayloadIndex {
  public:
    static Result<PayloadIndex> make(store::Database& database,
                                     const std::string& from,
                                     query::TracePayload& payload,
                                     const std::atomic<bool>& cancelled) {
        std::vector<std::uint64_t> wanted;
        // Not as numbers: that is a connection of its own, which does not know the view of the page.
        TRY(query::each_row(
            database,
            query::filled(query::sql::kExportPacketEvents, {{"from", query::SqlPiece{from}}}),
            [&](query::Row row) { wanted.push_back(query::number_of(row[0])); },
            &cancelled));
        PayloadIndex index;
        TRY(payload.scan(
            [&](std::uint64_t event, const query::PayloadPart& part) {
                if (std::binary_search(wanted.begin(), wanted.end(), event)) {
                    index.entries_.push_back({event, part});
                }
            },
            &cancelled));
        std::sort(index.entries_.begin(), index.entries_.end(), [](const auto& a, const auto& b) {
            return std::pair(a.event, a.part.position) < std::pair(b.event, b.part.position);
        });
        return index;
    }

    struct Entry {
        std::uint64_t event = 0;
        query::PayloadPart part;
    };

    std::span<const Entry> of(std::uint64_t event) const {
        const auto [first, last] = std::equal_range(
            entries_.begin(), entries_.end(), Entry{event, {}}, [](const auto& a, const auto& b) {
                return a.event < b.event;
            });
        return {first, last};
    }

  private:
    std::vector<Entry> entries_;
};

// Both ends: own, other. An end that the call did not learn is any address of the other one's kind. Nothing: they are no ends of IP.
std::optional<std::pair<Endpoint, Endpoint>> ends_in(query::Row row) {
    const auto end_in = [&](Column address, Column port, std::string_view otherwise) {
        const bool is_known = row[address].kind != store::CellKind::kNull;
        return exporter::endpoint_of(is_known ? row[address].text : otherwise,
                                     static_cast<std::uint16_t>(query::number_of(row[port])));
    };
    const bool is_v6 = row[kLocalAddress].text.find(':') != std::string_view::npos ||
                       row[kRemoteAddress].text.find(':') != std::string_view::npos;
    const std::string_view any = is_v6 ? "::" : "0.0.0.0";
    const auto own = end_in(kLocalAddress, kLocalPort, any);
    const auto other = end_in(kRemoteAddress, kRemotePort, any);
    return own && other ? std::optional(std::pair(*own, *other)) : std::nullopt;
}

class PacketExport {
  public:
    PacketExport(query::TracePayload& payload,
                 const PayloadIndex& index,
                 const exporter::Sink& sink)
        : payload_(payload), index_(index), file_(sink), packets_(file_) {}

    Result<void> begin(const exporter::Scene& scene) {
        TRY(file_.begin(fmt::format("dyetrace {}", base::kVersion)));
        for (const exporter::Host& host : scene.hosts) {
            interfaces_[host.index] = static_cast<std::uint32_t>(interfaces_.size());
            TRY(file_.add_interface(host.name));
        }
        return {};
    }

    Result<void> add(query::Row row) {
        const bool is_sent = row[kIsSent].text == "true";
        const auto ends = ends_in(row);
        const bool is_stream = row[kSocketType].text == "stream";
        const bool is_datagram = row[kSocketType].text == "datagram";
        if (row[kIsIp].text != "true" || !ends || (!is_stream && !is_datagram)) {
            ++done_.without;
            return {};
        }
        const std::string comment = fmt::format("{}[{}] {}, event {}",
                                                row[kComm].text,
                                                row[kPid].text,
                                                row[kCallName].text,
                                                row[kEvent].text);
        exporter::MovingCall call{
            .interface = interfaces_[static_cast<std::uint32_t>(query::number_of(row[kHost]))],
            .time_ns = static_cast<std::int64_t>(query::number_of(row[kMoment])),
            .is_sent = is_sent,
            .source = is_sent ? ends->first : ends->second,
            .destination = is_sent ? ends->second : ends->first,
            .connection_id = query::number_of(row[kConnection]),
            .comment = comment};
        const std::span<const PayloadIndex::Entry> pieces =
            index_.of(query::number_of(row[kEvent]));
        std::uint64_t there = 0;
        for (const PayloadIndex::Entry& piece : pieces) {
            there += piece.part.place.length;
        }
        const std::uint64_t moved = query::number_of(row[kBytes]);
        done_.missing += moved - std::min(moved, there);
        done_.calls += there > 0 ? 1 : 0;
        return is_stream ? add_stream(call, row[kStreamOffset], pieces)
                         : add_datagram(call, moved, pieces);
    }

    Result<void> end() { return file_.end(); }
    const ExportedPackets& done() const { return done_; }

  private:
    Result<void> add_stream(const exporter::MovingCall& call,
                            const store::Cell& offset,
                            std::span<const PayloadIndex::Entry> pieces) {
        for (const PayloadIndex::Entry& piece : pieces) {
            TRY(const std::span<const std::byte> bytes, payload_.bytes_at(piece.part));
            const auto place = offset.kind == store::CellKind::kNull
                                   ? std::nullopt
                                   : std::optional(query::number_of(offset) + piece.part.position);
            TRY(packets_.add_stream_bytes(call, place, base::text_of(bytes)));
        }
        return {};
    }

    // Adds only what is known of a datagram from its beginning on.
    Result<void> add_datagram(const exporter::MovingCall& call,
                              std::uint64_t moved,
                              std::span<const PayloadIndex::Entry> pieces) {
        std::string known;
        for (const PayloadIndex::Entry& piece : pieces) {
            if (piece.part.position != known.size()) {
                break;
            }
            TRY(const std::span<const std::byte> bytes, payload_.bytes_at(piece.part));
            known.append(base::text_of(bytes));
        }
        return packets_.add_datagram(call, known, moved);
    }

    query::TracePayload& payload_;
    const PayloadIndex& index_;
    exporter::PcapngWriter file_;
    exporter::Packets packets_;
    std::unordered_map<std::uint32_t, std::uint32_t> interfaces_;  // by host_index
    ExportedPackets done_;
};

}  // namespace

Result<ExportedPackets> export_packets(store::Database& database,
                                       const std::string& from,
                                       const std::atomic<bool>& cancelled,
                                       const exporter::Sink& sink) {
    TRY(query::TracePayload payload, query::TracePayload::open(database.path()));
    TRY(const exporter::Scene scene, read_scene(database));
    TRY(const PayloadIndex index, PayloadIndex::make(database, from, payload, cancelled));
    PacketExport packets(payload, index, sink);
    TRY(packets.begin(scene));
    TRY(database.query(
        query::filled(query::sql::kExportPackets, {{"from", query::SqlPiece{from}}}),
        [&](store::Rows& rows) -> Result<void> {
            for (;;) {
                TRY(const query::Row row, rows.next());
                if (row.empty()) {
                    return {};
                }
                TRY(packets.add(row));
            }
        },
        &cancelled));
    TRY(packets.end());
    ExportedPackets done = packets.done();
    done.redacted = payload.redacted_bytes();
    done.damaged = payload.damaged_blocks();
    done.is_complete = payload.is_complete();
    return done;
}

}  // namespace dyetrace::reports
