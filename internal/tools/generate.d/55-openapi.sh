#!/bin/sh
# Writes the OpenAPI document of the HTTP API from its routes and Go types.
set -eu
cd "$(dirname "$0")/../../.."
go run ./operator/dev/openapi operator/web/openapi.json
