// CBF: what is written, and what is read, of instances with known answers.
#include <nlohmann/json.hpp>
#include <random>

#include "formats/cbf.hpp"
#include "formats/instance.hpp"
#include "hand_networks.hpp"
#include "run_program.hpp"
#include "verify/examiner.hpp"
#include "verify/known_solution.hpp"
#include "verify/solve_file.hpp"

using namespace certicone;
using namespace certicone::test;
using formats::CbfModel;
using formats::parse_cbf;

namespace {

const solvers::Backend& solver() { return solvers::backend(verify::default_solver()); }

solvers::Solution solve(const CbfModel& model) { return verify::solve_model(model, solver(), {}); }

}  // namespace

TEST_CASE("the text of an instance, by hand") {
    // min 3z + 2 with z − 2 ≥ 0, z ≥ 0 (docs/conventions.md): −z + s = −2.
    conic::Builder builder;
    const Index z = builder.add_columns("z[0]", 1);
    builder.set(builder.add_rows("relu[0]", conic::Cone::Nonnegative, 1), z, -1.0);
    builder.set(builder.add_rows("bound[0]", conic::Cone::Nonnegative, 1), z, -1.0);
    formats::Instance instance{"hand", builder.build(), {}, {}};
    instance.program.b(0) = -2.0;
    instance.program.c(0) = 3.0;
    instance.program.c0 = 2.0;
    CHECK(formats::to_cbf(instance) ==
          "# hand, written by certicone\n# columns from 0: z[0]\n# rows from 0: relu[0]\n# rows from 1: bound[0]\n"
          "VER\n3\n\nOBJSENSE\nMIN\n\nVAR\n1 1\nF 1\n\nCON\n2 2\nL+ 1\nL+ 1\n\nOBJACOORD\n1\n0 3\n\nOBJBCOORD\n2\n\n"
          "ACOORD\n2\n0 0 1\n1 0 1\n\nBCOORD\n1\n0 -2\n");
    const CbfModel model = parse_cbf(formats::to_cbf(instance), "hand");
    const solvers::Solution answer = solve(model);
    CHECK(answer.measured.primal_objective == doctest::Approx(8.0));
    CHECK(model.multipliers(answer.y)(0) == doctest::Approx(3.0));  // ν = c
    CHECK(model.multipliers(answer.y)(1) == doctest::Approx(0.0));
}

TEST_CASE("numbers round-trip exactly") {
    std::mt19937_64 random(7);
    conic::Builder builder;
    builder.add_columns("x", 40);
    builder.add_rows("a", conic::Cone::Zero, 5);
    builder.add_rows("b", conic::Cone::Nonnegative, 7);
    builder.add_rows("c", conic::Cone::SecondOrder, 6);
    builder.add_rows("d", conic::Cone::RotatedSecondOrder, 9);
    for (Index i = 0; i < 27; ++i)
        for (Index j = 0; j < 40; ++j)
            if (random() % 3 == 0) builder.set(i, j, any_double(random));
    formats::Instance instance{"any", builder.build(), {}, {}};
    for (double& entry : instance.program.b)
        entry = any_double(random);
    for (double& entry : instance.program.c)
        entry = any_double(random);
    instance.program.c0 = any_double(random);
    const conic::ConicProgram read = parse_cbf(formats::to_cbf(instance), "any").program;
    const conic::ConicProgram& written = instance.program;
    CHECK(read.b == written.b);
    CHECK(read.c == written.c);
    CHECK(read.c0 == written.c0);
    CHECK(Matrix(read.A) == Matrix(written.A));
    CHECK(read.A.nonZeros() == written.A.nonZeros());
    REQUIRE(read.blocks.size() == 4);
    for (std::size_t k = 0; k < 4; ++k) {
        CHECK(read.blocks[k].cone == written.blocks[k].cone);
        CHECK(read.blocks[k].size == written.blocks[k].size);
    }
}

