package promapi

import "regexp"

// remedies are what usually mends the errors of scrapes, by what their texts contain. The first that matches applies.
var remedies = []struct {
	of     *regexp.Regexp
	remedy string
}{
	{regexp.MustCompile(`doesn't contain any IP SANs|certificate is (?:valid for|not valid for any)`),
		"targets are scraped by IP address, and the certificate has names: set tlsConfig.serverName to one of its names, or insecureSkipVerify: true"},
	{regexp.MustCompile(`signed by unknown authority`), "set tlsConfig.ca to the certificate of the authority that signed the one of the target"},
	{regexp.MustCompile(`certificate has expired`), "renew the certificate of the target"},
	{regexp.MustCompile(`tls: (?:bad certificate|certificate required)`), "the target wants a client certificate that it trusts: set tlsConfig.cert and keySecret"},
	{regexp.MustCompile(`server gave HTTP response to HTTPS client|first record does not look like a TLS handshake`), "the target speaks plain HTTP on this port: write scheme: http, or select its port for TLS"},
	{regexp.MustCompile(`malformed HTTP response|HTTP status 400`), "the target may speak TLS on this port: write scheme: https"},
	{regexp.MustCompile(`HTTP status 401`), "the target wants credentials: set authorization, basicAuth or oauth2"},
	{regexp.MustCompile(`HTTP status 403`), "the credentials lack a permission: behind kube-rbac-proxy and for kubelets, the ServiceAccount of the Prometheus needs what the target asks for, such as get on nonResourceURLs /metrics or on nodes/metrics"},
	{regexp.MustCompile(`HTTP status 404`), "there are no metrics at this path: correct path, or select the port that has them"},
	{regexp.MustCompile(`connection refused`), "nothing listens on this address: correct the port, or have the program listen on all addresses and not only on localhost"},
	{regexp.MustCompile(`i/o timeout|deadline exceeded|Client\.Timeout|no route to host`), "the target does not answer in time: look for a NetworkPolicy that keeps the Prometheus from it, or raise scrapeTimeout, and interval if need be"},
	{regexp.MustCompile(`connection reset by peer|: EOF$`), "the target ends connections: a mesh with strict mTLS refuses plain HTTP; exempt the port there, or set scheme: https with certificates of the mesh"},
	{regexp.MustCompile(`no such host`), "the name of the host is not known to DNS: correct it"},
	{regexp.MustCompile(`body size limit exceeded`), "raise bodySizeLimit (or enforcedBodySizeLimit of the Prometheus), or have the target expose less"},
	{regexp.MustCompile(`sample limit exceeded`), "raise sampleLimit (or enforcedSampleLimit of the Prometheus), or drop metrics in metricRelabelings"},
	{regexp.MustCompile(`label_limit|label_name_length_limit|label_value_length_limit`), "raise labelLimit, labelNameLengthLimit or labelValueLengthLimit (or the enforced ones of the Prometheus), or drop labels in metricRelabelings"},
	{regexp.MustCompile(`target_limit exceeded`), "raise targetLimit (or enforcedTargetLimit of the Prometheus), or select fewer targets"},
	{regexp.MustCompile(`Content-Type`), "the target does not say which format it has: set fallbackScrapeProtocol, such as PrometheusText0.0.4"},
	{regexp.MustCompile(`expected a valid start token|is not a valid start token|INVALID`), "what is answered are no metrics: correct path or port"},
}

// Remedy returns what usually mends the error of a scrape, without anything of its text; empty if it is not known.
func Remedy(lastError string) string {
	for _, r := range remedies {
		if r.of.MatchString(lastError) {
			return r.remedy
		}
	}
	return ""
}
