package promconfig

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/config"
	"go.yaml.in/yaml/v2"
)

// TestHeaders: exactly the headers that Prometheus rejects are rejected, and no error contains a value.
func TestHeaders(t *testing.T) {
	names := append([]string{"Authorization", "AUTHORIZATION", "X-Scope-OrgID", "Accept", "X-Amz-Other"}, reservedHeaders...)
	for _, name := range append(names, "Content-Type") {
		ours := checkHeaders(map[string]string{"A": "1", name: "hunter2"}, "")
		text := fmt.Sprintf("url: http://a/\nheaders: {A: '1', %q: hunter2}\n", name)
		write, read := yaml.Unmarshal([]byte(text), &config.RemoteWriteConfig{}), yaml.Unmarshal([]byte(text), &config.RemoteReadConfig{})
		tracing := yaml.Unmarshal([]byte(strings.Replace(text, "url: http://a/", "endpoint: a", 1)), &config.TracingConfig{})
		if (ours == nil) != (write == nil) || (ours == nil) != (read == nil) || (ours == nil) != (tracing == nil) {
			t.Errorf("%s: %v, and Prometheus says %v for remote_write, %v for remote_read and %v for tracing", name, ours, write, read, tracing)
		}
		if ours != nil && strings.Contains(ours.Error(), "hunter2") {
			t.Errorf("%s: the message has the value: %v", name, ours)
		}
	}
}
