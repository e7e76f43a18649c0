package startup

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
)

// forbidden matches the message of a call that the authorizer has forbidden. Admission
// plugins and quotas respond with the same code but other messages. There is no object
// name for lists and new objects.
var forbidden = regexp.MustCompile(`(?:"([^"]+)" )?is forbidden: User "[^"]*" cannot ([a-z]+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?`)

// maxStatus is an upper bound for the size of a response to a forbidden call.
const maxStatus = 64 << 10

// Watch returns a transport that records forbidden calls.
func (m *Missing) Watch(next http.RoundTripper) http.RoundTripper { return refusals{m, next} }

type refusals struct {
	missing *Missing
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r refusals) RoundTrip(request *http.Request) (*http.Response, error) {
	out, err := r.next.RoundTrip(request)
	if err != nil || out.StatusCode != http.StatusForbidden {
		return out, err
	}
	text, err := io.ReadAll(io.LimitReader(out.Body, maxStatus))
	out.Body = rereadBody{io.MultiReader(bytes.NewReader(text), out.Body), out.Body}
	if err == nil {
		if found := forbidden.FindSubmatch(bytes.ReplaceAll(text, []byte(`\"`), []byte(`"`))); found != nil {
			p := Permission{Group: string(found[4]), Resource: string(found[3]), Verb: string(found[2]), Namespace: string(found[5])}
			r.missing.note(p, string(found[1]))
		}
	}
	return out, nil
}

// rereadBody is a body of which a part was read and is returned again.
type rereadBody struct {
	io.Reader
	io.Closer
}

// WrappedRoundTripper returns the wrapped transport to client-go, which looks for the
// innermost one.
func (r refusals) WrappedRoundTripper() http.RoundTripper { return r.next }
