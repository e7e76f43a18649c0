package integration

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
)

// In a cluster without CRDs, the operator starts each controller once its kind is installed.
func TestKindsInstalledLater(t *testing.T) {
	shared := start(t)
	t.Parallel()
	w := newEnvironment(t, clustertest.Start(t, cluster.Options{}))
	w.program, w.commands = shared.program, shared.commands
	w.applyFile(t, deploy(t, "namespace.yaml"))
	w.applyFile(t, deploy(t, "rbac.yaml"))
	w.bind(t, "late", clusterRole)
	o := w.launch(t, "late")
	for _, part := range []string{"prometheus-controller", "prometheusagent-controller", "thanos-controller", "alertmanager-controller", "ScrapeConfigs"} {
		eventually(t, part+" waits", func() error {
			for line := range strings.SplitSeq(o.log.String(), "\n") {
				if strings.Contains(line, "component="+part) && strings.Contains(line, "not installed") {
					return nil
				}
			}
			return fmt.Errorf("log: %s", o.log.Brief(logLines))
		})
	}
	if v, err := o.metric("prometheus_operator_ready"); err == nil {
		t.Errorf("prometheus_operator_ready = %v without a kind: the alert FirekeeperNotReady would fire", v)
	}
	w.install(t, "prometheuses")
	o.ready(t, 0) // it selects kinds that are not installed, which the alert needs
	for _, kind := range []string{"servicemonitors", "podmonitors", "probes", "prometheusrules"} {
		w.install(t, kind)
	}
	o.ready(t, 1)
	ns := w.namespace(t)
	w.apply(t, strings.Replace(fill(web, ns, ""), "  ruleSelector: {}\n", "  ruleSelector: {}\n  scrapeConfigSelector: {}\n", 1))
	w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0")

	w.install(t, "thanosrulers")
	w.apply(t, fill(ruler, ns, ""))
	o.ready(t, 2)
	w.rulerRuns(t, ns, "app:up")

	w.install(t, "alertmanagerconfigs")
	w.install(t, "alertmanagers")
	w.apply(t, "apiVersion: monitoring.coreos.com/v1\nkind: Alertmanager\nmetadata: {name: web, namespace: "+ns+"}\nspec: {}")
	o.ready(t, 3)
	w.waitFor(t, stateful(ns, "alertmanager-web"), "is created", func(*unstructured.Unstructured) error { return nil })

	w.install(t, "scrapeconfigs")
	w.install(t, "prometheusagents")
	w.apply(t, scrapeConfig(ns, "late"))
	w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0", "scrapeConfig/"+ns+"/late")

	o.ready(t, controllers)
	w.apply(t, strings.Replace(fill(edge, ns, ""), "spec:\n", "spec:\n  scrapeConfigSelector: {}\n", 1))
	w.jobsIn(t, ns, "prom-agent-web", "serviceMonitor/"+ns+"/app/0", "scrapeConfig/"+ns+"/late")
	w.apply(t, scrapeConfig(ns, "later"))
	w.jobsIn(t, ns, "prom-agent-web", "serviceMonitor/"+ns+"/app/0", "scrapeConfig/"+ns+"/late", "scrapeConfig/"+ns+"/later")
	w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0", "scrapeConfig/"+ns+"/late", "scrapeConfig/"+ns+"/later")
}

func scrapeConfig(namespace, name string) string {
	return fmt.Sprintf(`
apiVersion: monitoring.coreos.com/v1alpha1
kind: ScrapeConfig
metadata: {name: %s, namespace: %s}
spec: {staticConfigs: [{targets: ["example.org:80"]}]}
`, name, namespace)
}

// install installs the CRD of a resource and waits until it is served.
func (w *environment) install(t *testing.T, resource string) {
	t.Helper()
	w.applyFile(t, filepath.Join(deploy(t, "crds"), "monitoring.coreos.com_"+resource+".yaml"))
	w.established(t)
}
