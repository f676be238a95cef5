# SPDX-License-Identifier: Apache-2.0
# What Debian 12 packages the scripts need, and how they get there. Sourced by tools/run and tools/test.

build_packages=(cmake ninja-build gcc libc6-dev pkg-config liburing-dev libxxhash-dev libisal-dev liblz4-dev libzstd-dev
                libsnappy-dev zlib1g-dev libjansson-dev librdkafka-dev)
test_packages=(libcriterion-dev python3 binutils clang-format-14 kcat strace)
# For tools/test --all: fuzzing, power cuts on loop-mounted file systems, clients of other languages.
all_packages=(clang-14 libclang-rt-14-dev xfsprogs e2fsprogs mount util-linux python3-venv libssl-dev)

# The languages of the clients, each by the command that shows that it is there already (from wherever). Debian 12's
# Go is too old for the clients; it fetches a newer one (tests/compat/families.py).
language_packages() {
    command -v javac >/dev/null || echo openjdk-17-jdk-headless
    command -v mvn >/dev/null || echo maven
    command -v node >/dev/null || echo nodejs
    command -v npm >/dev/null || echo npm
    command -v go >/dev/null || echo golang-go
}

# kcat, unless there is one already (from wherever): with it tools/run shows how to try the broker.
kcat_package() {
    command -v kcat >/dev/null || echo kcat
}

# Installs what is missing of the packages named; without root, says how and gives up.
packages_install() {
    local missing=() package
    if ! command -v dpkg-query >/dev/null; then
        printf '%s\n' "This machine has no Debian packages: install by hand what is in" "" "  $*" "" "then:" "" \
            "  cmake --preset release && cmake --build --preset release --target tailrace" \
            "  build/release/tailrace broker --help" >&2
        return 1
    fi
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        printf '%s\n' "These packages are missing. As root:" "" \
            "  apt-get update && apt-get install --no-install-recommends ${missing[*]}" "" "Then again." >&2
        return 1
    fi
    echo "Installing with apt-get: ${missing[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
