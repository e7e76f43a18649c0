package bindings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

var (
	k8s   = Workload{"prometheuses", "monitoring", "k8s"}
	now   = metav1.NewTime(time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC))
	early = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
)

func binding(o Workload, generation int64, rejection error) v1.WorkloadBinding {
	return v1.WorkloadBinding{Group: v1.GroupName, Resource: o.Resource, Namespace: o.Namespace, Name: o.Name,
		Conditions: []v1.ConfigResourceCondition{condition(generation, rejection, early)}}
}

func object(bindings ...v1.WorkloadBinding) Object {
	return Object{Row: catalog.ServiceMonitor, Namespace: "demo", Name: "web", Version: "7", Generation: 3, Bindings: bindings}
}

// text returns the encoded change, "" if none is needed.
func text(t *testing.T, c Change, needed bool) string {
	t.Helper()
	if !needed {
		return ""
	}
	var what any = c.Steps
	if c.Status != nil {
		what = c.Status
	}
	out, err := json.Marshal(what)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestBind(t *testing.T) {
	other := Workload{"prometheuses", "monitoring", "other"}
	agent := Workload{"prometheusagents", "monitoring", "k8s"}
	const (
		yes   = `{"lastTransitionTime":"2026-11-21T06:00:00Z","observedGeneration":3,"status":"True","type":"Accepted"}`
		no    = `{"lastTransitionTime":"2026-11-21T06:00:00Z","message":"spec.x: bad","observedGeneration":3,"reason":"InvalidConfiguration","status":"False","type":"Accepted"}`
		id    = `"group":"monitoring.coreos.com","name":"k8s","namespace":"monitoring","resource":"prometheuses"`
		tests = `{"op":"test","path":"/status/bindings/%[1]d/name","value":"k8s"},{"op":"test","path":"/status/bindings/%[1]d/namespace","value":"monitoring"},` +
			`{"op":"test","path":"/status/bindings/%[1]d/resource","value":"prometheuses"},{"op":"test","path":"/status/bindings/%[1]d/group","value":"monitoring.coreos.com"}`
	)
	bad := errors.New("spec.x: bad")
	for name, tc := range map[string]struct {
		have      []v1.WorkloadBinding
		rejection error
		want      string
	}{
		"the first binding is a status of its own": {nil, nil, `{"bindings":[{"conditions":[` + yes + `],` + id + `}]}`},
		"a rejection has its reason":               {nil, bad, `{"bindings":[{"conditions":[` + no + `],` + id + `}]}`},
		"one more is added":                        {[]v1.WorkloadBinding{binding(other, 3, nil), binding(agent, 3, nil)}, nil, `[{"op":"add","path":"/status/bindings/-","value":{"conditions":[` + yes + `],` + id + `}}]`},
		"the same one is left":                     {[]v1.WorkloadBinding{binding(k8s, 3, nil)}, nil, ""},
		"the same rejection is left":               {[]v1.WorkloadBinding{binding(k8s, 3, bad)}, bad, ""},
		"another generation is written":            {[]v1.WorkloadBinding{binding(other, 1, nil), binding(k8s, 2, nil)}, nil, `[` + fmt.Sprintf(tests, 1) + `,{"op":"replace","path":"/status/bindings/1/conditions","value":[` + yes + `]}]`},
		"another result is written":                {[]v1.WorkloadBinding{binding(k8s, 3, nil)}, bad, `[` + fmt.Sprintf(tests, 0) + `,{"op":"replace","path":"/status/bindings/0/conditions","value":[` + no + `]}]`},
		"a binding without conditions is written":  {[]v1.WorkloadBinding{{Group: v1.GroupName, Resource: "prometheuses", Namespace: "monitoring", Name: "k8s"}}, nil, `[` + fmt.Sprintf(tests, 0) + `,{"op":"replace","path":"/status/bindings/0/conditions","value":[` + yes + `]}]`},
	} {
		t.Run(name, func(t *testing.T) {
			change, needed := Bind(object(tc.have...), k8s, tc.rejection, now)
			if diff := cmp.Diff(tc.want, text(t, change, needed)); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("a release removes the one binding", func(t *testing.T) {
		change, needed := Release(object(binding(other, 1, nil), binding(k8s, 2, nil)), k8s)
		if diff := cmp.Diff(`[`+fmt.Sprintf(tests, 1)+`,{"op":"remove","path":"/status/bindings/1"}]`, text(t, change, needed)); diff != "" {
			t.Error(diff)
		}
		if _, needed := Release(object(binding(other, 1, nil), binding(agent, 1, nil)), k8s); needed {
			t.Error("a release without a binding writes")
		}
	})
}

func TestMessagesAreBounded(t *testing.T) {
	got := condition(1, errors.New(strings.Repeat("é", budget.MessageBytes)), now).Message
	if len(got) > budget.MessageBytes || !utf8.ValidString(got) || !strings.HasSuffix(got, " …") {
		t.Errorf("%d bytes, valid %t", len(got), utf8.ValidString(got))
	}
}

// internal returns an error of etcd as an API server passes it on.
func internal(message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 500, Message: message}}
}

// Workloads of one tenant that select the object of another one cannot fill its status until the object can no longer
// be changed, however long their messages are.
func TestStatusIsBounded(t *testing.T) {
	long := errors.New(strings.Repeat("x", budget.MessageBytes))
	obj, all := object(), 0
	for i := range 5000 {
		change, needed := Bind(obj, Workload{"prometheuses", "hostile", fmt.Sprint("p", i)}, long, now)
		if !needed {
			continue
		}
		if change.Status != nil {
			obj.Bindings = change.Status.Bindings
		} else {
			obj.Bindings = append(obj.Bindings, change.Steps[0].Value.(v1.WorkloadBinding))
		}
		all++
	}
	if n := len(bindingsOf(t, obj)); n > budget.BindingsBytes || all < 50 {
		t.Errorf("%d bindings with %d bytes", all, n)
	}
	obj.Bindings[7].Conditions[0].Message = ""
	change, needed := Bind(obj, Workload{"prometheuses", "hostile", "p7"}, long, now)
	if !needed {
		t.Fatal("a binding that exists is not changed")
	}
	obj.Bindings[7].Conditions = change.Steps[len(change.Steps)-1].Value.([]v1.ConfigResourceCondition)
	if _, again := Bind(obj, Workload{"prometheuses", "hostile", "p7"}, long, early); again {
		t.Error("the same result is written again")
	}
	if n := len(bindingsOf(t, obj)); n > budget.BindingsBytes {
		t.Errorf("%d bytes after a change", n)
	}
	for name := range map[string]bool{"k8s": true, "p4999": true} {
		if _, needed := Bind(obj, Workload{"prometheuses", "hostile", name}, nil, now); needed {
			t.Errorf("%s is added to a full status", name)
		}
	}
}

func bindingsOf(t *testing.T, obj Object) string {
	t.Helper()
	text, err := json.Marshal(obj.Bindings)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// server increments versions and stores the writes.
type server struct {
	mu     sync.Mutex
	writes int
	bytes  int // of each object
	err    func(Change) error
}

func (s *server) write(_ context.Context, c Change) (Written, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.err != nil {
		if err := s.err(c); err != nil {
			return Written{}, err
		}
	}
	return Written{fmt.Sprint(100 + s.writes), []v1.WorkloadBinding{binding(k8s, c.Object.Generation, nil)}, s.bytes}, nil
}

func TestWhatWasWrittenIsKnownBeforeTheCacheShowsIt(t *testing.T) {
	s := &server{}
	w := NewWriter(s.write)
	pass := func(cached Object) {
		t.Helper()
		if change, needed := Bind(w.Current(cached), k8s, nil, now); needed {
			if refused, _, err := w.Do(t.Context(), []Change{change}); err != nil || len(refused) > 0 {
				t.Fatal(err)
			}
		}
	}
	cached := object()
	for range 3 {
		pass(cached)
	}
	if s.writes != 1 {
		t.Errorf("%d writes of one binding", s.writes)
	}
	cached.Generation = 4
	pass(cached) // the cache has the new spec but not the status, so its version is older
	pass(cached)
	if s.writes != 2 {
		t.Errorf("%d writes of two generations", s.writes)
	}
	cached.Version, cached.Bindings = "102", []v1.WorkloadBinding{binding(k8s, 4, nil)}
	pass(cached)
	if s.writes != 2 || len(w.written) != 0 {
		t.Errorf("%d writes, %d remembered after the cache has all of it", s.writes, len(w.written))
	}
}

// The cache never has the last write to a deleted object, which must not be remembered.
func TestDeletedObjectsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWriter((&server{}).write)
		write := func(name string) {
			t.Helper()
			o := object()
			o.Name = name
			change, _ := Bind(w.Current(o), k8s, nil, now)
			if refused, _, err := w.Do(t.Context(), []Change{change}); err != nil || len(refused) > 0 {
				t.Fatal(err)
			}
		}
		for i := range 100 {
			write(fmt.Sprint(i))
		}
		time.Sleep(2 * shownWithin)
		write("last")
		if len(w.written) != 1 {
			t.Errorf("%d writes are remembered", len(w.written))
		}
	})
}

