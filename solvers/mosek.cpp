// The backend "mosek": libmosek64 with a licence, nothing else. The translation is in solvers/mosek_runtime.cpp.
#include "solvers/mosek_runtime.hpp"
#include "support/error.hpp"

namespace certicone::solvers {

namespace {

using conic::Cone;
using conic::ConicProgram;

class MosekWorkspace final : public Workspace {
  public:
    MosekWorkspace(ConicProgram program_in, const Settings& settings)
        : Workspace(std::move(program_in)), settings_(settings), task_(program()) {
        task_.update_constant(0.0);  // Workspace adds it
    }

  private:
    Solution run(bool /*warm*/, bool b_changed, bool c_changed) override {
        if (b_changed) task_.update_b(program().b);
        if (c_changed) task_.update_c(program().c);
        return task_.solve(settings_);
    }

    Settings settings_;
    mosek::Task task_;
};

class Mosek final : public Backend {
  public:
    std::string_view name() const override { return "mosek"; }
    std::string version() const override { return mosek::runtime_version(); }
    Capabilities capabilities() const override {
        return {{Cone::Zero, Cone::Nonnegative, Cone::SecondOrder, Cone::RotatedSecondOrder}, true, true, true, false};
    }
    std::span<const Option> options() const override { return {}; }
    Readiness available() const override {
        const Readiness found = mosek::runtime();
        return {found.ready, (found.ready ? "" : "not available: ") + found.reason};
    }
    Readiness enabled() const override { return mosek::licence(); }

  private:
    std::unique_ptr<Workspace> setup(ConicProgram program, const Settings& settings) const override {
        return std::make_unique<MosekWorkspace>(std::move(program), settings);
    }
};

}  // namespace

const Backend& mosek_backend() {
    static const Mosek backend;
    return backend;
}

}  // namespace certicone::solvers
