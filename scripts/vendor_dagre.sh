#!/bin/sh
# Fetch @dagrejs/dagre from npm again: scripts/vendor_dagre.sh [VERSION]
# What is kept: the minified program without the pointer to its source map, and its licence.
set -eu
version=${1:-3.1.1}
target=$(cd "$(dirname "$0")/.." && pwd)/src/lacunet/pages/assets
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "@dagrejs/dagre@$version" >/dev/null
tar xzf dagrejs-dagre-*.tgz
grep -v -e '^//# sourceMappingURL=' -e '^/\*! For license information' package/dist/dagre.min.js \
    > "$target/dagre.min.js"
cp package/LICENSE "$target/dagre.LICENSE"
echo "dagre $version is in $target"
