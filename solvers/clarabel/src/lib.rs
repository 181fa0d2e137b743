//! Clarabel for C: create, update b or q, solve, free. Nothing is printed, and no panic crosses the border.
//!
//! minimise ½ xᵀPx + qᵀx  subject to  Ax + s = b, s ∈ K;   z ∈ K*,  Px + Aᵀz + q = 0
//!
//! The declarations for C stand in ../certicone_clarabel.h.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SolverStatus, SupportedConeT,
    ZeroConeT,
};
use std::ffi::{c_char, c_int};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Once;
use std::time::Instant;

/// Compressed columns, indices from 0.
#[repr(C)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    starts: *const c_int,
    row_indices: *const c_int,
    values: *const f64,
}

/// kind: 0 zero, 1 nonnegative, 2 second-order.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Cone {
    kind: c_int,
    size: usize,
}

#[repr(C)]
pub struct Settings {
    tol_gap_abs: f64,
    tol_gap_rel: f64,
    tol_feas: f64,
    max_iterations: u32,
    /// Seconds a solve, setup not counted; infinite: none.
    time_limit: f64,
    equilibrate_max_iterations: u32,
    max_step_fraction: f64,
    static_regularization: f64,
    refinement_max_iterations: u32,
    refinement_stop_ratio: f64,
    tol_infeas_abs: f64,
    tol_infeas_rel: f64,
}

#[repr(C)]
pub struct Answer {
    /// SolverStatus in its own order.
    status: c_int,
    iterations: u32,
    seconds: f64,
    primal_objective: f64,
    dual_objective: f64,
    primal_residual: f64,
    dual_residual: f64,
}

pub struct Workspace {
    solver: DefaultSolver<f64>,
}

/// Runs `body`; an error or a panic goes as text into `message` (`capacity` bytes, ended by 0), and the result is None.
fn guarded<T>(message: *mut c_char, capacity: usize, body: impl FnOnce() -> Result<T, String>) -> Option<T> {
    static SILENCE: Once = Once::new();
    SILENCE.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    let error = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => return Some(value),
        Ok(Err(error)) => error,
        Err(panic) => match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(text), _) => text.to_string(),
            (_, Some(text)) => text.clone(),
            _ => "panic".to_string(),
        },
    };
    if !message.is_null() && capacity > 0 {
        let length = error.len().min(capacity - 1);
        unsafe {
            std::ptr::copy_nonoverlapping(error.as_ptr().cast::<c_char>(), message, length);
            *message.add(length) = 0;
        }
    }
    None
}

unsafe fn slice<'a, T>(data: *const T, length: usize) -> &'a [T] {
    if length == 0 {
        &[]
    } else {
        std::slice::from_raw_parts(data, length)
    }
}

unsafe fn matrix(view: &Matrix) -> Result<CscMatrix<f64>, String> {
    let indices = |from: &[c_int]| from.iter().map(|&i| i as usize).collect::<Vec<_>>();
    let starts = indices(slice(view.starts, view.columns + 1));
    let entries = starts[view.columns];
    let matrix = CscMatrix {
        m: view.rows,
        n: view.columns,
        colptr: starts,
        rowval: indices(slice(view.row_indices, entries)),
        nzval: slice(view.values, entries).to_vec(),
    };
    matrix.check_format().map_err(|error| error.to_string())?;
    Ok(matrix)
}

fn cone(cone: &Cone) -> Result<SupportedConeT<f64>, String> {
    match cone.kind {
        0 => Ok(ZeroConeT(cone.size)),
        1 => Ok(NonnegativeConeT(cone.size)),
        2 => Ok(SecondOrderConeT(cone.size)),
        kind => Err(format!("no cone of kind {kind}")),
    }
}

fn translate(settings: &Settings) -> DefaultSettings<f64> {
    DefaultSettings {
        verbose: false,
        tol_gap_abs: settings.tol_gap_abs,
        tol_gap_rel: settings.tol_gap_rel,
        tol_feas: settings.tol_feas,
        max_iter: settings.max_iterations,
        time_limit: settings.time_limit,
        equilibrate_enable: settings.equilibrate_max_iterations > 0,
        equilibrate_max_iter: settings.equilibrate_max_iterations,
        max_step_fraction: settings.max_step_fraction,
        static_regularization_constant: settings.static_regularization,
        iterative_refinement_max_iter: settings.refinement_max_iterations,
        iterative_refinement_stop_ratio: settings.refinement_stop_ratio,
        tol_infeas_abs: settings.tol_infeas_abs,
        tol_infeas_rel: settings.tol_infeas_rel,
        direct_solve_method: "qdldl".to_string(),
        max_threads: 1,
        // Both forbid updates of the data once they find something to drop.
        presolve_enable: false,
        input_sparse_dropzeros: false,
        ..DefaultSettings::default()
    }
}

/// Null on failure, with the reason in `message`. P holds its upper triangle; nothing is kept of the caller's memory.
///
/// # Safety
/// Pointers must be valid for the sizes that the matrices and `cone_count` state.
#[no_mangle]
#[allow(non_snake_case)]
pub unsafe extern "C" fn certicone_clarabel_create(
    P: *const Matrix,
    q: *const f64,
    A: *const Matrix,
    b: *const f64,
    cones: *const Cone,
    cone_count: usize,
    settings: *const Settings,
    message: *mut c_char,
    capacity: usize,
) -> *mut Workspace {
    guarded(message, capacity, || {
        let (P, A) = (matrix(&*P)?, matrix(&*A)?);
        let (q, b) = (slice(q, A.n), slice(b, A.m));
        let cones: Result<Vec<_>, _> = slice(cones, cone_count).iter().map(cone).collect();
        let mut settings = translate(&*settings);
        let start = Instant::now();
        let mut solver = DefaultSolver::new(&P, q, &A, b, &cones?, settings.clone()).map_err(|e| e.to_string())?;
        // Clarabel counts the setup into the time of every solve.
        settings.time_limit += start.elapsed().as_secs_f64();
        solver.update_settings(settings).map_err(|e| e.to_string())?;
        // The setup scales b and q step by step, an update at once: the same digits either way only by updating always.
        solver.update_b(&b.to_vec()).map_err(|e| e.to_string())?;
        solver.update_q(&q.to_vec()).map_err(|e| e.to_string())?;
        Ok(Box::into_raw(Box::new(Workspace { solver })))
    })
    .unwrap_or(std::ptr::null_mut())
}

