#!/bin/sh
# Plays a worker: fake_worker.sh MODE [FOLDER] [--describe]. FOLDER holds what a mode leaves for the test, or keeps
# between two processes; a FIFO named `said` in it is written to when the worker holds a capture.
mode=$1
folder=$2

hello() {
  printf '{"type":"hello","protocol":%s,"worker":"fake-1","torch":"2.0.0","transformers":"5.0.0","python":"3.11.2","device":"cpu","pid":%s}\n' "${1:-1}" $$
}

job_of() {
  job=${1#*\"job\":\"}
  job=${job%%\"*}
}

good() {
  printf '{"type":"phase","job":"%s","phase":"capture"}\n' "$1"
  printf '{"type":"result","job":"%s","status":"full_graph","detail":"one graph","phase":"done","graphs":1,"breaks":0,"toolchain":{"torch":"2.0.0","transformers":"5.0.0","python":"3.11.2","worker":"fake-1","device":"cpu"}}\n' "$1"
}

say() {
  [ -p "$folder/said" ] && echo "$1" > "$folder/said"
}

# True the first time it is asked, over all processes of a test.
first_time() {
  mkdir "$folder/been_here" 2>/dev/null
}

if [ "$mode" = --describe ] || [ "$2" = --describe ] || [ "$3" = --describe ]; then
  case $mode in
    describe_flood) while :; do echo "not a hello, and much of it"; done ;;
    describe_fails) echo "ModuleNotFoundError: No module named 'torch'" >&2; exit 1 ;;
    describe_newer) hello 9 ;;
    *) hello ;;
  esac
  exit 0
fi

# Before the first line.
case $mode in
  exit_at_once) echo "ModuleNotFoundError: No module named 'torch'" >&2; exit 3 ;;
  no_hello) say waiting; exec sleep 1000 ;;
  newer_protocol) hello 2; exec sleep 1000 ;;
  hello_and_exit) hello; exit 0 ;;
  speaks_first) echo '{"type":"heartbeat"}' ;;
  stubborn) trap '' TERM ;;
  closes_input) exec <&- ;;
esac
hello
case $mode in
  slow_reader) say ready; read -r _ < "$folder/go" ;;
  closes_input) exec sleep 1000 ;;
esac

while IFS= read -r line; do
  case $line in *'"type":"capture"'*) ;; *'"type":"exit"'*) exit 0 ;; *) continue ;; esac
  job_of "$line"
  case $mode in
    good) good "$job" ;;
    environment) env > "$folder/environment"; good "$job" ;;
    scratch) : > "$TMPDIR/left_behind"; good "$job" ;;
    slow_reader) printf '{"type":"result","job":"%s","status":"full_graph","detail":"%s bytes"}\n' "$job" ${#line} ;;
    waits) say "$job"; read -r _ < "$folder/go"; good "$job" ;;
    hang) say "$job"; exec sleep 1000 ;;
    hang_once) if first_time; then say "$job"; exec sleep 1000; fi; good "$job" ;;
    stubborn) say "$job"; while :; do sleep 1000; done ;;
    garbage) echo 'Traceback: this is not JSON' ;;
    garbage_once) if first_time; then echo '[1,2]'; else good "$job"; fi ;;
    huge_line) head -c 17000000 /dev/zero | tr '\0' x ;;
    flood) while :; do echo '{"type":"heartbeat"}'; done ;;
    flood_stderr) head -c 3000000 /dev/zero | tr '\0' 'e' >&2; echo >&2; echo "the last words" >&2; exit 1 ;;
    dies_once) if first_time; then echo "dying" >&2; kill -9 $$; fi; good "$job" ;;
    dies) echo "Fatal: no more" >&2; exit 7 ;;
    answers_and_dies) good "$job"; exit 1 ;;
    closes_output) exec >&-; exec sleep 1000 ;;
    refuses) printf '{"type":"error","message":"no such field"}\n' ;;
    newer_messages) printf '{"type":"weather","sky":"blue"}\n'; good "$job" ;;
    twice) good "$job"; good "$job"; good other ;;
    orphans)
      # Holds the FIFO `alive` open in a session of its own: its reader sees the end when this is dead.
      mkfifo "$folder/up.$$"
      # shellcheck disable=SC2016  # the inner shell expands it
      setsid sh -c 'echo up; echo > "$1"; exec sleep 1000' sh "$folder/up.$$" > "$folder/alive" &
      read -r _ < "$folder/up.$$"
      kill -9 $$
      ;;
    speaks_first) good "$job" ;;
  esac
done
