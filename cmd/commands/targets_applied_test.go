package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With manifests and a cluster, the report is for the cluster after applying the
// manifests.
func TestTargetsOfManifestsOverCluster(t *testing.T) {
	text, err := os.ReadFile("../../operator/diagnose/preview/testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	before := string(text)
	for name, tc := range map[string]struct {
		old, now string // replace the beginning of a document of the cluster; old is "" for a new document
		args     string
		want     string // part of the output after applying
	}{
		"a changed monitor": {
			"apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: web, ",
			"apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: web, namespace: demo}\nspec:\n  selector: {matchLabels: {app: web}}\n  endpoints: [{port: admin}]",
			"servicemonitor demo/web", "http://10.0.0.9:8081/metrics",
		},
		"a new monitor": {
			"", "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: db, namespace: demo}\nspec:\n  selector: {matchLabels: {app: db}}\n  endpoints: [{port: http}]",
			"servicemonitor demo/db", "http://10.0.0.11:80/metrics",
		},
		"a monitor that nobody selects any more": {
			"apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: k8s,",
			"apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: k8s, namespace: monitoring}\nspec: {serviceMonitorSelector: {}}",
			"smon demo/web", "no Prometheus uses ServiceMonitor demo/web",
		},
		"a workload with more shards": {
			"apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: k8s,",
			"apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: k8s, namespace: monitoring}\nspec: {shards: 3, serviceDiscoveryRole: EndpointSlice, serviceMonitorSelector: {}, serviceMonitorNamespaceSelector: {}, additionalScrapeConfigs: {name: more, key: jobs.yaml}}",
			"", "shard 2: ",
		},
		"a Service with another label": {
			"apiVersion: v1\nkind: Service\nmetadata: {name: db,",
			"apiVersion: v1\nkind: Service\nmetadata: {name: db, namespace: demo, labels: {app: web}}\nspec: {ports: [{name: http, port: 80, protocol: TCP}]}",
			"smon demo/web", "http://10.0.0.11:80/metrics",
		},
		"a Secret": {
			"apiVersion: v1\nkind: Secret\nmetadata: {name: more,",
			"apiVersion: v1\nkind: Secret\nmetadata: {name: more, namespace: monitoring}\nstringData: {jobs.yaml: '[{job_name: other, static_configs: [{targets: [third.example]}]}]'}",
			"prometheus monitoring/k8s", "http://third.example/metrics",
		},
		"a new Namespace that is selected": {
			"apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: team-b,",
			"apiVersion: v1\nkind: Namespace\nmetadata: {name: new, labels: {team: new}}\n---\n" +
				"apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: team-b, namespace: monitoring}\nspec: {probeSelector: {}, probeNamespaceSelector: {matchLabels: {team: new}}}\n---\n" +
				"apiVersion: monitoring.coreos.com/v1\nkind: Probe\nmetadata: {name: site, namespace: new}\nspec: {prober: {url: \"p:1\"}, targets: {staticConfig: {static: [\"https://new.example\"]}}}",
			"", "Probe new/site",
		},
		"a pod with another label": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: web-1,",
			"apiVersion: v1\nkind: Pod\nmetadata: {name: web-1, namespace: demo, labels: {app: none}}\nspec: {nodeName: n1, containers: [{name: server, image: web, ports: [{name: other, containerPort: 8080, protocol: TCP}]}]}\nstatus: {phase: Running, podIP: 10.0.0.8, conditions: [{type: Ready, status: \"True\"}]}",
			"pmon demo/jobs", "2 targets",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			after, found := "", tc.old == ""
			for doc := range strings.SplitSeq(before, "\n---\n") {
				if tc.old != "" && strings.HasPrefix(doc, tc.old) {
					doc, found = strings.TrimSpace(tc.now), true
				}
				after += "\n---\n" + doc
			}
			if tc.old == "" {
				after += "\n---\n" + tc.now
			}
			if !found {
				t.Fatal("no such document")
			}
			for file, text := range map[string]string{"after.yaml": strings.TrimPrefix(after, "\n---\n"), "new.yaml": tc.now} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, stderr, wantCode := fromCluster(t, serveManifests(t, filepath.Join(dir, "after.yaml"), &served{}), tc.args)
			url := serveManifests(t, "../../operator/diagnose/preview/testdata/cluster.yaml", &served{})
			got, errs, code := fromCluster(t, url, fmt.Sprintf("%s -f %s/new.yaml", tc.args, dir))
			if got != want || code != wantCode || !strings.Contains(got, tc.want) {
				t.Errorf("exit code %d, after applying %d, want %q\n%s%s\nafter applying\n%s%s", code, wantCode, tc.want, errs, got, stderr, want)
			}
			if alone, _, _ := fromCluster(t, url, tc.args); alone == got {
				t.Error("the manifests change nothing")
			}
			if offline, _, _ := fromCluster(t, url, fmt.Sprintf("%s -f %s/new.yaml --offline", tc.args, dir)); offline == got {
				t.Errorf("--offline reads the cluster\n%s", offline)
			}
		})
	}
}

