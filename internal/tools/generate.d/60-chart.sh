#!/bin/sh
# Copies into the chart what it has in common with deploy: Helm reads no file outside of
# the chart, and complains about links.
set -eu
cd "$(dirname "$0")/../../../deploy"
cp rbac.yaml chart/files/rbac.yaml
cp components/user-roles/roles.yaml chart/files/roles.yaml
cp components/monitoring/rules.yaml chart/files/rules.yaml
cp components/monitoring/dashboard.json chart/files/dashboard.json
cp components/kubelet/rbac.yaml chart/files/kubelet.yaml
cp components/webhook/configurations.yaml chart/files/webhook-configurations.yaml
cp components/webhook-certificates/rbac.yaml chart/files/webhook-certificates.yaml
cp components/webhook-validate-all/configuration.yaml chart/files/webhook-validate-all.yaml
