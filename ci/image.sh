#!/bin/sh
# ci/image.sh NAME TAG: builds deploy/NAME/Dockerfile as TAG and tries the image. It must run as somebody without rights, without
# a network and on a file system that cannot be written, and hold nothing that builds or installs. PYTHON_IMAGE names another
# base than the Dockerfile does.
set -eu
# shellcheck source=ci/common.sh
. "$(dirname "$0")/common.sh"

[ $# -eq 2 ] || fail "usage: ci/image.sh NAME TAG"
name=$1 tag=$2
cd "$(dirname "$0")/.."
[ -f "deploy/$name/Dockerfile" ] || fail "there is no deploy/$name/Dockerfile"

docker build --file "deploy/$name/Dockerfile" --tag "$tag" ${PYTHON_IMAGE:+--build-arg "PYTHON=$PYTHON_IMAGE"} .

docker run --rm --interactive --network none --read-only --cap-drop ALL --security-opt no-new-privileges \
    --entrypoint /bin/sh "$tag" <<'TRY' || fail "$tag is not fit to be published"
[ "$(id -u)" != 0 ] || { echo "it runs as root" && exit 1; }
for tool in pip pip3 gcc cc make git; do
    if command -v $tool; then echo "it holds $tool" && exit 1; fi
done
trainform --version
TRY
