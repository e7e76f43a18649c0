#!/bin/sh
# Writes docs/reference from the programs: flags, metrics, version gates.
set -eu
cd "$(dirname "$0")/../../.."
go run ./operator/dev/reference docs/reference
