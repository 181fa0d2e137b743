#include "solvers/clarabel.hpp"
#include "support/error.hpp"

namespace certicone::solvers {

namespace {

class ClarabelStub final : public Backend {
  public:
    std::string_view name() const override { return "clarabel"; }
    std::string version() const override { return "-"; }
    Capabilities capabilities() const override { return {}; }
    std::span<const Option> options() const override { return {}; }
    Readiness available() const override {
        return {false,
                "not built in: CMake found no cargo (1.70 or newer) or not the crates that 'make deps' downloads; see "
                "to both, then build again"};
    }

  private:
    std::unique_ptr<Workspace> setup(conic::ConicProgram, const Settings&) const override {
        throw SolverUnavailable(available().reason);
    }
};

}  // namespace

const Backend& clarabel_backend() {
    static const ClarabelStub backend;
    return backend;
}

}  // namespace certicone::solvers
