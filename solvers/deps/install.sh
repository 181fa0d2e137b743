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
    libgmp-dev zlib1g-dev
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

# crate_sources NAME: downloads the Rust crates pinned in NAME.crates.txt (lines "crate version sha256"), checks their
# hashes and leaves each in $work/NAME.crates/<crate>-<version>, a folder that cargo can use as a source. Crates they
# depend on are kept only if pinned as well.
crate_sources() {
    local crate version hash project=$work/$1.project
    command -v cargo >/dev/null || die "cargo not found: it is needed to download $1"
    mkdir -p "$project/src" "$work/$1.crates"
    touch "$project/src/lib.rs"
    {
        printf '[package]\nname = "pins"\nversion = "0.0.0"\nedition = "2021"\n\n[dependencies]\n'
        while read -r crate version hash; do
            printf '%s = { package = "%s", version = "=%s", default-features = false }\n' \
                "$crate-${version//./_}" "$crate" "$version"
        done <"$here/$1.crates.txt"
    } >"$project/Cargo.toml"
    quietly cargo vendor --versioned-dirs --manifest-path "$project/Cargo.toml" "$project/vendor"
    while read -r crate version hash; do
        grep -q "\"package\":\"$hash\"" "$project/vendor/$crate-$version/.cargo-checksum.json" ||
            die "$crate $version is not the one pinned in $1.crates.txt: its SHA-256 differs"
        mv "$project/vendor/$crate-$version" "$work/$1.crates/"
    done <"$here/$1.crates.txt"
}

# pip_wheel NAME OPTION…: downloads the wheel pinned in NAME.txt for the platform that the options of pip name, checks
# its hash, unpacks it into $work/NAME.wheel.
pip_wheel() {
    local name=$1
    shift
    quietly "$python" -m pip download --disable-pip-version-check --no-input --no-deps --only-binary :all: "$@" \
        --require-hashes --requirement "$here/$name.txt" --dest "$work/$name.download"
    quietly "$python" -m zipfile -e "$work/$name.download"/*.whl "$work/$name.wheel"
}

# A current OpenBLAS, which knows processors that Debian's does not: the library and headers of its Python wheel.
# solvers/deps/openblas-config.cmake makes a CMake package of them that knows the names of its symbols.
install_openblas() {
    local stamp name machine prefix=$work/openblas.prefix
    machine=$(uname -s)-$(uname -m)
    stamp="$(<"$here/openblas.txt") $(<"$here/openblas-config.cmake") $machine"
    name=$(cut -d ' ' -f 1 "$here/openblas.txt")
    if in_place openblas "$stamp"; then
        say "$name: in place"
        return
    fi
    if [[ $machine != Linux-x86_64 && $machine != Linux-aarch64 ]]; then
        say "$name: left out, for no library is pinned for $machine: the system's BLAS is used"
        return
    fi

    say "$name: downloading"
    pip_wheel openblas --platform "manylinux_2_28_${machine#*-}"
    mkdir -p "$prefix/lib/cmake/openblas"
    mv "$work/openblas.wheel/scipy_openblas32/lib/libscipy_openblas.so" "$prefix/lib/"
    mv "$work/openblas.wheel/scipy_openblas32/include" "$prefix/"
    mv "$work"/openblas.wheel/*.dist-info/licenses/LICENSE.txt "$prefix/lib/"
    cp "$here/openblas-config.cmake" "$prefix/lib/cmake/openblas/"
    put_in_place openblas "$stamp" "$prefix"
    say "$name: unpacked"
}

install_scs() {
    local options=(-DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON
        -DUSE_LAPACK=ON -DCMAKE_INSTALL_LIBDIR=lib)
    local pin stamp name blas="the system's BLAS"
    [[ -f $deps/openblas/.stamp ]] && blas=$(<"$deps/openblas/.stamp")
    pin=$(<"$here/scs.txt")
    stamp="$pin ${options[*]} without CTRLC, with $blas"
    name=${pin%% *}
    if in_place scs "$stamp"; then
        say "$name: in place"
        return
    fi

    say "$name: downloading"
    pip_source scs
    # Its own Ctrl-C listener swaps process-wide handlers at every solve, which several threads cannot share.
    sed -i 's/-DCTRLC//' "$work/scs/scs_source/CMakeLists.txt"
    if [[ -f $deps/openblas/.stamp ]]; then  # one BLAS in the process, with one pool of threads
        options+=(-DOpenBLAS_DIR="$deps/openblas/lib/cmake/openblas")
        sed -i 's/^\( *\)list(APPEND LAPACK_LINK_LIBRARIES .*/\1find_package(OpenBLAS REQUIRED)\n'\
'\1list(APPEND LAPACK_LINK_LIBRARIES OpenBLAS::OpenBLAS)/' "$work/scs/scs_source/CMakeLists.txt"
    fi
    say "$name: building"
    quietly cmake -S "$work/scs/scs_source" -B "$work/build" "${options[@]}" -DCMAKE_INSTALL_PREFIX="$work/prefix"
    quietly cmake --build "$work/build" --parallel "$jobs"
    quietly cmake --install "$work/build"
    put_in_place scs "$stamp" "$work/prefix"
    say "$name: built"
}

