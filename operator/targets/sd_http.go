package targets

import (
	"fmt"
	"slices"
)

// HTTPSDKey is the key of HTTP discoveries in a job.
const HTTPSDKey = "http_sd_configs"

// HTTPSD is one entry of http_sd_configs, without credentials.
type HTTPSD struct {
	// URL that returns the list of targets.
	URL string
	// NoRedirects is true when redirects are not followed.
	NoRedirects bool
	// SkipVerify is true when the certificate of the URL is not verified.
	SkipVerify bool
	// Needs are the keys of other settings that a request needs: credentials, files of the pod, a
	// proxy.
	Needs []string
}

// plainHTTP are keys of a discovery that only affect headers which Prometheus itself sets, not the
// rest of the request.
var plainHTTP = []string{"refresh_interval", "enable_http2", "min_version", "max_version"}

// UnmarshalYAML implements yaml.Unmarshaler. Credentials are not kept.
func (h *HTTPSD) UnmarshalYAML(unmarshal func(any) error) error {
	var text struct {
		URL       string         `yaml:"url"`
		Redirects *bool          `yaml:"follow_redirects"`
		TLS       map[string]any `yaml:"tls_config"`
		Rest      map[string]any `yaml:",inline"`
	}
	if err := unmarshal(&text); err != nil {
		return err
	}
	*h = HTTPSD{URL: text.URL, NoRedirects: text.Redirects != nil && !*text.Redirects}
	for key, value := range text.TLS {
		if skip, is := value.(bool); is && key == "insecure_skip_verify" {
			h.SkipVerify = skip
		} else if !slices.Contains(plainHTTP, key) {
			h.Needs = append(h.Needs, "tls_config."+key)
		}
	}
	for key, value := range text.Rest {
		if !slices.Contains(plainHTTP, key) && fmt.Sprint(value) != "false" {
			h.Needs = append(h.Needs, key)
		}
	}
	slices.Sort(h.Needs)
	return nil
}
