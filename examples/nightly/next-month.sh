#!/bin/sh
# Next month's records of the same people, with the recoding of the first release.
#
#     next-month.sh PROJECT FIRST RECORDS FOLDER
#
# FIRST is the candidate or the folder that was published first, RECORDS this month's file. Earlier months are
# known from the project's store. Ends with 2, and writes nothing, where more records than allowed would have to
# be left out, or the policy is not met once all releases are laid side by side.
set -eu
project=$1 first=$2 records=$3 folder=$4

sfumato apply "$first" "$records" "$folder" --project "$project" --by "a monthly job" --json
sfumato verify "$folder" --json > "$folder.verified.json"
