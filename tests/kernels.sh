#!/usr/bin/env bash
# Runs the tests of a build once with each BLAS kernel that this processor can run, and prints a table.
#
#   tests/kernels.sh [--others N] [--eigen FOLDER] BUILD [OPTION OF CTEST]…
#
#   --others N      only N kernels beside the one that the library chooses by itself: the least and the greatest first
#   --eigen FOLDER  then those of the build FOLDER, which has Eigen's own kernels
#
# The library falls back in silence where it does not know a name or the processor lacks what the kernel needs, so it is asked
# in a process of its own which kernel it took; two names of one kernel are run once. Exit code 1 if any test is red.
set -euo pipefail

others=0 eigen=''
while [[ ${1:-} == --* ]]; do
    case $1 in
        --others) others=$2 ;;
        --eigen) eigen=$2 ;;
        *) echo "kernels.sh: $1?" >&2; exit 2 ;;
    esac
    shift 2
done
build=$1
shift
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=${JOBS:-$(nproc)}

# What OPENBLAS_CORETYPE can ask for, the least first, with the processor's flags without which it must not be tried.
candidates() {
    case $(uname -m) in
        x86_64)
            printf '%s\n' 'Prescott pni' 'Nehalem sse4_2' 'Sandybridge avx' 'Haswell avx2 fma' 'Zen avx2 fma' \
                'SkylakeX avx512f avx512dq avx512bw avx512vl' 'Cooperlake avx512_bf16' 'SapphireRapids amx_bf16'
            ;;
        aarch64) printf '%s\n' ARMV8 NEOVERSEN1 'NEOVERSEV1 sve' 'ARMV8SVE sve' ;;
    esac
}

has_flags() {
    local flag
    for flag in "$@"; do
        grep -qwm1 "$flag" /proc/cpuinfo || return 1
    done
}

# The kernel that BUILD runs with; nothing where it cannot.
kernel_of() {
    "$1/certicone" certify "$root/data/paper/exp3.network.json" --solver none --referee none --json - 2>/dev/null |
        sed -n 's/.*"blas_kernel":"\([^"]*\)".*/\1/p' | head -n 1
}

table=$(mktemp)
trap 'rm -f "$table" "$table.log"' EXIT
red=0

# run LABEL BUILD [OPTION OF CTEST]…: one line of the table.
run() {
    local label=$1 folder=$2 start=$SECONDS code=0 failed
    shift 2
    echo "== $label"
    ctest --test-dir "$folder" --parallel "$jobs" --output-on-failure "$@" >"$table.log" 2>&1 || code=$?
    failed=$(sed -n '/^The following tests FAILED:/,$s/^\t *[0-9]* - \([^ ]*\) (.*/\1/p' "$table.log" | tr '\n' ' ')
    if ((code != 0)); then
        red=1
        cat "$table.log"
    fi
    printf '%-32s %6s %6s %8s %6d s   %s\n' "$label" \
        "$(sed -n 's/.* failed out of \([0-9]*\)$/\1/p' "$table.log")" \
        "$(sed -n 's/.* tests passed, \([0-9]*\) tests failed .*/\1/p' "$table.log")" \
        "$(grep -c '(Skipped)$' "$table.log" || true)" $((SECONDS - start)) \
        "$( ((code == 0)) && echo green || echo "RED: $failed")" >>"$table"
    tail -n 1 "$table"
}

own=$(unset OPENBLAS_CORETYPE; kernel_of "$build")
names=() kernels=()
while read -r name flags; do
    # shellcheck disable=SC2086  # flags are words
    has_flags $flags || continue
    kernel=$(OPENBLAS_CORETYPE=$name kernel_of "$build" || true)
    [[ -n $kernel && " ${kernels[*]:-} " != *" $kernel "* ]] || continue
    names+=("$name")
    kernels+=("$kernel")
done < <(candidates)

if ((others > 0)); then
    chosen=()
    for ((low = 0, high = ${#names[@]} - 1; low <= high && ${#chosen[@]} < others; )); do
        if [[ ${kernels[low]} == "$own" ]]; then
            ((++low))
        elif [[ ${kernels[high]} == "$own" ]]; then
            ((high--)) || true
        elif ((${#chosen[@]} % 2 == 0)); then
            chosen+=($((low++)))
        else
            chosen+=($((high--)))
        fi
    done
else
    chosen=("${!names[@]}")
fi

for k in "${chosen[@]}"; do
    label=${names[k]}
    [[ ${kernels[k],,} == "${label,,}" ]] || label+=" (${kernels[k]})"
    [[ ${kernels[k]} == "$own" ]] && label+=', the default'
    OPENBLAS_CORETYPE=${names[k]} run "$label" "$build" "$@"
done
[[ -z $eigen ]] || run "Eigen's own" "$eigen" "$@"

printf '\n%-32s %6s %6s %8s %8s\n' kernel tests failed skipped time
cat "$table"
exit $red
