// What this machine allows: found by trying, never by version numbers.
//
//   for (const Feature& feature : probe_features()) …      a line each for `dyetrace doctor`
//
// Probing loads small programs and takes them away again; it changes nothing and needs no privilege to be asked.
#pragma once

#include <string>
#include <vector>

namespace dyetrace::capture {

enum class Availability { kYes, kPartly, kNo };

struct Feature {
    std::string name;  // "system calls"
    Availability availability = Availability::kYes;
    std::string detail;   // what there is, or why not
    std::string remedy;   // what will be missing and how to get it; empty when nothing is
    bool needed = false;  // without it nothing can be recorded
};

std::vector<Feature> probe_features();

}  // namespace dyetrace::capture