TEST_CASE("all cones in VAR and CON, MIN and MAX, by known answers") {
    const auto value = [](const std::string& text) {
        const CbfModel model = parse_cbf(text, "cones");
        const solvers::Solution answer = solve(model);
        CHECK(answer.claimed.status == solvers::Status::Solved);
        return model.objective(answer.measured.primal_objective);
    };
    const std::string head = "VER\n3\nOBJSENSE\n";
    // min x with x ≥ 1 as L+ in CON.
    CHECK(value(head + "MIN\nVAR\n1 1\nF 1\nCON\n1 1\nL+ 1\nOBJACOORD\n1\n0 1\nACOORD\n1\n0 0 1\nBCOORD\n1\n0 -1\n") ==
          doctest::Approx(1.0));
    // max −x with 1 − x ≤ 0 as L- in CON: −1; multiplier of minimising x: −1 in a nonpositive row.
    const std::string negative =
        head + "MAX\nVAR\n1 1\nF 1\nCON\n1 1\nL- 1\nOBJACOORD\n1\n0 -1\nACOORD\n1\n0 0 -1\nBCOORD\n1\n0 1\n";
    CHECK(value(negative) == doctest::Approx(-1.0));
    const CbfModel model = parse_cbf(negative, "negative");
    const solvers::Solution answer = solve(model);
    CHECK(model.multipliers(answer.y)(0) == doctest::Approx(-1.0));
    CHECK((model.back(model.multipliers(answer.y)) - answer.y).norm() < 1e-9);
    // max x + 2y, x ≤ 0 as L- in VAR, y = 0 as L= in VAR, constant 4: 4.
    CHECK(value(head + "MAX\nVAR\n2 2\nL- 1\nL= 1\nOBJACOORD\n2\n0 1\n1 2\nOBJBCOORD\n4\n") == doctest::Approx(4.0));
    // min t with (t, 3, 4) ∈ Q in VAR, the tail fixed by L= in CON: 5.
    CHECK(value(head + "MIN\nVAR\n3 1\nQ 3\nCON\n2 1\nL= 2\nOBJACOORD\n1\n0 1\nACOORD\n2\n0 1 1\n1 2 1\nBCOORD\n2\n0 "
                       "-3\n1 -4\n") == doctest::Approx(5.0));
    // min t with (t, s, w) ∈ QR in VAR: 2ts ≥ w², s = ½, w = 3: t = 9. And the same in CON.
    CHECK(value(head + "MIN\nVAR\n3 1\nQR 3\nCON\n2 1\nL= 2\nOBJACOORD\n1\n0 1\nACOORD\n2\n0 1 1\n1 2 1\nBCOORD\n2\n0 "
                       "-0.5\n1 -3\n") == doctest::Approx(9.0));
    CHECK(value(head +
                "MIN\nVAR\n1 1\nF 1\nCON\n3 1\nQR 3\nOBJACOORD\n1\n0 1\nACOORD\n1\n0 0 1\nBCOORD\n2\n1 0.5\n2 3\n") ==
          doctest::Approx(9.0));
    // max x + y on the disk of radius 2 (Q in CON): 2√2.
    CHECK(
        value(head +
              "MAX\nVAR\n2 1\nF 2\nCON\n3 1\nQ 3\nOBJACOORD\n2\n0 1\n1 1\nACOORD\n2\n1 0 1\n2 1 1\nBCOORD\n1\n0 2\n") ==
        doctest::Approx(2.0 * std::sqrt(2.0)));
    // A free row in CON says nothing; Q of one row and QR of two are orthants: min x + y + z ≥ 0 − 0.
    CHECK(value(head + "MIN\nVAR\n3 2\nQ 1\nQR 2\nCON\n1 1\nF 1\nOBJACOORD\n3\n0 1\n1 1\n2 1\nACOORD\n1\n0 0 "
                       "5\nBCOORD\n1\n0 9\n") == doctest::Approx(0.0));
}

TEST_CASE("comments, blanks, line ends and order do not matter") {
    const std::string text =
        "# c\r\nVER\r\n 2 \r\n\r\nCON\r\n1  1\r\nL+ 1\r\n# c\r\nVAR\r\n1\t1\r\nF 1\r\nACOORD\r\n1\r\n0 0 +2e0\r\n"
        "BCOORD\r\n1\r\n0 -4\r\nOBJACOORD\r\n1\r\n0 1\r\nOBJSENSE\r\nMIN";
    CHECK(solve(parse_cbf(text, "crlf")).measured.primal_objective == doctest::Approx(2.0));
}

