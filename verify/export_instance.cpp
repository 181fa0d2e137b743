#include "verify/export_instance.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "conic/linear_objective.hpp"
#include "formats/cbf.hpp"
#include "formats/clarabel_json.hpp"
#include "formats/mof_json.hpp"
#include "formats/ptf.hpp"
#include "formats/scs_binary.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/gzip.hpp"
#include "verify/solution_file.hpp"

namespace certicone::verify {

std::string file_stem(std::string_view name) {
    std::string stem;
    for (const char c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        stem += plain || c == '_' || c == '-' || (c == '.' && !stem.empty()) ? c : '_';
    }
    return stem.empty() ? "instance" : stem.substr(0, 200);
}

ExportedInstance export_instance(const std::string& name, const std::string& program, const KnownProgram& known,
                                 const Json& origin, const ExportOptions& options) {
    if (!known.known.x.allFinite() || !known.known.y.allFinite())
        throw InputError(fmt::format("{}: the optimal pair has entries that are not finite", name));
    const conic::LinearObjective form(known.program);
    // + 0: no negative zeros in files.
    const formats::Instance instance{name, form.program(), form.extend_x(known.known.x).array() + 0.0,
                                     form.extend_y(known.known.x, known.known.y).array() + 0.0};
    // Clarabel's and SCS's files are solved as they stand.
    const conic::ConicProgram balanced = conic::scaled(known.program, known.units);
    ExportedInstance result{{}, instance.program.columns(), instance.program.rows(), instance.program.A.nonZeros()};
    const SolutionContext context{name, program, origin, options.formats};
    const std::string solution =
        solution_json(context, known, instance).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    const std::filesystem::path folder(options.folder);
    // Up to the origin: the files of the same instance are replaced, of other things none.
    const bool again =
        file_begins_with(folder / (name + ".solution.json"), solution.substr(0, solution.find(",\"source\":")));
    const auto write = [&](const std::string& extension, const std::string& content) {
        result.files.push_back(name + extension);
        if (again)
            write_file_atomically(folder / result.files.back(), content);
        else
            write_new_file(folder / result.files.back(), content);
    };
    const auto write_text = [&](const std::string& extension, const std::string& text) {
        if (text.size() > options.gzip_above)
            write(extension + ".gz", gzip(text));
        else
            write(extension, text);
    };
    for (const std::string& format : options.formats) {
        if (format == "cbf") write_text(".cbf", formats::to_cbf(instance));
        if (format == "ptf") write_text(".ptf", formats::to_ptf(instance));
        if (format == "mof") write_text(".mof.json", formats::to_mof_json(instance));
        if (format == "scs") write(".scs", formats::to_scs_binary(balanced));
        if (format == "clarabel") {
            std::ostringstream text;
            formats::write_clarabel_json(text, balanced);
            write(".clarabel.json", text.str());
        }
    }
    write(".solution.json", solution);
    return result;
}

}  // namespace certicone::verify
