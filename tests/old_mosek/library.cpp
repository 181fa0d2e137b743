// A library with every symbol of libmosek64 that we look up, and version 0.0.0: it must be refused.
#include "solvers/mosek_library.hpp"

using certicone::solvers::mosek::Handle;

#define CERTICONE_MOSEK_DEFINE(name, arguments) \
    extern "C" int MSK_##name arguments { return 0; }
CERTICONE_MOSEK_FUNCTIONS(CERTICONE_MOSEK_DEFINE)