func TestFaultsOfOneObjectLeaveTheOthers(t *testing.T) {
	resource := schema.GroupResource{Resource: "servicemonitors"}
	var changes []Change
	for i := range 40 {
		obj := object()
		obj.Name = fmt.Sprint("m", i)
		change, _ := Bind(obj, k8s, nil, now)
		changes = append(changes, change)
	}
	for name, tc := range map[string]struct {
		err   error
		fails bool
	}{
		"an object that is gone is passed by": {apierrors.NewNotFound(resource, "m3"), false},
		"a conflict is reported":              {apierrors.NewConflict(resource, "m3", errors.New("newer")), true},
		"a test that fails is reported":       {apierrors.NewInvalid(schema.GroupKind{Kind: "ServiceMonitor"}, "m3", nil), true},
		"an object that is full is reported":  {internal("etcdserver: request is too large"), true},
		"one that a webhook denies is":        {apierrors.NewForbidden(resource, "m3", errors.New(`admission webhook "policy.example" denied the request: no team`)), true},
		"one that a policy denies is":         {apierrors.NewForbidden(resource, "m3", errors.New("ValidatingAdmissionPolicy 'team' with binding 'all' denied request: no team")), true},
		"one that no connection carries, too": {internal("rpc error: code = ResourceExhausted desc = trying to send message larger than max (2097600 vs. 2097152)"), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{err: func(c Change) error {
				if c.Object.Name == "m3" {
					return tc.err
				}
				return nil
			}}
			refused, _, err := NewWriter(s.write).Do(t.Context(), changes)
			if err != nil || (len(refused) == 1) != tc.fails || s.writes != len(changes) {
				t.Errorf("%d writes, refused %v, %v", s.writes, refused, err)
			}
			if tc.fails && (refused[0].Change.Object.Name != "m3" || !errors.Is(refused[0].Err, tc.err)) {
				t.Errorf("refused %v", refused)
			}
		})
	}
	t.Run("a failure of all stops", func(t *testing.T) {
		s := &server{err: func(Change) error { return apierrors.NewTooManyRequestsError("busy") }}
		if _, _, err := NewWriter(s.write).Do(t.Context(), changes); !apierrors.IsTooManyRequests(err) || s.writes > 2*parallel {
			t.Errorf("%d writes, %v", s.writes, err)
		}
	})
}

