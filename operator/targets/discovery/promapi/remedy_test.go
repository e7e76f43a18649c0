package promapi

import (
	"strings"
	"testing"
)

// Remedy recognizes the errors of Prometheus 3.13.
func TestRemedy(t *testing.T) {
	for text, want := range map[string]string{
		"tls: failed to verify certificate: x509: cannot validate certificate for 10.0.0.7 because it doesn't contain any IP SANs": "tlsConfig.serverName",
		"tls: failed to verify certificate: x509: certificate is valid for 127.0.0.1, not 10.0.0.7":                                "tlsConfig.serverName",
		"tls: failed to verify certificate: x509: certificate is not valid for any names, but wanted to match web":                 "tlsConfig.serverName",
		"tls: failed to verify certificate: x509: certificate signed by unknown authority":                                         "tlsConfig.ca",
		"tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-01-02 is after":   "renew",
		"remote error: tls: certificate required":                                                                     "tlsConfig.cert and keySecret",
		"http: server gave HTTP response to HTTPS client":                                                             "scheme: http,",
		`net/http: HTTP/1.x transport connection broken: malformed HTTP response "\x15\x03\x01\x00\x02\x02"`:          "scheme: https",
		"server returned HTTP status 400 Bad Request":                                                                 "scheme: https",
		"server returned HTTP status 401 Unauthorized":                                                                "basicAuth",
		"server returned HTTP status 403 Forbidden":                                                                   "permission",
		"server returned HTTP status 404 Not Found":                                                                   "correct path",
		"dial tcp 10.0.0.7:8080: connect: connection refused":                                                         "nothing listens",
		"context deadline exceeded":                                                                                   "NetworkPolicy",
		"dial tcp 10.0.0.7:8080: i/o timeout":                                                                         "NetworkPolicy",
		"read tcp 10.0.0.1:1->10.0.0.7:8080: read: connection reset by peer":                                          "mTLS",
		"dial tcp: lookup web.apps.svc on 10.96.0.10:53: no such host":                                                "DNS",
		"body size limit exceeded":                                                                                    "bodySizeLimit",
		"sample limit exceeded":                                                                                       "sampleLimit",
		"label_limit exceeded (metric: a, number of labels: 12, limit: 10)":                                           "labelLimit",
		"target_limit exceeded (number of targets: 5, limit: 4)":                                                      "targetLimit",
		`non-compliant scrape target sending blank Content-Type and no fallback_scrape_protocol specified for target`: "fallbackScrapeProtocol",
		`expected a valid start token, got "<" ("INVALID") while parsing: "<"`:                                        "no metrics",
		"something else": "",
		"":               "",
	} {
		got := Remedy(text)
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
