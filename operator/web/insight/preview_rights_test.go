package insight_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// asked counts permission checks.
type asked struct {
	allowed
	n int
}

// May implements [access.Rights].
func (a *asked) May(ctx context.Context, verb string, of schema.GroupResource, namespace string) (bool, error) {
	a.n++
	return a.allowed.May(ctx, verb, of, namespace)
}

// A preview requires permission to get all objects in the manifests, at any position. Otherwise it
// would reveal which workloads select made-up objects.
func TestPreviewNeedsPermission(t *testing.T) {
	a := answers(t, loaded(t, []byte(selectsAll)), nil)
	object := func(kind, namespace string) string {
		return fmt.Sprintf(`{"apiVersion":"monitoring.coreos.com/v1","kind":%q,"metadata":{"namespace":%q,"name":"x"},"spec":{}}`, kind, namespace)
	}
	in := func(namespace string) string { return object("Prometheus", namespace) }
	const list = `{"apiVersion":"monitoring.coreos.com/v1","kind":"PrometheusList","items":[`
	reader := allowed{"get prometheuses demo"}
	for name, tc := range map[string]struct {
		rights    allowed
		body, has string // in an error; empty for an answer
	}{
		"allowed":             {reader, in("demo"), ""},
		"another namespace":   {reader, in("prod"), `no permission to get prometheuses in namespace "prod"`},
		"second document":     {reader, in("demo") + "\n---\n" + in("prod"), `"prod"`},
		"default namespace":   {reader, in(""), `"default"`},
		"another kind":        {reader, object("Alertmanager", "demo"), `get alertmanagers`},
		"in a list":           {reader, `{"apiVersion":"v1","kind":"List","items":[` + in("demo") + `,` + in("prod") + `]}`, `"prod"`},
		"in a typed list":     {reader, list + in("prod") + `]}`, `"prod"`},
		"with a fault":        {reader, in("prod") + "\n---\n" + strings.Replace(in("demo"), `"spec"`, `"specs"`, 1), `"prod"`},
		"nobody":              {allowed{}, in("demo"), `"demo"`},
		"about all workloads": {allowed{}, "apiVersion: v1\nkind: X\n", `: there is no workload that you may get`}, // and does not reveal where workloads exist
		"nobody can say":      {allowed{"error"}, in("demo"), "the API server does not answer"},
	} {
		_, err := a.Preview(t.Context(), tc.rights, []byte(tc.body))
		if (err == nil) != (tc.has == "") || err != nil && !strings.Contains(err.Error(), tc.has) || err != nil && name != "nobody can say" && !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var many strings.Builder
	for i := range 41 {
		many.WriteString(in(fmt.Sprintf("n%d", i)) + "\n---\n")
	}
	counting := &asked{everything, 0}
	if _, err := a.Preview(t.Context(), counting, []byte(many.String())); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "more than 40 kinds and namespaces") || counting.n > 1 {
		t.Errorf("many namespaces: %v after %d questions", err, counting.n)
	}
}