/// New b (m numbers) and q (n numbers); null leaves one as it is. 0 on success.
///
/// # Safety
/// `workspace` comes from `certicone_clarabel_create`.
#[no_mangle]
pub unsafe extern "C" fn certicone_clarabel_update(
    workspace: *mut Workspace,
    b: *const f64,
    q: *const f64,
    message: *mut c_char,
    capacity: usize,
) -> c_int {
    let updated = guarded(message, capacity, || {
        let solver = &mut (*workspace).solver;
        if !b.is_null() {
            let b = slice(b, solver.data.m).to_vec();
            solver.update_b(&b).map_err(|error| error.to_string())?;
        }
        if !q.is_null() {
            let q = slice(q, solver.data.n).to_vec();
            solver.update_q(&q).map_err(|error| error.to_string())?;
        }
        Ok(())
    });
    c_int::from(updated.is_none())
}

/// Solves from scratch and fills x (n), s and z (m) and the answer. 0 on success, whatever the status is; after a
/// failure the workspace must only be freed.
///
/// Now and then (QPs with second-order cones, one in a hundred at 1e-9) the residuals grow again at the very end, and
/// the solver gives up. Then it is run once more with shorter steps, within what is left of the limits.
///
/// # Safety
/// `workspace` comes from `certicone_clarabel_create`; the vectors hold as many numbers as its matrices say.
#[no_mangle]
pub unsafe extern "C" fn certicone_clarabel_solve(
    workspace: *mut Workspace,
    x: *mut f64,
    s: *mut f64,
    z: *mut f64,
    answer: *mut Answer,
    message: *mut c_char,
    capacity: usize,
) -> c_int {
    let solved = guarded(message, capacity, || {
        let solver = &mut (*workspace).solver;
        let start = Instant::now();
        let write = |solver: &DefaultSolver<f64>, earlier_iterations: u32| {
            let solution = &solver.solution;
            for (from, to) in [(&solution.x, x), (&solution.s, s), (&solution.z, z)] {
                std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len());
            }
            *answer = Answer {
                status: solution.status as c_int,
                iterations: earlier_iterations + solution.iterations,
                seconds: start.elapsed().as_secs_f64(),
                primal_objective: solution.obj_val,
                dual_objective: solution.obj_val_dual,
                primal_residual: solution.r_prim,
                dual_residual: solution.r_dual,
            };
        };
        solver.solve();
        write(solver, 0);

        let asked = solver.settings().clone();
        let mut shorter = asked.clone();
        shorter.max_step_fraction = asked.max_step_fraction.min(0.9);
        shorter.time_limit -= (*answer).seconds;
        shorter.max_iter -= (*answer).iterations.min(asked.max_iter);
        let gave_up = !conclusive(solver.solution.status) && solver.solution.status != SolverStatus::MaxTime;
        if gave_up && shorter.max_iter > 0 {
            solver.update_settings(shorter).map_err(|error| error.to_string())?;
            solver.solve();
            if conclusive(solver.solution.status) {
                write(solver, (*answer).iterations);
            }
            solver.update_settings(asked).map_err(|error| error.to_string())?;
        }
        Ok(())
    });
    c_int::from(solved.is_none())
}

fn conclusive(status: SolverStatus) -> bool {
    matches!(
        status,
        SolverStatus::Solved | SolverStatus::PrimalInfeasible | SolverStatus::DualInfeasible
    )
}

/// # Safety
/// `workspace` comes from `certicone_clarabel_create` and is not used any more.
#[no_mangle]
pub unsafe extern "C" fn certicone_clarabel_free(workspace: *mut Workspace) {
    if !workspace.is_null() {
        let _ = guarded(std::ptr::null_mut(), 0, || {
            drop(Box::from_raw(workspace));
            Ok(())
        });
    }
}

/// The version of the clarabel inside.
#[no_mangle]
pub extern "C" fn certicone_clarabel_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

// The numbers that ../certicone_clarabel.h gives to SolverStatus.
const _: () = {
    assert!(SolverStatus::Unsolved as c_int == 0);
    assert!(SolverStatus::Solved as c_int == 1);
    assert!(SolverStatus::PrimalInfeasible as c_int == 2);
    assert!(SolverStatus::DualInfeasible as c_int == 3);
    assert!(SolverStatus::AlmostSolved as c_int == 4);
    assert!(SolverStatus::AlmostPrimalInfeasible as c_int == 5);
    assert!(SolverStatus::AlmostDualInfeasible as c_int == 6);
    assert!(SolverStatus::MaxIterations as c_int == 7);
    assert!(SolverStatus::MaxTime as c_int == 8);
    assert!(SolverStatus::NumericalError as c_int == 9);
    assert!(SolverStatus::InsufficientProgress as c_int == 10);
    assert!(SolverStatus::CallbackTerminated as c_int == 11);
};
