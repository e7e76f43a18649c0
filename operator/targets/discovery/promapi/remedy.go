package promapi

import (
	"slices"
	"strings"
)

// remedies are the usual fixes of errors of scrapes. The first row applies of which the error contains a part.
var remedies = []struct {
	of     []string
	remedy string
}{
	{[]string{"doesn't contain any IP SANs", "certificate is valid for", "certificate is not valid for any"},
		"targets are scraped by IP address, and the certificate has names: set tlsConfig.serverName to one of its names, or insecureSkipVerify: true"},
	{[]string{"signed by unknown authority"}, "set tlsConfig.ca to the certificate of the authority that signed the one of the target"},
	{[]string{"certificate has expired"}, "renew the certificate of the target"},
	{[]string{"tls: bad certificate", "tls: certificate required"}, "the target wants a client certificate that it trusts: set tlsConfig.cert and keySecret"},
	{[]string{"server gave HTTP response to HTTPS client", "first record does not look like a TLS handshake"}, "the target speaks plain HTTP on this port: write scheme: http, or select its port for TLS"},
	{[]string{"malformed HTTP response", "HTTP status 400"}, "the target may speak TLS on this port: write scheme: https"},
	{[]string{"HTTP status 401"}, "the target wants credentials: set authorization, basicAuth or oauth2"},
	{[]string{"HTTP status 403"}, "the credentials lack a permission: behind kube-rbac-proxy and for kubelets, the ServiceAccount of the Prometheus needs what the target asks for, such as get on nonResourceURLs /metrics or on nodes/metrics"},
	{[]string{"HTTP status 404"}, "there are no metrics at this path: correct path, or select the port that has them"},
	{[]string{"connection refused"}, "nothing listens on this address: correct the port, or have the program listen on all addresses and not only on localhost"},
	{[]string{"i/o timeout", "deadline exceeded", "Client.Timeout", "no route to host"}, "the target does not answer in time: look for a NetworkPolicy that keeps the Prometheus from it, or raise scrapeTimeout, and interval if need be"},
	{[]string{"connection reset by peer", ": EOF"}, "the target ends connections: a mesh with strict mTLS refuses plain HTTP; exempt the port there, or set scheme: https with certificates of the mesh"},
	{[]string{"no such host"}, "the name of the host is not known to DNS: correct it"},
	{[]string{"body size limit exceeded"}, "raise bodySizeLimit (or enforcedBodySizeLimit of the Prometheus), or have the target expose less"},
	{[]string{"sample limit exceeded"}, "raise sampleLimit (or enforcedSampleLimit of the Prometheus), or drop metrics in metricRelabelings"},
	{[]string{"label_limit", "label_name_length_limit", "label_value_length_limit"}, "raise labelLimit, labelNameLengthLimit or labelValueLengthLimit (or the enforced ones of the Prometheus), or drop labels in metricRelabelings"},
	{[]string{"target_limit exceeded"}, "raise targetLimit (or enforcedTargetLimit of the Prometheus), or select fewer targets"},
	{[]string{"Content-Type"}, "the target does not say which format it has: set fallbackScrapeProtocol, such as PrometheusText0.0.4"},
	{[]string{"expected a valid start token", "is not a valid start token", "INVALID"}, "what is answered are no metrics: correct path or port"},
}

// Remedy returns the usual fix of an error of a scrape, without any of its text; empty if it is unknown.
func Remedy(lastError string) string {
	for _, r := range remedies {
		if slices.ContainsFunc(r.of, func(part string) bool { return strings.Contains(lastError, part) }) {
			return r.remedy
		}
	}
	return ""
}
