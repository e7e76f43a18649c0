package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// auditPolicy logs each request with its user once. Requests of the control plane are excluded.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted, Panic]
rules:
- level: None
  userGroups: ["system:nodes", "system:serviceaccounts:kube-system"]
- level: None
  users: ["system:kube-controller-manager", "system:apiserver"]
- level: Metadata
`

// call is one completed request to the API server.
type call struct {
	User struct {
		Username string `json:"username"`
	} `json:"impersonatedUser"`
	Verb   string `json:"verb"`
	URI    string `json:"requestURI"`
	Object struct {
		Group       string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	Response struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Annotations map[string]string `json:"annotations"`
	Received    time.Time         `json:"requestReceivedTimestamp"`
	Answered    time.Time         `json:"stageTimestamp"`
}

// refused reports whether the user lacked a permission. Admission may respond with the same status code.
func (c call) refused() bool {
	return c.Annotations["authorization.k8s.io/decision"] == "forbid"
}

// what returns "verb resource[/subresource] name".
func (c call) what() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Verb, c.resource(), c.Object.Name))
}

func (c call) resource() string {
	if c.Object.Subresource != "" {
		return c.Object.Resource + "/" + c.Object.Subresource
	}
	return c.Object.Resource
}

// writes reports whether the request changes objects.
func (c call) writes() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, c.Verb) &&
		c.Object.Resource != "selfsubjectaccessreviews"
}

// inTheEnd returns the calls without those that lost a write conflict, for example with a controller that updates a
// status: it drops the rejected update and the read that precedes the retry.
func inTheEnd(calls []call) (out []call) {
	lost := map[string]bool{}
	for _, c := range calls {
		object := c.resource() + " " + c.Object.Namespace + "/" + c.Object.Name
		switch {
		case c.Verb == "update" && c.Response.Code == http.StatusConflict:
			lost[object] = true
		case c.Verb == "get" && lost[object]:
			delete(lost, object)
		default:
			out = append(out, c)
		}
	}
	return out
}

// auditLog reads the log file of the API server, which logs a request before it responds.
type auditLog struct {
	path string
	mu   sync.Mutex
	read int64
	all  []call
}

// calls returns all calls of a user so far, without those in namespaces of other tests. For example, every operator of
// the cluster deletes the pods of a deleted workload.
func (a *auditLog) calls(t *testing.T, user string) []call {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.load(); err != nil {
		t.Fatal(err)
	}
	var out []call
	for _, c := range a.all {
		if c.User.Username == user && !ofOtherTest(t, c.Object.Namespace) {
			out = append(out, c)
		}
	}
	return out
}

// ofOtherTest reports whether environment.namespace created a namespace for another test.
func ofOtherTest(t *testing.T, namespace string) bool {
	test, _, _ := strings.Cut(strings.ToLower(t.Name()), "/")
	of, _, _ := strings.Cut(namespace, "-")
	return strings.HasPrefix(of, "test") && of != test
}

// everything returns all calls so far.
func (a *auditLog) everything() ([]call, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.load()
	return a.all, err
}

// load reads the lines added since the last call.
func (a *auditLog) load() error {
	f, err := os.Open(a.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(a.read, 0); err != nil {
		return err
	}
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil // an incomplete line is read next time
		}
		a.read += int64(len(line))
		var c call
		if err := json.Unmarshal(line, &c); err != nil {
			return fmt.Errorf("audit log: %w: %s", err, line)
		}
		a.all = append(a.all, c)
	}
}

// texts returns the calls as "verb resource name" in order, without watches and events.
func texts(calls []call) []string {
	var out []string
	for _, c := range calls {
		if c.Verb != "watch" && c.Object.Resource != "events" {
			out = append(out, c.what())
		}
	}
	return out
}
