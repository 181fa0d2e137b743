# Finds FLINT with Arb's arf and arb: FLINT 3 has them built in; FLINT 2 has them in the separate library Arb, which
# Debian calls flint-arb. Defines
#   FLINT::FLINT    with the definition CERTICONE_FLINT3 where the headers are <flint/arf.h> rather than <arf.h>
#   FLINT_VERSION
find_path(FLINT_INCLUDE_DIR flint/flint.h)
find_library(FLINT_LIBRARY flint)
find_library(GMP_LIBRARY gmp)
find_library(MPFR_LIBRARY mpfr)
set(required FLINT_LIBRARY FLINT_INCLUDE_DIR GMP_LIBRARY MPFR_LIBRARY)

if(FLINT_INCLUDE_DIR)
    file(STRINGS "${FLINT_INCLUDE_DIR}/flint/flint.h" version_line REGEX "^#define FLINT_VERSION \"")
    string(REGEX REPLACE ".*\"([^\"]+)\".*" "\\1" FLINT_VERSION "${version_line}")
    if(NOT EXISTS "${FLINT_INCLUDE_DIR}/flint/arf.h")
        find_path(ARB_INCLUDE_DIR arf.h)
        find_library(ARB_LIBRARY NAMES flint-arb arb)
        list(APPEND required ARB_LIBRARY ARB_INCLUDE_DIR)
    endif()
endif()
mark_as_advanced(FLINT_INCLUDE_DIR FLINT_LIBRARY GMP_LIBRARY MPFR_LIBRARY ARB_INCLUDE_DIR ARB_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(FLINT REQUIRED_VARS ${required} VERSION_VAR FLINT_VERSION)

if(FLINT_FOUND AND NOT TARGET FLINT::FLINT)
    add_library(FLINT::FLINT INTERFACE IMPORTED)
    target_include_directories(FLINT::FLINT INTERFACE "${FLINT_INCLUDE_DIR}")
    if(EXISTS "${FLINT_INCLUDE_DIR}/flint/arf.h")
        target_compile_definitions(FLINT::FLINT INTERFACE CERTICONE_FLINT3)
    else()
        target_include_directories(FLINT::FLINT INTERFACE "${ARB_INCLUDE_DIR}")
        target_link_libraries(FLINT::FLINT INTERFACE "${ARB_LIBRARY}")
    endif()
    target_link_libraries(FLINT::FLINT INTERFACE "${FLINT_LIBRARY}" "${MPFR_LIBRARY}" "${GMP_LIBRARY}")
endif()
