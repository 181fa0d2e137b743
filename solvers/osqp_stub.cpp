#include "solvers/osqp.hpp"
#include "support/error.hpp"

namespace certicone::solvers {

namespace {

class OsqpStub final : public Backend {
  public:
    std::string_view name() const override { return "osqp"; }
    std::string version() const override { return "-"; }
    Capabilities capabilities() const override { return {}; }
    std::span<const Option> options() const override { return {}; }
    Readiness available() const override {
        return {false,
                "not built in: CMake did not find OSQP; run 'make deps' or set CMAKE_PREFIX_PATH, then build again"};
    }

  private:
    std::unique_ptr<Workspace> setup(conic::ConicProgram, const Settings&) const override {
        throw SolverUnavailable(available().reason);
    }
};

}  // namespace

const Backend& osqp_backend() {
    static const OsqpStub backend;
    return backend;
}

}  // namespace certicone::solvers
