// One exported instance: a file a format, and the solution file beside them.
#pragma once

#include "verify/known_solution.hpp"
#include "verify/report_json.hpp"

namespace certicone::verify {

inline constexpr std::string_view export_formats[] = {"cbf", "ptf", "mof", "clarabel", "scs"};
inline constexpr std::string_view export_programs[] = {"value", "dual", "relu", "max-readout", "min-norm", "inference"};

struct ExportOptions {
    std::string folder;
    std::vector<std::string> formats;  ///< of export_formats
    /// CBF, PTF and MOF files of more bytes are compressed: NAME.cbf.gz.
    std::size_t gzip_above = std::size_t{1} << 20;
};

struct ExportedInstance {
    std::vector<std::string> files;             ///< names in the folder, the solution file last
    Index columns = 0, rows = 0, nonzeros = 0;  ///< of CBF, PTF and MOF
};

/// Letters, digits, '.', '_' and '-' of `name`; others become '_'.
std::string file_stem(std::string_view name);

/// Writes NAME.cbf, NAME.ptf, NAME.mof.json, NAME.clarabel.json, NAME.scs (those asked for) and NAME.solution.json, each whole
/// or not at all. `origin` says where the instance is from. Files of the same instance are replaced. Throws InputError
/// where a file cannot be written or is there already and another one, or where the pair is not finite.
ExportedInstance export_instance(const std::string& name, const std::string& program, const KnownProgram& known,
                                 const Json& origin, const ExportOptions& options);

}  // namespace certicone::verify