# Clarabel's crates, and the Cargo.lock that only they satisfy; CMake builds them with solvers/clarabel.
install_clarabel() {
    local stamp name version oldest=1.70
    stamp="$(<"$here/clarabel.crates.txt") $(<"$here/../clarabel/Cargo.toml")"
    name=clarabel-$(sed -n 's/^clarabel \([^ ]*\) .*/\1/p' "$here/clarabel.crates.txt")
    if in_place clarabel "$stamp"; then
        say "$name: in place"
        return
    fi
    version=$(cargo --version 2>/dev/null | cut -d ' ' -f 2) || true
    if [[ $(printf '%s\n' "$oldest" "${version:-0}" | sort --version-sort | head -n 1) != "$oldest" ]]; then
        say "$name: left out, for it needs cargo $oldest or newer (found: ${version:-none})"
        return
    fi

    say "$name: downloading"
    crate_sources clarabel
    mkdir -p "$work/clarabel.prefix/src"
    mv "$work/clarabel.crates" "$work/clarabel.prefix/crates"
    cp "$here/../clarabel/Cargo.toml" "$work/clarabel.prefix/"
    touch "$work/clarabel.prefix/src/lib.rs"
    quietly cargo generate-lockfile --offline --manifest-path "$work/clarabel.prefix/Cargo.toml" \
        --config "source.crates-io.replace-with = 'pinned'" \
        --config "source.pinned.directory = '$work/clarabel.prefix/crates'"
    rm -r "$work/clarabel.prefix/src" "$work/clarabel.prefix/Cargo.toml"
    put_in_place clarabel "$stamp" "$work/clarabel.prefix"
    say "$name: downloaded"
}

# OSQP's C sources are in its Rust crate; the linear solver they fetch at build time, QDLDL, is pinned by itself.
# Profiling stays on, for without it OSQP has no time limit.
install_osqp() {
    local options=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib -DOSQP_VERSION=1.0.0 -DOSQP_USE_LONG=OFF
        -DOSQP_BUILD_SHARED_LIB=OFF -DOSQP_BUILD_DEMO_EXE=OFF -DOSQP_CODEGEN=OFF -DOSQP_ENABLE_DERIVATIVES=OFF
        -DOSQP_ENABLE_PRINTING=OFF -DOSQP_ENABLE_INTERRUPT=OFF -DFETCHCONTENT_FULLY_DISCONNECTED=ON)
    local name=osqp==1.0.0 stamp crate
    stamp="$(<"$here/osqp.crates.txt") $(<"$here/qdldl.txt") ${options[*]}"
    if in_place osqp "$stamp"; then
        say "$name: in place"
        return
    fi
    if ! command -v cargo >/dev/null; then
        say "$name: left out, for its sources come as a Rust crate and cargo was not found"
        return
    fi

    say "$name: downloading"
    crate_sources osqp
    pip_source qdldl
    crate=("$work"/osqp.crates/osqp-sys-*)
    say "$name: building"
    quietly cmake -S "${crate[0]}/osqp" -B "$work/osqp.build" "${options[@]}" \
        -DFETCHCONTENT_SOURCE_DIR_QDLDL="$work/qdldl/c/qdldl" -DCMAKE_INSTALL_PREFIX="$work/osqp.prefix"
    quietly cmake --build "$work/osqp.build" --parallel "$jobs"
    quietly cmake --install "$work/osqp.build"
    put_in_place osqp "$stamp" "$work/osqp.prefix"
    say "$name: built"
}

