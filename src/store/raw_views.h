// The views internal.raw_<record>: what is in Parquet, and what is not yet. For this folder's sources only.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "schema/record_info.h"
#include "store/snapshot.h"

namespace dyetrace::store {

// Defines internal.<name>, its rows in memory if it `is_loaded`.
std::string internal_view(const std::string& name, const std::string& select, bool is_loaded);

class RawParts {
  public:
    // Those of the folders that have a whole <record>.parquet; `condition` is one on its columns, empty: all rows.
    void add_files(std::span<const SealedFolder> folders,
                   const schema::RecordInfo& info,
                   const std::string& condition = "");
    // What the table function (record_scan.h) decodes.
    void add_blocks(const std::string& function, const schema::RecordInfo& info);
    void add(const std::string& select) { selects_.push_back(select); }

    // Whether some part has every column: blocks do, and files that this version wrote.
    bool has_all_columns() const { return has_all_columns_; }
    std::string view(const schema::RecordInfo& info, bool is_loaded) const;

  private:
    std::vector<std::string> selects_;
    bool has_all_columns_ = false;
};

}  // namespace dyetrace::store
