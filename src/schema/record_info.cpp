#include "schema/record_info.h"

namespace dyetrace::schema {

const RecordInfo* find_record(RecordId id) {
    for (const RecordInfo& info : records()) {
        if (info.id == id) {
            return &info;
        }
    }
    return nullptr;
}

}  // namespace dyetrace::schema