# HiGHS takes minutes to compile, so its library is the one in its Python wheel (the Python version there does not
# matter to it), with the C headers of the source package of the same version. solvers/deps/highs-config.cmake makes
# it look like HiGHS's own installation.
install_highs() {
    local stamp name version machine prefix=$work/highs.prefix
    machine=$(uname -s)-$(uname -m)
    stamp="$(<"$here/highspy.txt") $(<"$here/highs-config.cmake") $machine"
    name=$(cut -d ' ' -f 1 "$here/highspy.txt")
    version=${name#*==}
    if in_place highs "$stamp"; then
        say "$name: in place"
        return
    fi
    if [[ $machine != Linux-x86_64 && $machine != Linux-aarch64 ]]; then
        say "$name: left out, for no library is pinned for $machine"
        return
    fi

    say "$name: downloading"
    pip_source highspy
    pip_wheel highspy --implementation cp --python-version 3.11 --abi cp311 --platform "manylinux_2_28_${machine#*-}"
    mkdir -p "$prefix/lib/cmake/highs" "$prefix/include/highs"/{interfaces,lp_data,util}
    cp "$work/highspy.wheel/highspy/libhighs.so.1" "$work/highspy/LICENSE.txt" "$prefix/lib/"
    cp "$here/highs-config.cmake" "$prefix/lib/cmake/highs/"
    printf 'set(PACKAGE_VERSION %s)\nif(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION)\n%s\nendif()\n' \
        "$version" '    set(PACKAGE_VERSION_COMPATIBLE TRUE)' >"$prefix/lib/cmake/highs/highs-config-version.cmake"
    (
        cd "$work/highspy/highs"
        cp interfaces/highs_c_api.h "$prefix/include/highs/interfaces/"
        cp lp_data/HighsCallbackStruct.h "$prefix/include/highs/lp_data/"
        cp util/HighsInt.h "$prefix/include/highs/util/"
    )
    # All that these headers take from HConfig.h is whether HIGHSINT64 is defined: not in the wheel.
    printf '#pragma once\n' >"$prefix/include/highs/HConfig.h"
    put_in_place highs "$stamp" "$prefix"
    say "$name: unpacked"
}

# MOSEK's runtime from its Python wheel: solvers/mosek_library.cpp loads it at run time. It judges without a licence and
# solves with one. Its terms are MOSEK's own; nothing of it is built in. Without it everything else works.
install_mosek() {
    local stamp name machine prefix=$work/mosek.prefix
    machine=$(uname -s)-$(uname -m)
    stamp="$(<"$here/mosek.txt") $machine"
    name=$(cut -d ' ' -f 1 "$here/mosek.txt")
    if in_place mosek "$stamp"; then
        say "$name: in place"
        return
    fi
    if [[ $machine != Linux-x86_64 ]]; then
        say "$name: left out, for no library is pinned for $machine"
        return
    fi

    say "$name: downloading"
    pip_wheel mosek --implementation cp --python-version 3.11 --abi abi3 --platform manylinux2014_x86_64
    mkdir "$prefix"
    cp "$work"/mosek.wheel/mosek/lib*.so* "$prefix/"
    put_in_place mosek "$stamp" "$prefix"
    say "$name: unpacked"
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
install_openblas
install_scs
install_clarabel
install_highs
install_osqp
install_mosek
