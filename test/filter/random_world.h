// Random events of one host: stored as a trace, and known to a Dictionary.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "filter/random_cases.h"
#include "schema/dictionary.h"
#include "store/database.h"
#include "trace/segment_writer.h"

namespace dyetrace {

class RandomWorld {
  public:
    static constexpr std::uint16_t kHost = 3;
    static constexpr std::uint16_t kCpu = 2;
    static constexpr const char* kHostName = "node-3";
    static constexpr std::uint64_t kEvents = 400;

    RandomWorld(const std::string& path, filter::RandomCases& cases) {
        trace::TraceInfo info;
        trace::Host host;
        host.index = kHost;
        host.name = kHostName;
        host.boot_id = "0";
        host.cpus = kCpu + 1;
        info.hosts.push_back(host);
        auto folder = trace::TraceFolder::create(path, info).value();
        auto writer = trace::SegmentWriter::create(folder, kHost).value();
        for (const auto& record : cases.world()) {
            dictionary_.add(record.bytes());
            writer.append(kCpu, schema::Stream::kFacts, record.bytes()).value();
        }
        for (std::uint64_t i = 0; i < kEvents; ++i) {
            events_.push_back(cases.event(i));
            writer.append(kCpu, schema::Stream::kEvents, events_.back().bytes()).value();
        }
        writer.close().value();
        folder.finish().value();
        database_ = store::Database::open(path, {}).value();
    }

    const schema::Dictionary& dictionary() const { return dictionary_; }
    const std::vector<schema::OwnedRecord>& events() const { return events_; }
    store::Database& database() const { return *database_; }

  private:
    schema::Dictionary dictionary_{kHost};
    std::vector<schema::OwnedRecord> events_;
    std::unique_ptr<store::Database> database_;
};

}  // namespace dyetrace
