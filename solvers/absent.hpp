// A backend whose library is not there: it takes the real one's place in the registry and says what to do.
#pragma once

#include "solvers/solver.hpp"
#include "support/error.hpp"

namespace certicone::solvers {

class AbsentBackend final : public Backend {
  public:
    AbsentBackend(std::string_view name, std::string reason) : name_(name), reason_(std::move(reason)) {}

    std::string_view name() const override { return name_; }
    std::string version() const override { return "-"; }
    Capabilities capabilities() const override { return {}; }
    std::span<const Option> options() const override { return {}; }
    Readiness available() const override { return {false, "not built in: " + reason_}; }

  private:
    std::unique_ptr<Workspace> setup(conic::ConicProgram, const Settings&) const override {
        throw SolverUnavailable(available().reason);
    }

    std::string_view name_;
    std::string reason_;
};

}  // namespace certicone::solvers
