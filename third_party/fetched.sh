# Sourced by third_party/*/fetch, from their folder: where what is fetched lies. With DYETRACE_FETCHED=<folder> several worktrees share
# one copy: third_party/.fetched becomes a link to that folder.
fetched=../.fetched
if [[ -n ${DYETRACE_FETCHED-} && ! -e $fetched ]]; then
    mkdir -p "$DYETRACE_FETCHED"
    ln -sfn "$(realpath "$DYETRACE_FETCHED")" "$fetched"
fi
