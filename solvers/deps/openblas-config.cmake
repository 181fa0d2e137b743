# The OpenBLAS of the Python wheel scipy-openblas32: OpenBLAS::OpenBLAS. Its symbols carry the prefix scipy_, so that it
# shares a process with another BLAS; whoever links it sees the plain names renamed by the preprocessor. The names are
# those that Eigen (for doubles), SCS and we call: one that is missing here does not link.
get_filename_component(openblas_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET OpenBLAS::OpenBLAS)
    set(openblas_names openblas_set_num_threads openblas_get_config openblas_get_corename
        idamax_ izamax_ zheevr_ zherk_ zscal_)
    foreach(routine axpy dot gemm gemv gesv gesvd lange nrm2 scal syev syevr symm symv syrk tbmv trmm trmv trsm)
        list(APPEND openblas_names d${routine}_)
    endforeach()
    list(TRANSFORM openblas_names REPLACE "(.+)" "\\1=scipy_\\1")
    add_library(OpenBLAS::OpenBLAS SHARED IMPORTED)
    set_target_properties(OpenBLAS::OpenBLAS PROPERTIES
        IMPORTED_LOCATION "${openblas_prefix}/lib/libscipy_openblas.so"
        IMPORTED_SONAME "libscipy_openblas.so"
        INTERFACE_COMPILE_DEFINITIONS "${openblas_names}"
        INTERFACE_INCLUDE_DIRECTORIES "${openblas_prefix}/include")
endif()
