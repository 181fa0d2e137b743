# What HiGHS's own installation would provide, for the library of its Python wheel: highs::highs, included as there by
# <interfaces/highs_c_api.h>.
get_filename_component(highs_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET highs::highs)
    add_library(highs::highs SHARED IMPORTED)
    set_target_properties(highs::highs PROPERTIES
        IMPORTED_LOCATION "${highs_prefix}/lib/libhighs.so.1"
        IMPORTED_SONAME "libhighs.so.1"
        INTERFACE_INCLUDE_DIRECTORIES "${highs_prefix}/include/highs")
endif()
