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

// auditPolicy logs who called what, once per call. The cluster's own programs are left out.
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

// call is one finished call to the API server.
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

// refused reports whether the caller lacked the right; admission may refuse too,
// with the same code.
func (c call) refused() bool {
	return c.Annotations["authorization.k8s.io/decision"] == "forbid"
}

// what is "verb resource[/subresource] name".
func (c call) what() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Verb, c.resource(), c.Object.Name))
}

func (c call) resource() string {
	if c.Object.Subresource != "" {
		return c.Object.Resource + "/" + c.Object.Subresource
	}
	return c.Object.Resource
}

// writes reports whether the call changes objects.
func (c call) writes() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, c.Verb) &&
		c.Object.Resource != "selfsubjectaccessreviews"
}

// inTheEnd are the calls without those that lost to a write of somebody else, such as a
// controller that writes a status meanwhile: the update that was refused, and the reading of
// the object before it is repeated.
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

// auditLog is the API server's file, which it writes before it answers.
type auditLog struct {
	path string
	mu   sync.Mutex
	read int64
	all  []call
}

// calls are all calls so far of a user, but those in namespaces of other tests: every operator
// of the cluster deletes the pods of a workload that is gone, for example.
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

// ofOtherTest reports whether world.namespace has made a namespace for another test.
func ofOtherTest(t *testing.T, namespace string) bool {
	test, _, _ := strings.Cut(strings.ToLower(t.Name()), "/")
	of, _, _ := strings.Cut(namespace, "-")
	return strings.HasPrefix(of, "test") && of != test
}

// everything are all calls so far.
func (a *auditLog) everything() ([]call, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.load()
	return a.all, err
}

// load reads what was written since the last time.
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
			return nil // the rest of the line is still being written
		}
		a.read += int64(len(line))
		var c call
		if err := json.Unmarshal(line, &c); err != nil {
			return fmt.Errorf("audit log: %w: %s", err, line)
		}
		a.all = append(a.all, c)
	}
}

// texts are the calls as "verb resource name", watches and events left out, in order.
func texts(calls []call) []string {
	var out []string
	for _, c := range calls {
		if c.Verb != "watch" && c.Object.Resource != "events" {
			out = append(out, c.what())
		}
	}
	return out
}
