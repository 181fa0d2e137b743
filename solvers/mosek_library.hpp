// The functions of libmosek64 that we call, found by name at run time. MOSEK may never end our process: MSK_getdviolacc
// aborts on injected solutions (all versions tried), so it is not in this list and must not come into it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "solvers/solver.hpp"

namespace certicone::solvers::mosek {

using Handle = void*;  ///< MSKtask_t
using StreamCallback = void (*)(void*, const char*);

// Return code, then name, then arguments; enums are int.
#define CERTICONE_MOSEK_FUNCTIONS(F)                                                                                 \
    F(getversion, (std::int32_t*, std::int32_t*, std::int32_t*))                                                     \
    F(maketask, (void*, std::int32_t, std::int32_t, Handle*))                                                        \
    F(deletetask, (Handle*))                                                                                         \
    F(getcodedesc, (int, char*, char*))                                                                              \
    F(getlasterror, (Handle, int*, std::int32_t, std::int32_t*, char*))                                              \
    F(appendvars, (Handle, std::int32_t))                                                                            \
    F(appendcons, (Handle, std::int32_t))                                                                            \
    F(putcfix, (Handle, double))                                                                                     \
    F(putcslice, (Handle, std::int32_t, std::int32_t, const double*))                                                \
    F(putvarbound, (Handle, std::int32_t, int, double, double))                                                      \
    F(putconbound, (Handle, std::int32_t, int, double, double))                                                      \
    F(putaijlist64, (Handle, std::int64_t, const std::int32_t*, const std::int32_t*, const double*))                 \
    F(appendafes, (Handle, std::int64_t))                                                                            \
    F(putafefentrylist, (Handle, std::int64_t, const std::int64_t*, const std::int32_t*, const double*))             \
    F(putafeglist, (Handle, std::int64_t, const std::int64_t*, const double*))                                       \
    F(appendquadraticconedomain, (Handle, std::int64_t, std::int64_t*))                                              \
    F(appendrquadraticconedomain, (Handle, std::int64_t, std::int64_t*))                                             \
    F(appendaccseq, (Handle, std::int64_t, std::int64_t, std::int64_t, const double*))                               \
    F(putvarname, (Handle, std::int32_t, const char*))                                                               \
    F(putconname, (Handle, std::int32_t, const char*))                                                               \
    F(putaccname, (Handle, std::int64_t, const char*))                                                               \
    F(getvarnameindex, (Handle, const char*, std::int32_t*, std::int32_t*))                                          \
    F(getconnameindex, (Handle, const char*, std::int32_t*, std::int32_t*))                                          \
    F(getaccname, (Handle, std::int64_t, std::int32_t, char*))                                                       \
    F(getnumvar, (Handle, std::int32_t*))                                                                            \
    F(getnumcon, (Handle, std::int32_t*))                                                                            \
    F(getnumacc, (Handle, std::int64_t*))                                                                            \
    F(getaccntot, (Handle, std::int64_t*))                                                                           \
    F(getnumanz64, (Handle, std::int64_t*))                                                                          \
    F(getaccfnumnz, (Handle, std::int64_t*))                                                                         \
    F(getatrip, (Handle, std::int64_t, std::int32_t*, std::int32_t*, double*))                                       \
    F(putsolutionnew, (Handle, int, const int*, const int*, const int*, const double*, const double*, const double*, \
                       const double*, const double*, const double*, const double*, const double*, const double*))    \
    F(getsolutioninfonew, (Handle, int, double*, double*, double*, double*, double*, double*, double*, double*,      \
                           double*, double*, double*, double*, double*, double*))                                    \
    F(readdata, (Handle, const char*))                                                                               \
    F(writedata, (Handle, const char*))                                                                              \
    F(optimizetrm, (Handle, int*))                                                                                   \
    F(putnaintparam, (Handle, const char*, std::int32_t))                                                            \
    F(putnadouparam, (Handle, const char*, double))                                                                  \
    F(getnaintinf, (Handle, const char*, std::int32_t*))                                                             \
    F(getnadouinf, (Handle, const char*, double*))                                                                   \
    F(getsolsta, (Handle, int, int*))                                                                                \
    F(getprimalobj, (Handle, int, double*))                                                                          \
    F(getdualobj, (Handle, int, double*))                                                                            \
    F(getxx, (Handle, int, double*))                                                                                 \
    F(gety, (Handle, int, double*))                                                                                  \
    F(getaccdotys, (Handle, int, double*))

struct Library {
#define CERTICONE_MOSEK_MEMBER(name, arguments) int(*name) arguments = nullptr;
    CERTICONE_MOSEK_FUNCTIONS(CERTICONE_MOSEK_MEMBER)
#undef CERTICONE_MOSEK_MEMBER

    Readiness found;  ///< where it is, or why it cannot be used
    std::string version = "-";

    /// Empty for code 0; "symbol: description" otherwise.
    std::string describe(int code) const;
};

/// Names of all functions that are looked up.
std::span<const std::string_view> function_names();

/// Loads one library file, or says why not.
Library load(const std::string& file);

/// The library of this process, looked for once (the order is in mosek_runtime.hpp).
const Library& library();

}  // namespace certicone::solvers::mosek
