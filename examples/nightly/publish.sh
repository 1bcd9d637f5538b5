#!/bin/sh
# The first release of a table, without anybody watching: explore, choose, publish, verify.
#
#     publish.sh PROJECT FOLDER QUESTION
#
# Ends with 0 when the folder is published and verified, and with the exit code of whatever did not go well:
# 1 something given cannot be used, 2 the policy is not met, 3 no release can satisfy what was asked.
set -eu
project=$1 folder=$2 question=$3

sfumato explore "$project" --json > "$folder.explored.json"
sfumato ask "$question" --project "$project" --json > "$folder.answer.json"
chosen=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["candidate"]["id"])' < "$folder.answer.json")
sfumato publish "$chosen" "$folder" --project "$project" --why "$question" --by "a nightly job" --json
sfumato verify "$folder" --json > "$folder.verified.json"
