#!/bin/sh
# Installs what tests need of the system, by the names of Debian's packages:
#
#     sh tools/system_packages.sh chromium postgresql r-base-core
#
# It installs as root, and where CI is set (with sudo, if that asks for no password). On any other machine it
# installs nothing and never calls sudo: it prints the command, and the tests that need the package are skipped.
# Where CI is set nothing may be missing in the end.
set -eu

is_there() {
  case $1 in
    chromium) commands='chromium chromium-browser google-chrome google-chrome-stable' ;;
    postgresql) commands="initdb $(echo /usr/lib/postgresql/*/bin/initdb)" ;;
    r-base-core) commands=Rscript ;;
    default-jre-headless) commands=java ;;
    *) echo "tools/system_packages.sh: how is $1 found?" >&2; exit 2 ;;
  esac
  for name in $commands; do
    if command -v "$name" > /dev/null; then return 0; fi
  done
  return 1
}

missing() {
  for package in "$@"; do
    is_there "$package" || printf ' %s' "$package"
  done
}

# What runs while Debian's package of the server is installed: it makes no cluster, so that no server is started, now
# or after the next start of the machine. The tests start a server with data of their own.
install() {
  $root sh -eu -c '
    folder=/etc/postgresql-common/createcluster.d
    file=$folder/sfumato-tests.conf
    case " $* " in *" postgresql "*)
      trap "rm -f $file; rmdir $folder ${folder%/*} 2> /dev/null || true" EXIT
      mkdir -p $folder
      echo "create_main_cluster = false" > $file
    esac
    apt() { DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes -o DPkg::Lock::Timeout=300 "$@" > /dev/null; }
    apt install --no-install-recommends "$@" 2> /dev/null || { apt update && apt install --no-install-recommends "$@"; }
  ' install "$@"
}

lacking=$(missing "$@")
[ -n "$lacking" ] || exit 0
root=none
if [ "$(id -u)" = 0 ]; then root=; elif [ -n "${CI:-}" ]; then root='sudo -n'; fi
if [ "$root" != none ] && command -v apt-get > /dev/null; then
  echo "installing$lacking for the tests (once)"
  install $lacking || true
  lacking=$(missing "$@")
  [ -n "$lacking" ] || exit 0
fi
echo "not installed, so that tests are skipped:$lacking" >&2
echo "on Debian and Ubuntu: sudo apt-get install --no-install-recommends$lacking" >&2
[ -z "${CI:-}" ]
