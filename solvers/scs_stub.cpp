#include "solvers/scs.hpp"
#include "support/error.hpp"

namespace certicone::solvers {

namespace {

class ScsStub final : public Backend {
  public:
    std::string_view name() const override { return "scs"; }
    std::string version() const override { return "-"; }
    Capabilities capabilities() const override { return {}; }
    std::span<const Option> options() const override { return {}; }
    Readiness available() const override {
        return {false,
                "not built in: CMake did not find SCS; run 'make deps' or set CMAKE_PREFIX_PATH, then build again"};
    }

  private:
    std::unique_ptr<Workspace> setup(conic::ConicProgram, const Settings&) const override {
        throw SolverUnavailable(available().reason);
    }
};

}  // namespace

const Backend& scs_backend() {
    static const ScsStub backend;
    return backend;
}

}  // namespace certicone::solvers
