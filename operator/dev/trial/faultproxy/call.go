package faultproxy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"
)

// Call is a request without its content.
type Call struct {
	Verb        string // as in RBAC: get, list, watch, create, update, patch, delete
	Resource    string // "statefulsets"; the path of a request that is not about objects
	Subresource string
	Namespace   string
	Name        string // also of a created object; empty if the API server chooses it
	DryRun      bool
}

// String returns "patch prometheuses/status web".
func (c Call) String() string {
	what := c.Resource
	if c.Subresource != "" {
		what += "/" + c.Subresource
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Verb, what, c.Name))
}

// unstored are resources that a request creates only to get a response, and Leases and Events, which do not
// affect the workloads.
var unstored = []string{"selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews", "tokenreviews", "leases", "events"}

// Writes reports whether the call changes an object.
func (c Call) Writes() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, c.Verb) && !c.DryRun &&
		!slices.Contains(unstored, c.Resource)
}

// Changes reports whether the call changes an object that exists.
func (c Call) Changes() bool { return c.Writes() && c.Verb != "create" && c.Verb != "delete" }

// Watches reports whether the call is a watch.
func (c Call) Watches() bool { return c.Verb == "watch" }

// Counts are numbers of requests.
type Counts map[Call]int

// Sum returns the number of requests that match.
func (c Counts) Sum(match func(Call) bool) (n int) {
	for call, count := range c {
		if match(call) {
			n += count
		}
	}
	return n
}

// Strings returns one line per call that matches, with its number if it is not one.
func (c Counts) Strings(match func(Call) bool) []string {
	var out []string
	for _, call := range slices.SortedFunc(maps.Keys(c), func(a, b Call) int { return cmp.Compare(a.String(), b.String()) }) {
		switch n := c[call]; {
		case !match(call):
		case n == 1:
			out = append(out, call.String())
		default:
			out = append(out, fmt.Sprintf("%s (%d)", call, n))
		}
	}
	return out
}

// callOf describes a request. It reads the body: that of a creation has the name.
func (p *Proxy) callOf(r *http.Request) (Call, error) {
	info, err := p.info.NewRequestInfo(r)
	if err != nil {
		return Call{}, err
	}
	if !info.IsResourceRequest {
		return Call{Verb: info.Verb, Resource: info.Path}, nil
	}
	out := Call{
		Verb: info.Verb, Resource: info.Resource, Subresource: info.Subresource, Namespace: info.Namespace, Name: info.Name,
		DryRun: r.URL.Query().Get("dryRun") != "",
	}
	// A client stops sending a body when it is refused, and a proxy that passes the body on while it comes then waits for
	// the rest of it, and the client for the end of the answer.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return out, err
	}
	if len(body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	if out.Verb == "create" && out.Name == "" {
		out.Name = nameIn(body)
	}
	return out, nil
}

// nameIn returns the name of an object as JSON, or as protobuf if its kind is built in.
func nameIn(body []byte) string {
	var o struct{ Metadata struct{ Name string } }
	if json.Unmarshal(body, &o) == nil {
		return o.Metadata.Name
	}
	built, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return ""
	}
	accessor, err := meta.Accessor(built)
	if err != nil {
		return ""
	}
	return accessor.GetName()
}
