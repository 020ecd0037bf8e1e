# SPDX-License-Identifier: Apache-2.0
# Writes schema.hpp: the fields of all records, from the schema that Python reads records by.

set(schema_file ${PROJECT_SOURCE_DIR}/python/tollbar/data/schema.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${schema_file})
file(READ ${schema_file} schema)
string(JSON records GET "${schema}" records)
string(JSON last_record LENGTH "${records}")
math(EXPR last_record "${last_record} - 1")
foreach(i RANGE ${last_record})
    string(JSON record MEMBER "${records}" ${i})
    string(JSON fields GET "${records}" ${record} fields)
    string(JSON last_field LENGTH "${fields}")
    math(EXPR last_field "${last_field} - 1")
    foreach(j RANGE ${last_field})
        string(JSON field MEMBER "${fields}" ${j})
        string(JSON type GET "${fields}" ${field})
        string(APPEND rows "    {\"${record}\", \"${field}\", \"${type}\"},\n")
    endforeach()
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/schema.hpp @ONLY CONTENT
"// Written by bench/engine/schema.cmake from python/tollbar/data/schema.json.
#pragma once

#include <string_view>

namespace tollbar::bench::schema {

struct Field {
    std::string_view record, name, type;
};

inline constexpr Field fields[] = {
@rows@};

}  // namespace tollbar::bench::schema
")