TEST_CASE("infeasible and unbounded instances are told apart from solved ones") {
    const ScratchFolder folder;
    const std::string head = "VER\n3\nOBJSENSE\nMIN\n";
    const std::string infeasible = file_with(
        folder, "infeasible.cbf",
        head + "VAR\n2 1\nL+ 2\nCON\n1 1\nL= 1\nOBJACOORD\n1\n0 1\nACOORD\n2\n0 0 1\n0 1 1\nBCOORD\n1\n0 1\n");
    const Run run = run_program("solve " + infeasible);
    CHECK(run.code == 1);
    CHECK(contains(run.out, "NOT SOLVED"));
    const std::string unbounded =
        file_with(folder, "unbounded.cbf", head + "VAR\n2 1\nL+ 2\nOBJACOORD\n2\n0 -1\n1 1\n");
    CHECK(run_program("solve " + unbounded).code == 1);
}

TEST_CASE("solve: a value that overflows is no solution, and says where") {
    const ScratchFolder folder;
    const std::string head = "VER\n3\nOBJSENSE\nMIN\nVAR\n2 1\nF 2\n";
    // x = −1e200 at a cost of 1e200 each; and two values of 1e308 whose sum is infinite.
    const std::string product = file_with(folder, "product.cbf",
                                          head +
                                              "CON\n2 1\nL= 2\nOBJACOORD\n2\n0 1e200\n1 1\nACOORD\n2\n0 0 1\n1 1 "
                                              "1\nBCOORD\n1\n0 1e200\n");
    const std::string sum = file_with(folder, "sum.cbf",
                                      head +
                                          "CON\n2 1\nL= 2\nOBJACOORD\n2\n0 1\n1 1\nACOORD\n2\n0 0 1\n1 1 "
                                          "1\nBCOORD\n2\n0 -1e308\n1 -1e308\n");
    for (const std::string& file : {product, sum}) {
        const Run run = run_program("solve " + file);
        CHECK(run.code == 1);
        CHECK_MESSAGE(contains(run.out, "NOT SOLVED: the solver ends with 'solved by presolve, but its objective is "),
                      run.out);
        const auto answer = nlohmann::json::parse(run_program("solve " + file + " --json -").out);
        CHECK(answer["solver"]["solved"] == false);
        CHECK(contains(answer["broken"].get<std::string>(), "its objective is"));
        CHECK(answer["objective"].is_null());
    }
}

TEST_CASE("solve: the exit code follows what is measured, not what the solver says") {
    // The tolerance of the scaled program is met; a cone of weight 1e-6 is not, in the units of the file.
    const ScratchFolder folder;
    const std::string out = (folder / "out").string();
    REQUIRE(run_program("export " + std::string(CERTICONE_DATA_DIR) +
                        "/suite/lambda_range.network.json --program inference --output " + out)
                .code == 0);
    const std::string solve = "solve " + out + "/lambda_range.inference.5.cbf --solver clarabel";
    const auto answer = nlohmann::json::parse(run_program(solve + " --json -").out);
    const bool kept = answer["broken"] == "";
    CHECK(run_program(solve).code == (kept ? 0 : 1));
    CHECK(kept == (answer["measured"]["primal_cone"].get<double>() <= 1e-6));
}

TEST_CASE("solve says what it found, and compares with the known solution") {
    const ScratchFolder folder;
    REQUIRE(
        run_program("export " + paper + "exp3.network.json --program all --format all --output " + folder.path.string())
            .code == 0);
    const std::string stem = (folder / "exp3.value.0").string();
    for (const char* name : {"scs", "clarabel", "highs+clarabel"}) {
        CAPTURE(name);
        const Run run = run_program("solve " + stem + ".cbf --solution " + stem + ".solution.json --solver " + name);
        CHECK(run.code == 0);
        for (const char* part : {"objective  0.43", "measured   primal residual", "a set of dimension 3: membership",
                                 "consistent with the known solution"})
            CHECK_MESSAGE(contains(run.out, part), run.out);
    }
    const std::string text = read_file(stem + ".solution.json");
    // A dual that is not optimal, an objective that is wrong, a file of another instance, and one that is no solution.
    const auto with_solution = [&](const std::string& content) {
        return run_program("solve " + stem + ".cbf --solution " + file_with(folder, "other.json", content));
    };
    CHECK(with_solution(text).code == 0);
    const Run wrong_dual = with_solution(replaced(text, "\"dual\":[0.0,0.8", "\"dual\":[0.0,0.801"));
    CHECK(wrong_dual.code == 1);
    CHECK(contains(wrong_dual.out, "the stored pair is not optimal here: its dual residual"));
    const Run flipped = with_solution(replaced(text, "1.2,0.0,1.5,-0.21", "1.2,0.0,1.5,0.21"));
    CHECK(flipped.code == 1);
    const Run wrong_value = with_solution(replaced(text, "\"objective\":0.435", "\"objective\":0.436"));
    CHECK(wrong_value.code == 1);
    CHECK(contains(wrong_value.out, "the stored objective is 0.436"));
    const Run other = with_solution(read_file((folder / "exp3.relu.0.solution.json").string()));
    CHECK(other.code == 2);
    CHECK(contains(other.err, "the stored pair has 3 columns"));
    CHECK(with_solution("{}").code == 2);
    CHECK(with_solution(replaced(text, "certicone-solution/1", "something/1")).code == 2);
    CHECK(run_program("solve " + stem + ".cbf --solver nonsense").code == 2);
    CHECK(run_program("solve " + stem + ".cbf --solver mosek-fusion").code != 0);
    CHECK(run_program("solve " + stem + ".missing").code == 2);
}

