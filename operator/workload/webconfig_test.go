package workload

import (
	"fmt"
	"testing"

	"github.com/Masterminds/semver/v3"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// The protocol of a server and its reloaders follows its web configuration.
func TestWebConfig(t *testing.T) {
	encrypted := v1.WebConfigFileFields{
		TLSConfig:  &v1.WebTLSConfig{ClientAuthType: "RequireAnyClientCert"},
		HTTPConfig: &v1.WebHTTPConfig{HTTP2: new(false)},
	}
	for name, tc := range map[string]struct {
		web    WebConfig
		serves bool
		want   string
	}{
		"plain":                  {WebConfig{Dir: "/web", Read: true}, true, "http <nil> {true /web/web-config.yaml false false}"},
		"with TLS":               {WebConfig{Dir: "/web", Read: true, Fields: encrypted}, true, "https false {true /web/web-config.yaml true true}"},
		"reloaders do not serve": {WebConfig{Dir: "/web", Read: true, Fields: encrypted}, false, "https false {true  false false}"},
		"a version without":      {WebConfig{Dir: "/web", Fields: encrypted}, false, "http false {true  false false}"},
	} {
		http2 := "<nil>"
		if h := tc.web.HTTP2(); h != nil {
			http2 = fmt.Sprint(*h)
		}
		if got := fmt.Sprintf("%s %s %v", tc.web.Scheme(), http2, tc.web.Listener(true, tc.serves)); got != tc.want {
			t.Errorf("%s:\n got  %s\n want %s", name, got, tc.want)
		}
	}
}

func TestLost(t *testing.T) {
	since := Versions{Since: "0.22.0"}
	if got := since.Lost("spec.web", true, semver.MustParse("0.21.0")); fmt.Sprint(got) != "[spec.web needs >= 0.22.0]" {
		t.Errorf("got %v", got)
	}
	for version, set := range map[string]bool{"0.21.0": false, "0.22.0": true} {
		if got := since.Lost("spec.web", set, semver.MustParse(version)); got != nil {
			t.Errorf("%s, set %t: got %v", version, set, got)
		}
	}
}
