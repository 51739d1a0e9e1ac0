// What a probe's name means on this machine: its places, and the values that each of them has.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/probe_links.h"
#include "probes/named_values.h"
#include "probes/probe_names.h"
#include "probes/probe_value.h"

namespace dyetrace::capture {

// One place that a name means, and the values that it has.
class Place {
  public:
    explicit Place(ProbePlace place) : place_(std::move(place)) {}
    virtual ~Place() = default;
    const ProbePlace& place() const { return place_; }
    // Finds "arguments.PATH" by its path.
    virtual Result<probes::ProbeValue> argument(const std::string& path) const;
    // All arguments that can be read as they are, and why others cannot.
    virtual probes::NamedValues arguments() const { return {}; }
    virtual Result<probes::ProbeValue> result() const;
    virtual bool returns() const { return false; }

  private:
    ProbePlace place_;
};

using Places = std::vector<std::unique_ptr<Place>>;

// kNotFound, kInvalidArgument: there is none, with what is near; kUnsupported: not on this kernel.
Result<Places> places_of(const probes::ProbeName& name);

Error no_value(const std::string& name, std::string_view why);

}  // namespace dyetrace::capture