// What all objects of a namespace have in common, a missing permission or a webhook that does not answer, leaves the
// other namespaces.
func TestFaultsOfANamespaceLeaveTheOthers(t *testing.T) {
	webhook := `Internal error occurred: failed calling webhook "policy.example": Post "https://policy.team.svc:443/": dial tcp: connection refused`
	conversion := `conversion webhook for monitoring.coreos.com/v1beta1, Kind=AlertmanagerConfig failed: Post "https://operator.monitoring.svc:443/convert": EOF`
	for name, err := range map[string]error{
		"a permission is missing":             apierrors.NewForbidden(schema.GroupResource{Resource: "servicemonitors/status"}, "m", errors.New(`User "operator" cannot patch resource`)),
		"a webhook does not answer":           internal(webhook),
		"a conversion webhook does not, too":  internal(conversion),
		"an admission webhook, of the object": internal(`admission webhook "policy.example" denied the request: no team`),
	} {
		t.Run(name, func(t *testing.T) {
			change := func(namespace string, i int) Change {
				obj := object()
				obj.Namespace, obj.Name = namespace, fmt.Sprint("m", i)
				out, _ := Bind(obj, k8s, nil, now)
				return out
			}
			var changes []Change
			for i := range 100 {
				changes = append(changes, change("closed", i), change("team", i))
			}
			var mu sync.Mutex
			tried := map[string]int{}
			w := NewWriter(func(_ context.Context, c Change) (Written, error) {
				mu.Lock()
				defer mu.Unlock()
				tried[c.Object.Namespace]++
				if c.Object.Namespace == "closed" {
					return Written{}, err
				}
				return Written{}, nil
			})
			refused, _, failed := w.Do(t.Context(), changes)
			most := 2 * parallel
			if OfObject(err) {
				most = 100
			}
			if failed != nil || tried["team"] != 100 || tried["closed"] > most || len(refused) != tried["closed"] {
				t.Errorf("writes %v, %d refused, %v", tried, len(refused), failed)
			}
			for _, r := range refused {
				if r.Place == OfObject(err) || PlaceOf(r.Change) != (Place{"servicemonitors", "closed"}) {
					t.Errorf("refused %+v", r)
				}
			}
		})
	}
}

// A permission that is missing everywhere is not tried in thousands of namespaces.
func TestFaultsOfManyNamespaces(t *testing.T) {
	var changes []Change
	for i := range 1000 {
		obj := object()
		obj.Namespace = fmt.Sprint("team-", i)
		change, _ := Bind(obj, k8s, nil, now)
		changes = append(changes, change)
	}
	s := &server{err: func(Change) error { return apierrors.NewForbidden(schema.GroupResource{}, "", nil) }}
	if _, _, err := NewWriter(s.write).Do(t.Context(), changes); !apierrors.IsForbidden(err) || s.writes > manyPlaces+2*parallel {
		t.Errorf("%d writes, %v", s.writes, err)
	}
}

// The API server stores a whole object for each change of its status: of large ones, few are written at a time.
func TestLargeObjects(t *testing.T) {
	var changes []Change
	for i := range 100 {
		obj := object()
		obj.Name = fmt.Sprint("m", i)
		change, _ := Bind(obj, k8s, nil, now)
		changes = append(changes, change)
	}
	s := &server{bytes: 1 << 20}
	_, bytes, err := NewWriter(s.write).Do(t.Context(), changes)
	if err != nil || bytes <= TurnBytes || s.writes > TurnBytes>>20+parallel+1 || bytes != s.writes<<20 {
		t.Errorf("%d writes of %d bytes, %v", s.writes, bytes, err)
	}
}
