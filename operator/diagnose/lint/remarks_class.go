package lint

import (
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// classCredentials reports an object that does not get the credentials of its scrape class, because it is in another
// namespace than the workload. f are the fields of the workload in namespace.
func classCredentials(say says, namespace string, f *v1.CommonPrometheusFields, object catalog.Object) {
	name, without := needsCredentials(object)
	class, sure := classOf(f, name)
	if !without || !sure || object.GetNamespace() == namespace || class.Authorization == nil || class.Authorization.Credentials == nil {
		return
	}
	say("spec.scrapeClass", "the scrape class %q has authorization.credentials, a key of a Secret in namespace %s, which objects of other namespaces do not get; set authorization here, with a Secret of namespace %s, or credentialsFile in the class, which all objects use",
		class.Name, namespace, object.GetNamespace())
}

// needsCredentials returns the name of the scrape class of an object, and whether there is a job that would use its
// authorization.
func needsCredentials(object catalog.Object) (class string, needs bool) {
	switch m := object.(type) {
	case *v1.ServiceMonitor:
		return m.Spec.ScrapeClass, slices.ContainsFunc(m.Spec.Endpoints, func(e v1.Endpoint) bool {
			return e.BearerTokenFile == "" && anonymous(e.HTTPConfigWithoutTLS)
		})
	case *v1.PodMonitor:
		return m.Spec.ScrapeClass, slices.ContainsFunc(m.Spec.PodMetricsEndpoints, func(e v1.PodMetricsEndpoint) bool {
			return anonymous(e.HTTPConfigWithoutTLS)
		})
	case *v1.Probe:
		return m.Spec.ScrapeClass, m.Spec.BearerTokenSecret == nil && anonymous(v1.HTTPConfigWithoutTLS{
			BasicAuth: m.Spec.BasicAuth, Authorization: m.Spec.Authorization, OAuth2: m.Spec.OAuth2,
		})
	case *v1alpha1.ScrapeConfig:
		return m.Spec.ScrapeClass, anonymous(v1.HTTPConfigWithoutTLS{
			BasicAuth: m.Spec.BasicAuth, Authorization: m.Spec.Authorization, OAuth2: m.Spec.OAuth2,
		})
	}
	return "", false
}

// anonymous reports whether no authentication is set.
func anonymous(h v1.HTTPConfigWithoutTLS) bool {
	return h.BasicAuth == nil && h.OAuth2 == nil && h.Authorization == nil && (h.BearerTokenSecret == nil || h.BearerTokenSecret.Name == "")
}
