package promapi

import (
	"io"
	"net/http"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// maxError is the maximum size of an error in bytes, which a client reads as a whole.
const maxError = 64 << 10

// Client returns a client for requests to pods, which are not trusted. It does not follow redirects:
// a pod chooses where they lead, and the credentials of the caller would be sent there.
func Client(cfg *rest.Config) (kubernetes.Interface, error) {
	usual, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, err
	}
	strict := *usual
	strict.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if strict.Transport == nil {
		strict.Transport = http.DefaultTransport
	}
	strict.Transport = shortErrors{strict.Transport}
	return kubernetes.NewForConfigAndClient(cfg, &strict)
}

// shortErrors truncates the bodies of responses other than 2xx.
type shortErrors struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (s shortErrors) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.RoundTripper.RoundTrip(r)
	if err == nil && resp.StatusCode/100 != 2 {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxError), resp.Body}
	}
	return resp, err
}