TEST_CASE("solve --option: the solver's own options are reached, wrong ones refused, also where presolve solves all") {
    const ScratchFolder folder;
    const std::string head = "VER\n3\nOBJSENSE\nMIN\nVAR\n1 1\nF 1\nCON\n";
    const std::string easy = file_with(  // min x, x = 1
        folder, "easy.cbf", head + "1 1\nL= 1\nOBJACOORD\n1\n0 1\nACOORD\n1\n0 0 1\nBCOORD\n1\n0 -1\n");
    const std::string norm = file_with(  // min x, |(3, 4)| <= x + 1
        folder, "norm.cbf", head + "3 1\nQ 3\nOBJACOORD\n1\n0 1\nACOORD\n1\n0 0 1\nBCOORD\n3\n0 1\n1 3\n2 4\n");
    for (const std::string& file : {easy, norm}) {
        const std::string solve = "solve " + file + " --solver scs --option ";
        CHECK(run_program(solve + "acceleration_lookback=0 --option scale=1").code == 0);
        const auto refused = [&](const std::string& arguments, const std::string& why) {
            const Run run = run_program("solve " + file + arguments);
            CHECK(run.code == 2);
            CHECK_MESSAGE(contains(run.err, why), run.err);
        };
        refused(" --solver scs --option speed=1", "solver 'scs' has no option 'speed'; it has: normalize, ");
        refused(" --solver scs --option scale=1x", "scale='1x' is not a number");
        refused(" --solver scs --option scale", "NAME=VALUE expected");
        refused(" --option scale=1", "name it with --solver");
    }
    const auto iterations = [&](const std::string& option) {
        return nlohmann::json::parse(
                   run_program("solve " + norm + " --solver scs --json - " + option).out)["solver"]["iterations"]
            .get<int>();
    };
    CHECK(iterations("") != iterations("--option alpha=0.1"));
}

TEST_CASE("solve --json: a program reads objective, pair and comparison") {
    const ScratchFolder folder;
    const std::string out = (folder / "out").string(), stem = out + "/exp3.value.0";
    REQUIRE(
        run_program("export " + std::string(CERTICONE_DATA_DIR) + "/paper/exp3.network.json --output " + out).code ==
        0);
    const std::string solve = "solve " + stem + ".cbf --solver scs --solution " + stem + ".solution.json --json ";
    const Run run = run_program(solve + "-");
    REQUIRE(run.code == 0);
    const auto answer = nlohmann::json::parse(run.out);  // nothing else on standard output
    CHECK(answer["format"] == "certicone-solve/1");
    CHECK(answer["instance"]["variables"] == 9);
    CHECK(answer["solver"]["solved"] == true);
    CHECK(answer["broken"] == "");
    CHECK(answer["objective"].get<double>() == doctest::Approx(0.435).epsilon(1e-8));
    CHECK(answer["primal"].size() == 9);
    CHECK(answer["dual"].size() == 17);
    CHECK(answer["known"]["consistent"] == true);
    CHECK(answer["known"]["dual_unique"] == false);
    CHECK(answer["known"]["objective_error"].get<double>() <= answer["known"]["bound"].get<double>());
    const Run both = run_program(solve + (folder / "answer.json").string());
    CHECK(contains(both.out, "consistent with the known solution"));
    CHECK(nlohmann::json::parse(read_file((folder / "answer.json").string()))["dual"] == answer["dual"]);
}