// With manifests, missing permissions in the cluster limit the report in the same way as
// without.
func TestTargetsOfManifestsWithoutPermission(t *testing.T) {
	dir := t.TempDir()
	manifest := "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: web, namespace: demo}\nspec:\n  selector: {matchLabels: {app: web}}\n  endpoints: [{port: admin}]"
	if err := os.WriteFile(filepath.Join(dir, "new.yaml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	url := serveManifests(t, "../../operator/diagnose/preview/testdata/cluster.yaml", &served{denied: []string{"endpointslices"}})
	out, stderr, code := fromCluster(t, url, "smon demo/web -f "+dir+"/new.yaml")
	if code != 2 || !strings.Contains(out, "you may not list endpointslices.discovery.k8s.io in namespace demo") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
}

// If the cluster cannot be reached, the command fails and does not report on the
// manifests alone.
func TestTargetsOfManifestsWithoutCluster(t *testing.T) {
	file, err := filepath.Abs("../../operator/diagnose/preview/testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out, stderr, code := fromCluster(t, "http://127.0.0.1:1", "smon demo/web -f "+file)
	if code != 2 || out != "" || !strings.Contains(stderr, "reach the API server at http://127.0.0.1:1") || !strings.Contains(stderr, "; --offline reads the manifests alone") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	if _, stderr, code := runIn(t, t.TempDir(), []string{"targets", "-f", file, "--compare"}); code != 2 || !strings.Contains(string(stderr), "--compare: asks pods, and no cluster is configured") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	if _, stderr, code := runIn(t, t.TempDir(), []string{"targets", "-f", file, "--offline", "--fail-on=difference"}); code != 2 || !strings.Contains(string(stderr), "--compare: asks pods in a cluster, which --offline does not read") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// A Service that gets another selector makes only jobs unknown that select this Service.
func TestTargetsOfAServiceWithAnotherSelector(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new.yaml")
	manifest := "apiVersion: v1\nkind: Service\nmetadata: {name: db, namespace: demo, labels: {app: db}}\nspec: {selector: {app: other}, ports: [{name: http, port: 80}]}\n---\n" +
		"apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: db, namespace: demo}\nspec:\n  selector: {matchLabels: {app: db}}\n  endpoints: [{port: http}]"
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	url := serveManifests(t, "../../operator/diagnose/preview/testdata/cluster.yaml", &served{})
	const why = "Service demo/db gets another selector"
	for monitor, unknown := range map[string]bool{"demo/db": true, "demo/web": false} {
		out, stderr, code := fromCluster(t, url, "smon "+monitor+" -f "+file)
		if strings.Contains(out, why) != unknown || code != map[bool]int{true: 2}[unknown] {
			t.Errorf("%s: exit code %d\n%s%s", monitor, code, out, stderr)
		}
	}
}
