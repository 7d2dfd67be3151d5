#!/usr/bin/env bash
# Checks for action.yml: annotations and the summary for people, outputs for the steps that follow.
# Reads BASE, HEAD, ARGUMENTS, SARIF and what GitHub Actions sets; takes the pinctl to run.

pinctl=$1
read -r -a arguments <<< "$ARGUMENTS"
[ -n "$BASE" ] && arguments+=(--base "$BASE")
[ -n "$HEAD" ] && arguments+=(--head "$HEAD")

"$pinctl" check --deepen --format github "${arguments[@]}"
result=$?
json=$(GITHUB_STEP_SUMMARY='' "$pinctl" check --deepen --format json "${arguments[@]}")
again=$?

# What ended in any other way, or not twice in the same way, has not found out.
case "$result $again" in
  "0 0") status=ok ;;
  "1 1") status=broken ;;
  *) status=unknown ;;
esac
[ -n "$json" ] || { status=unknown json=null; }
[ "$status" = unknown ] && [ "$result" -le 1 ] && result=3
{
  echo "status=$status"
  echo "findings<<PINCTL_END"
  printf '%s\n' "$json"
  echo "PINCTL_END"
} >> "$GITHUB_OUTPUT"

if [ -n "$SARIF" ]; then
  GITHUB_STEP_SUMMARY='' "$pinctl" check --deepen --format sarif "${arguments[@]}" > "$SARIF"
  # Code scanning refuses an empty file, with words that are about the file.
  [ -s "$SARIF" ] || rm -f "$SARIF"
fi
exit "$result"
