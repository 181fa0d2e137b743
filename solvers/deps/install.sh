#!/usr/bin/env bash
# Installs what Certicone needs and is not there yet: Debian packages, and solvers built from pinned sources into .deps.
# Each solver is one function that ends in a prefix .deps/<name>, which CMakeLists.txt looks into.
#
#   CERTICONE_SKIP_APT=1   leave the Debian packages alone (their libraries come from elsewhere)
#   PYTHON=python3         the Python whose pip downloads sources
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
deps=$root/.deps
python=${PYTHON:-python3}
jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)

debian_packages=(
    libeigen3-dev doctest-dev nlohmann-json3-dev libcli11-dev libfmt-dev libopenblas-dev libflint-dev libflint-arb-dev
)

say() { printf 'deps: %s\n' "$*"; }

die() {
    printf 'deps: %s\n' "$@" >&2
    exit 1
}

# ---- Debian packages ------------------------------------------------------------------------------------------------

# The installed version of a package; nothing when it is not installed.
installed_version() {
    # shellcheck disable=SC2016  # ${…} is dpkg-query's own syntax
    dpkg-query --show --showformat='${db:Status-Status} ${Version}\n' "$1" 2>/dev/null | sed -n 's/^installed //p' || true
}

missing_packages() {
    local package
    for package in "${debian_packages[@]}"; do
        [[ -n $(installed_version "$package") ]] && continue
        # FLINT 3 contains Arb.
        [[ $package == libflint-arb-dev ]] &&
            dpkg --compare-versions "$(installed_version libflint-dev)" ge 3 2>/dev/null && continue
        echo "$package"
    done
}

install_debian_packages() {
    if [[ ${CERTICONE_SKIP_APT:-0} == 1 ]]; then
        say "Debian packages: left alone (CERTICONE_SKIP_APT=1)"
        return
    fi
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        die "no apt-get here; please install what these Debian packages hold, then run again with CERTICONE_SKIP_APT=1:" \
            "${debian_packages[*]}"
    fi

    local missing as_root=()
    mapfile -t missing < <(missing_packages)
    if ((${#missing[@]} == 0)); then
        say "Debian packages: all in place"
        return
    fi
    if ((EUID != 0)); then
        command -v sudo >/dev/null || die "neither root nor sudo; please have these installed: ${missing[*]}"
        as_root=(sudo)
    fi
    as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get --quiet=2)

    say "Debian packages: installing ${missing[*]}"
    "${as_root[@]}" update
    if ! apt-cache show libflint-arb-dev >/dev/null 2>&1; then  # a release with FLINT 3
        mapfile -t missing < <(printf '%s\n' "${missing[@]}" | grep -vx libflint-arb-dev)
    fi
    "${as_root[@]}" install --yes --no-install-recommends "${missing[@]}" >/dev/null
    say "Debian packages: installed"
}

# ---- solvers from source --------------------------------------------------------------------------------------------

# in_place NAME STAMP: is .deps/NAME there, built from exactly what STAMP says?
in_place() {
    [[ -f $deps/$1/.stamp && $(<"$deps/$1/.stamp") == "$2" ]]
}

# put_in_place NAME STAMP PREFIX: the finished PREFIX becomes .deps/NAME in one step.
put_in_place() {
    printf '%s\n' "$2" >"$3/.stamp"
    rm -rf "${deps:?}/$1"
    mv "$3" "$deps/$1"
}

# quietly COMMAND…: shows the command's output only when it fails.
quietly() {
    "$@" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        die "failed: $*"
    }
}

# pip_source NAME: downloads the source package pinned in NAME.txt, checks its hash, unpacks it into $work/NAME.
pip_source() {
    command -v "$python" >/dev/null || die "$python not found: Python 3 with pip is needed to download $1"
    quietly env PYTHONPATH="$here/metadata" PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 \
        "$python" -m pip download --no-input --no-deps --no-build-isolation --no-binary "$1" \
        --require-hashes --requirement "$here/$1.txt" --dest "$work/download"
    mkdir "$work/$1"
    tar -xzf "$work/download/$1"-*.tar.gz -C "$work/$1" --strip-components=1
}

install_scs() {
    local options=(-DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON
        -DUSE_LAPACK=ON -DCMAKE_INSTALL_LIBDIR=lib)
    local pin stamp name
    pin=$(<"$here/scs.txt")
    stamp="$pin ${options[*]}"
    name=${pin%% *}
    if in_place scs "$stamp"; then
        say "$name: in place"
        return
    fi

    say "$name: downloading"
    pip_source scs
    say "$name: building"
    quietly cmake -S "$work/scs/scs_source" -B "$work/build" "${options[@]}" -DCMAKE_INSTALL_PREFIX="$work/prefix"
    quietly cmake --build "$work/build" --parallel "$jobs"
    quietly cmake --install "$work/build"
    put_in_place scs "$stamp" "$work/prefix"
    say "$name: built"
}

# ---------------------------------------------------------------------------------------------------------------------

unset MAKEFLAGS MFLAGS  # a `make -j` above us does not concern the builds below
mkdir -p "$deps"
exec 9>"$deps/.lock"
if command -v flock >/dev/null; then flock 9; fi  # one run at a time
rm -rf "$deps"/work.*                             # what a killed run left
work=$(mktemp -d "$deps/work.XXXXXX")
trap 'rm -rf "$work"' EXIT

install_debian_packages
install_scs
