package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/render"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// effectObjects are workloads whose generated objects depend on the flags.
const effectObjects = `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: p, namespace: demo}
spec:
  serviceMonitorSelector: {}
  thanos: {version: v0.42.4}
  shards: 2
  shardingStrategy: {mode: Topology, topology: {values: [a, b]}}
  alerting: {alertmanagers: [{name: a, namespace: demo, port: web}]}
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: unmanaged, namespace: demo}
spec: {}
---
apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata: {name: a, namespace: demo}
spec: {replicas: 2}
---
apiVersion: monitoring.coreos.com/v1
kind: ThanosRuler
metadata: {name: r, namespace: demo}
spec: {queryEndpoints: [q], listenLocal: true}
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: PrometheusAgent
metadata: {name: agent, namespace: demo}
spec: {mode: DaemonSet, podMonitorSelector: {}, listenLocal: true}
`

// observed returns the settings that result from a command line: the generated objects,
// the watched namespaces, and the configuration of clients and servers.
func observed(t *testing.T, objects *manifests.Objects, args ...string) string {
	t.Helper()
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--apiserver=") }) {
		args = append(args, "--apiserver=https://server")
	}
	o := parsed(t, args...)
	var out strings.Builder
	show := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s\n", text)
	}
	setups, scopes, err := o.setups(semver.MustParse("1.36.0"))
	if err != nil {
		t.Fatal(err)
	}
	show([]string{scopes.Instances.String(), scopes.Configs.String(), scopes.SecretFields, scopes.SecretLabels, scopes.ConfigMapFields, scopes.ConfigMapLabels})
	show(scopes.For(catalog.AlertmanagerConfig).String())
	for _, s := range setups {
		show([]any{s.Kind.Kind, s.Instances.String(), s.InstanceSelector, s.References.String(), s.ControllerID, s.Repair, s.ConfigStatus})
	}
	api, err := o.restConfig()
	if err != nil {
		t.Fatal(err)
	}
	show([]any{api.Host, api.CertFile, api.KeyFile, api.CAFile, api.Insecure, api.Impersonate.UserName})
	o.Kubelet.Service = "a/" + strings.ReplaceAll("s"+o.Kubelet.Service, "/", "-")
	nodes, err := o.kubelet()
	if err != nil {
		t.Fatal(err)
	}
	show([]any{nodes.Service, nodes.Selector, nodes.External, nodes.HTTPMetrics, nodes.Endpoints, nodes.Slices, nodes.SyncPeriod})
	show([]any{o.ListenAddress, o.Web, o.MemoryRatio, o.Log})

	kinds, err := o.kinds(semver.MustParse("1.36.0"))
	if err != nil {
		t.Fatal(err)
	}
	objects.Kinds = kinds
	workloads, err := render.Workloads(objects, "")
	if err != nil {
		t.Fatal(err)
	}
	for made := range render.Outputs(objects, workloads) {
		fmt.Fprintln(&out, made.Workload, made.Err)
		if made.Err == nil {
			if err := made.WriteTo(&out, "objects"); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out.String()
}

// Each flag of the reference changes the resulting settings. For --version and
// --short-version, see TestVersions.
func TestEachFlagHasItsEffect(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	file := filepath.Join(t.TempDir(), "objects.yaml")
	if err := os.WriteFile(file, []byte(effectObjects), 0o600); err != nil {
		t.Fatal(err)
	}
	defaults := parsed(t)
	kinds, err := defaults.kinds(semver.MustParse("1.36.0"))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := manifests.Load([]string{file}, kinds)
	if err != nil {
		t.Fatal(err)
	}
	beside := map[string]string{ // flags that another flag needs to have an effect
		"watch-referenced-objects-in-all-namespaces": "--prometheus-instance-namespaces=a",
	}
	others := map[string]string{ // if the value in referenceFlags is the default
		"--feature-gates=PrometheusTopologySharding=true": "--feature-gates=PrometheusTopologySharding=false",
		"--web.enable-tls=false":                          "--web.enable-tls=true",
	}
	plain := map[string]string{}
	for _, flag := range slices.Concat(referenceFlags, []string{
		"--deny-namespaces=a",
		"--feature-gates=PrometheusAgentDaemonSet=true", "--feature-gates=PrometheusShardRetentionPolicy=false", "--feature-gates=StatusForConfigurationResources=true",
	}) {
		name, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		if other, is := others[flag]; is {
			flag = other
		}
		var companions []string
		if with, needs := beside[name]; needs {
			companions = append(companions, with)
		}
		key := strings.Join(companions, " ")
		if _, known := plain[key]; !known {
			plain[key] = observed(t, objects, companions...)
		}
		before := plain[key]
		if after := observed(t, objects, append(companions, flag)...); after == before {
			t.Errorf("%s changes nothing", flag)
		}
	}
}
