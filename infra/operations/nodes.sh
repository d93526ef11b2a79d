# shellcheck shell=sh
# Functions that upgrade.sh and restore-snapshot.sh share. REACH is a program that takes a node and a script for its shell, as ssh does.

# on NODE TITLE SCRIPT: runs the script on the node
on() {
  echo "$1: $2"
  # shellcheck disable=SC2086 # REACH may have arguments
  ${REACH:-ssh} "$1" "$3"
}

# eventually NODE TITLE SCRIPT: repeats the script until it succeeds, for half an hour
eventually() {
  on "$1" "$2" "end=\$((\$(date +%s) + ${WITHIN_SECONDS:-1800}))
until $3; do
  if [ \"\$(date +%s)\" -ge \"\$end\" ]; then echo 'This takes too long: look at the log and at nodetool status.' >&2; exit 1; fi
  sleep 2
done"
}

# all_up COUNT: prints a script that succeeds when this many nodes are there, and all of them are up. It ignores addresses, because this
# machine may use others for the nodes.
all_up() {
  echo "nodetool status | awk '/^[UD][NLJM] / {all++} /^UN / {up++} END {exit all != $1 || up != $1}'"
}

# quoted TEXT: prints the text as one word for a shell
quoted() {
  printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"
}
