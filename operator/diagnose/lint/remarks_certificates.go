package lint

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// certificateRemarks reports endpoints with https for which the certificates of pods must have their IP addresses.
// known are the fields of the workload, nil if it is not among the manifests.
func certificateRemarks(say says, known *v1.CommonPrometheusFields, object catalog.Object) {
	switch m := object.(type) {
	case *v1.ServiceMonitor:
		class, sure := classOf(known, m.Spec.ScrapeClass)
		for i := range m.Spec.Endpoints {
			if e := &m.Spec.Endpoints[i]; sure {
				certificateRemark(say, fmt.Sprintf("spec.endpoints[%d]", i), e.Scheme, e.RelabelConfigs, e.TLSConfig, class)
			}
		}
	case *v1.PodMonitor:
		class, sure := classOf(known, m.Spec.ScrapeClass)
		for i := range m.Spec.PodMetricsEndpoints {
			e := &m.Spec.PodMetricsEndpoints[i]
			var own *v1.TLSConfig
			if e.TLSConfig != nil {
				own = &v1.TLSConfig{SafeTLSConfig: *e.TLSConfig}
			}
			if sure {
				certificateRemark(say, fmt.Sprintf("spec.podMetricsEndpoints[%d]", i), e.Scheme, e.RelabelConfigs, own, class)
			}
		}
	}
}

// unlessFaulty returns a function that reports a missing field unless its block has a faulty one, which may be meant.
func unlessFaulty(say says, faulty []string) says {
	return func(field, format string, args ...any) {
		block := field[:max(strings.LastIndexByte(field, '.'), 0)]
		if !slices.ContainsFunc(faulty, func(at string) bool { return within(at, block) }) {
			say(field, format, args...)
		}
	}
}

// classOf returns the scrape class of a monitor, the zero value for none; sure is false if it is not known.
func classOf(known *v1.CommonPrometheusFields, name string) (class v1.ScrapeClass, sure bool) {
	if known == nil {
		return class, name == ""
	}
	i := slices.IndexFunc(known.ScrapeClasses, func(c v1.ScrapeClass) bool {
		return name != "" && c.Name == name || name == "" && ptr.Deref(c.Default, false)
	})
	if i < 0 {
		return class, name == ""
	}
	return known.ScrapeClasses[i], true
}

// certificateRemark reports an endpoint with https that checks certificates against addresses.
func certificateRemark(say says, path string, scheme v1.Scheme, steps []v1.RelabelConfig, own *v1.TLSConfig, class v1.ScrapeClass) {
	if !strings.EqualFold(string(scheme), "https") || slices.ContainsFunc(slices.Concat(steps, class.RelabelConfigs), func(s v1.RelabelConfig) bool { return s.TargetLabel == "__address__" }) {
		return
	}
	for _, c := range []*v1.TLSConfig{own, class.TLSConfig} {
		if c != nil && (c.ServerName != "" || ptr.Deref(c.InsecureSkipVerify, false)) {
			return
		}
	}
	say(path+".tlsConfig.serverName", `is not set, and pods are scraped by their IP address: unless their certificates have it, each scrape fails with "cannot validate certificate … because it doesn't contain any IP SANs"; write a name that the certificate has, such as SERVICE.NAMESPACE.svc, or insecureSkipVerify: true`)
}
