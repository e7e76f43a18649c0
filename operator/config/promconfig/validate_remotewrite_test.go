package promconfig

import "testing"

// Only values that the server cannot parse are rejected, and no message has a password.
func TestEndpoint(t *testing.T) {
	for text, want := range map[string]string{
		"http://a/b?c=d":           "",
		"http://a:$(PORT)/x":       "", // substituted in the pod
		"kube:6443":                "",
		"":                         "",
		"10.0.0.1:6443":            "url: is not a URL: write https://10.0.0.1:6443",
		"[::1":                     "url: is not a URL",
		"http://a:b":               "url: is not a URL",
		"http://user:secret@a b/c": "url: is not a URL",
		"1:user:secret@a":          "url: is not a URL",
	} {
		if got := errorText(checkEndpoint("url", text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
