package insight

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// ui returns how to reach the web interface of a workload; nil if that is unknown.
func (e *entry) ui() *UI {
	external, prefix, port := "", e.candidate.Object.GetWorkloadFields().RoutePrefix, 9090
	switch o := e.candidate.Object.(type) {
	case *v1.Prometheus:
		external = o.Spec.ExternalURL
	case *v1alpha1.PrometheusAgent:
		external = o.Spec.ExternalURL
	case *v1.Alertmanager:
		external, port = o.Spec.ExternalURL, 9093
	case *v1.ThanosRuler:
		prefix, port = cmp.Or(o.Spec.ExternalPrefix, prefix), 10902
	}
	out := &UI{URL: plainURL(external)}
	for _, p := range e.report.Pods {
		if p.Ready && shellSafe.MatchString(p.Name) && shellSafe.MatchString(e.ref.Namespace) {
			out.Command = fmt.Sprintf("kubectl -n %s port-forward pod/%s %d", e.ref.Namespace, p.Name, port)
			out.Local = (&url.URL{Scheme: "http", Host: fmt.Sprintf("localhost:%d", port), Path: "/" + strings.Trim(prefix, "/")}).String()
			break
		}
	}
	if *out == (UI{}) {
		return nil
	}
	return out
}

// plainURL returns a URL of http or https without credentials; empty for others.
func plainURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || len(text) > longest {
		return ""
	}
	return u.String()
}
