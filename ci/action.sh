#!/bin/sh
# Does what TRAINFORM_RUN names: any of validate, render, check, comment, in this order. The first that fails ends it, but the
# comment is made nevertheless. Where all but render are named, they are one process.
set -eu
here=$(dirname "$0")

asked() { case ${TRAINFORM_RUN:-} in *"$1"*) return 0 ;; *) return 1 ;; esac; }

if asked validate && asked check && asked comment && ! asked render; then
    exec sh "$here/pull-request.sh"
fi
code=0
for part in validate render check; do
    if [ $code -eq 0 ] && asked $part; then sh "$here/$part.sh" || code=$?; fi
done
if asked comment; then
    told=0
    sh "$here/comment.sh" || told=$?
    [ $told -le $code ] || code=$told
fi
exit $code
