#!/bin/sh
# Writes the table of limits of one object into the page about security.
set -eu
cd "$(dirname "$0")/../../.."
go run ./operator/api/budget/table docs/security.md
