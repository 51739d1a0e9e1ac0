# Sourced by ./check and ./quickstart: runs named steps and shows one mark with a time for each.
#
#   step build cmake --build --preset release        ✔ build 2m41s
#
# What a step prints goes to build/log/<name>.log; when it fails, the end of that log is shown and the script ends. Lines that begin with
# `left out: ` are shown anyway.
# step_end is what follows a mark: a line break, or for a row of marks a few blanks.

log_folder=$PWD/build/log
step_end=$'\n'
mkdir -p "$log_folder"

# Ninja compiles two files more at once than there are CPUs, which take each other's cache: 15 % longer where there are two.
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}

duration_text() { # seconds
    if (($1 < 60)); then echo "$1s"; else printf '%dm%02ds' $(($1 / 60)) $(($1 % 60)); fi
}

step() { # name command...
    local name=$1 begin=$SECONDS log=$log_folder/${1// /_}.log
    [[ ! -t 1 ]] || printf ' … %s\r' "$name"
    if "${@:2}" >"$log" 2>&1 </dev/null; then
        printf ' ✔ %s %s%s' "$name" "$(duration_text $((SECONDS - begin)))" "$step_end"
        sed -n 's/^left out: /   &/p' "$log"
    else
        printf ' ✘ %s %s\n\n' "$name" "$(duration_text $((SECONDS - begin)))"
        tail -n 100 "$log"
        printf '\nfailed: %s (all of it: %s)\n' "${*:2}" "$log"
        exit 1
    fi
}
