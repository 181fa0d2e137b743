/* The C interface of this crate; src/lib.rs says what each function does. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct certicone_clarabel certicone_clarabel;

typedef struct {
    size_t rows, columns;
    const int* starts;
    const int* row_indices;
    const double* values;
} certicone_clarabel_matrix;

enum { CERTICONE_CLARABEL_ZERO = 0, CERTICONE_CLARABEL_NONNEGATIVE = 1, CERTICONE_CLARABEL_SECOND_ORDER = 2 };

typedef struct {
    int kind;
    size_t size;
} certicone_clarabel_cone;

typedef struct {
    double tol_gap_abs;
    double tol_gap_rel;
    double tol_feas;
    uint32_t max_iterations;
    double time_limit;
    uint32_t equilibrate_max_iterations;
    double max_step_fraction;
    double static_regularization;
    uint32_t refinement_max_iterations;
    double refinement_stop_ratio;
    double tol_infeas_abs;
    double tol_infeas_rel;
} certicone_clarabel_settings;

/* Clarabel's SolverStatus. */
enum {
    CERTICONE_CLARABEL_UNSOLVED = 0,
    CERTICONE_CLARABEL_SOLVED,
    CERTICONE_CLARABEL_PRIMAL_INFEASIBLE,
    CERTICONE_CLARABEL_DUAL_INFEASIBLE,
    CERTICONE_CLARABEL_ALMOST_SOLVED,
    CERTICONE_CLARABEL_ALMOST_PRIMAL_INFEASIBLE,
    CERTICONE_CLARABEL_ALMOST_DUAL_INFEASIBLE,
    CERTICONE_CLARABEL_MAX_ITERATIONS,
    CERTICONE_CLARABEL_MAX_TIME,
    CERTICONE_CLARABEL_NUMERICAL_ERROR,
    CERTICONE_CLARABEL_INSUFFICIENT_PROGRESS,
    CERTICONE_CLARABEL_CALLBACK_TERMINATED
};

typedef struct {
    int status;
    uint32_t iterations;
    double seconds;
    double primal_objective, dual_objective;
    double primal_residual, dual_residual;
} certicone_clarabel_answer;

certicone_clarabel* certicone_clarabel_create(const certicone_clarabel_matrix* P, const double* q,
                                              const certicone_clarabel_matrix* A, const double* b,
                                              const certicone_clarabel_cone* cones, size_t cone_count,
                                              const certicone_clarabel_settings* settings, char* message,
                                              size_t capacity);
int certicone_clarabel_update(certicone_clarabel* workspace, const double* b, const double* q, char* message,
                              size_t capacity);
int certicone_clarabel_solve(certicone_clarabel* workspace, double* x, double* s, double* z,
                             certicone_clarabel_answer* answer, char* message, size_t capacity);
void certicone_clarabel_free(certicone_clarabel* workspace);
const char* certicone_clarabel_version(void);

#ifdef __cplusplus
}
#endif
