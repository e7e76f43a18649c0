#!/bin/sh
# Writes what is generated from the API types in operator/api: deep copies, the
# two CRD folders under deploy/, the copies of them the operator carries, and the
# reference pages in docs/api.
# Running it twice changes nothing.
#
#   deploy/crds       no descriptions, so that a plain `kubectl apply` takes them;
#                     AlertmanagerConfig in its stored version only
#   deploy/crds-full  with descriptions and AlertmanagerConfig v1beta1, which
#                     needs the conversion webhook; apply with --server-side
#   deploy/components/webhook-conversion
#                     AlertmanagerConfig without descriptions, in both versions
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root/operator"

# The tools have their own build list; the workspace would mix it with ours. What
# they read is loaded as part of the workspace again.
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
controller_gen=$bin/controller-gen
(cd ../internal/tools && GOWORK=off go build -o "$controller_gen" sigs.k8s.io/controller-tools/cmd/controller-gen)

echo "deep copies"
"$controller_gen" object paths=./api/monitoring/...

echo "deploy/crds"
rm -f ../deploy/crds/monitoring.coreos.com_*.yaml
"$controller_gen" crd:maxDescLen=0 paths=./api/monitoring/v1 paths=./api/monitoring/v1alpha1 output:crd:dir=../deploy/crds

echo "deploy/crds-full"
rm -f ../deploy/crds-full/monitoring.coreos.com_*.yaml
"$controller_gen" crd paths=./api/monitoring/... output:crd:dir=../deploy/crds-full

echo "deploy/components/webhook-conversion"
"$controller_gen" crd:maxDescLen=0 paths=./api/monitoring/... output:crd:dir="$bin/crds"
cp "$bin/crds/monitoring.coreos.com_alertmanagerconfigs.yaml" ../deploy/components/webhook-conversion/versions.yaml

echo "operator/api/crds"
go run ./api/crds/pack ../deploy/crds api/crds/standard.json.gz
go run ./api/crds/pack ../deploy/crds-full api/crds/full.json.gz

echo "docs/api"
go run ./dev/apipages api/monitoring ../docs/api
