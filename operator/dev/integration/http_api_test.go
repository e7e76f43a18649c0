package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// callers are users of the HTTP API: one may read the Prometheus objects of a namespace, the other may not.
const callers = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: reader, namespace: %[1]s}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: stranger, namespace: %[1]s}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: %[1]s}
rules: [{apiGroups: [monitoring.coreos.com], resources: [prometheuses], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: reader, namespace: %[1]s}]
`

// token returns a token of a ServiceAccount.
func (w *environment) token(t *testing.T, namespace, account string) string {
	t.Helper()
	request, err := w.kube.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// ask requests a path of the operator with a token.
func (o *operator) ask(t *testing.T, path, token string) (code int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, o.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// Only callers who may get a Prometheus in the cluster can read its status from the operator. An operator without
// permission to check callers reports that.
func TestHTTPAPI(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "http-api", "", "--controller-id=http-api")
	ns := w.deployed(t, o, "http-api")
	w.apply(t, fmt.Sprintf(callers, ns))
	reader, stranger := w.token(t, ns, "reader"), w.token(t, ns, "stranger")
	path := "/apis/monitoring.coreos.com/v1/namespaces/" + ns + "/prometheuses/web/status"

	if code, body := o.ask(t, path, reader); code != http.StatusServiceUnavailable || !strings.Contains(body, "create tokenreviews") {
		t.Errorf("without the permission: %d %s", code, body)
	}
	w.apply(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: integration-http-api-auth-delegator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:auth-delegator}
subjects: [{kind: ServiceAccount, name: http-api, namespace: firekeeper}]
`)
	eventually(t, "the status is served", func() error {
		code, body := o.ask(t, path, reader)
		if code != http.StatusOK {
			return fmt.Errorf("%d %s", code, body)
		}
		got := &unstructured.Unstructured{}
		if err := json.Unmarshal([]byte(body), &got.Object); err != nil {
			t.Fatal(err)
		}
		stored, err := w.get(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web")
		if err != nil {
			t.Fatal(err)
		}
		if got.GetKind() != "Prometheus" || got.GetUID() != stored.GetUID() {
			t.Fatalf("another object: %s", body)
		}
		return hasCondition(got, "Reconciled", "True")
	})
	for name, tc := range map[string]struct {
		path, token string
		code        int
	}{
		"another account":   {path, stranger, http.StatusForbidden},
		"no token":          {path, "x.y.z", http.StatusUnauthorized},
		"another namespace": {strings.Replace(path, ns, "default", 1), reader, http.StatusForbidden},
		"another kind":      {strings.Replace(path, "prometheuses", "thanosrulers", 1), reader, http.StatusForbidden},
		"no such object":    {strings.Replace(path, "web/status", "none/status", 1), reader, http.StatusNotFound},
	} {
		if code, body := o.ask(t, tc.path, tc.token); code != tc.code {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
	for _, secret := range []string{reader, stranger, "x.y.z"} {
		if strings.Contains(o.log.String(), secret) {
			t.Error("a token is in the log")
		}
	}
}
