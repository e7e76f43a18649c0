package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// bench is a writer with an API server that counts versions and calls, and caches whose content
// is set by the test.
type bench struct {
	kube         *fake.Clientset
	writer       *Writer
	secrets      shown[*corev1.Secret]
	configMaps   shown[*corev1.ConfigMap]
	services     shown[*corev1.Service]
	statefulSets shown[*appsv1.StatefulSet]
	daemonSets   shown[*appsv1.DaemonSet]
	recreated    []string
}

func newBench(t *testing.T, live ...runtime.Object) *bench {
	b := &bench{
		kube:    fake.NewClientset(live...),
		secrets: shown[*corev1.Secret]{}, configMaps: shown[*corev1.ConfigMap]{},
		services: shown[*corev1.Service]{}, statefulSets: shown[*appsv1.StatefulSet]{}, daemonSets: shown[*appsv1.DaemonSet]{},
	}
	version := 100
	b.kube.PrependReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if w, ok := a.(interface{ GetObject() runtime.Object }); ok {
			m, err := meta.Accessor(w.GetObject())
			if err != nil {
				t.Error(err)
				return false, nil, nil
			}
			version++
			m.SetResourceVersion(strconv.Itoa(version))
		}
		return false, nil, nil
	})
	b.writer = NewWriter(b.kube, Caches{b.secrets, b.configMaps, b.services, b.statefulSets, b.daemonSets})
	b.writer.OnRecreate = func(r Recreation) {
		b.recreated = append(b.recreated, r.Namespace+"/"+r.Name+": "+r.Causes+": "+r.Misfit)
	}
	return b
}

// fail makes the next call of a verb fail.
func (b *bench) fail(verb string, err error) {
	done := false
	b.kube.PrependReactor(verb, "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		if done {
			return false, nil, nil
		}
		done = true
		return true, nil, err
	})
}

// track sets another version of an object in the API server than in the cache.
func (b *bench) track(t *testing.T, obj metav1.Object) {
	t.Helper()
	plural := map[string]string{
		"*v1.Secret": "secrets", "*v1.ConfigMap": "configmaps", "*v1.Service": "services", "*v1.StatefulSet": "statefulsets", "*v1.DaemonSet": "daemonsets",
	}[fmt.Sprintf("%T", obj)]
	version := corev1.SchemeGroupVersion
	if strings.HasSuffix(plural, "sets") {
		version = appsv1.SchemeGroupVersion
	}
	if err := b.kube.Tracker().Update(version.WithResource(plural), obj.(runtime.Object), obj.GetNamespace()); err != nil {
		t.Fatal(err)
	}
}

// calls returns and clears the recorded verbs.
func (b *bench) calls() (verbs []string) {
	for _, a := range b.kube.Actions() {
		verbs = append(verbs, a.GetVerb())
	}
	b.kube.ClearActions()
	return verbs
}

var things = schema.GroupResource{Resource: "things"}

func secret(version string, data string, edit ...func(*corev1.Secret)) *corev1.Secret {
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", ResourceVersion: version, Labels: map[string]string{wellknown.LabelManagedBy: wellknown.ManagedBy}},
		Data:       map[string][]byte{"key": []byte(data)},
	}
	for _, e := range edit {
		e(s)
	}
	return s
}

func TestUpsertSecret(t *testing.T) {
	for name, tc := range map[string]struct {
		live    *corev1.Secret // on the server
		hidden  bool           // not in the cache
		want    *corev1.Secret
		fail    map[string]error
		change  Change
		calls   []string
		message string
	}{
		"absent":                           {nil, false, secret("", "new"), nil, Created, []string{"create"}, ""},
		"the same":                         {secret("5", "old"), false, secret("", "old"), nil, Unchanged, nil, ""},
		"another value":                    {secret("5", "old"), false, secret("", "new"), nil, Updated, []string{"update"}, ""},
		"another label":                    {secret("5", "old"), false, secret("", "old", func(s *corev1.Secret) { s.Labels["team"] = "a" }), nil, Updated, []string{"update"}, ""},
		"another owner":                    {secret("5", "old"), false, secret("", "old", func(s *corev1.Secret) { s.OwnerReferences = []metav1.OwnerReference{{Name: "p"}} }), nil, Updated, []string{"update"}, ""},
		"the cache lags behind":            {secret("9", "old"), false, secret("", "new"), map[string]error{"update": apierrors.NewConflict(things, "web", nil)}, Updated, []string{"update", "get", "update"}, ""},
		"there without our labels":         {secret("5", "old", func(s *corev1.Secret) { s.Labels = nil }), true, secret("", "new"), nil, Updated, []string{"create", "get", "update"}, ""},
		"deleted, the cache does not know": {secret("5", "old"), false, secret("", "new"), map[string]error{"update": apierrors.NewNotFound(things, "web")}, Created, []string{"update", "create"}, ""},
		"marked immutable by hand":         {secret("5", "old", func(s *corev1.Secret) { s.Immutable = new(true) }), false, secret("", "old"), nil, Created, []string{"create", "delete", "create"}, ""},
		"of another type":                  {secret("5", "old", func(s *corev1.Secret) { s.Type = corev1.SecretTypeTLS }), false, secret("", "old"), nil, Created, []string{"create", "delete", "create"}, ""},
		"create is refused":                {nil, false, secret("", "TOPSECRET"), map[string]error{"create": apierrors.NewForbidden(things, "web", errors.New("no"))}, "", []string{"create"}, `create Secret "web": things "web" is forbidden: no`},
		"update is refused":                {secret("5", "old"), false, secret("", "TOPSECRET"), map[string]error{"update": apierrors.NewInternalError(errors.New("broken"))}, "", []string{"update"}, `update Secret "web": Internal error occurred: broken`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if tc.live != nil {
				b = newBench(t, tc.live.DeepCopy())
				if !tc.hidden {
					b.secrets.show(DigestSecret(tc.live))
				}
			}
			for verb, err := range tc.fail {
				b.fail(verb, err)
			}
			before := tc.want.DeepCopy()
			if tc.fail["update"] != nil && apierrors.IsNotFound(tc.fail["update"]) {
				if err := b.kube.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("secrets"), "ns", "web"); err != nil {
					t.Fatal(err)
				}
			}
			change, err := b.writer.Secret(t.Context(), tc.want)
			if got := fmt.Sprint(err); (tc.message == "") != (err == nil) || err != nil && got != tc.message {
				t.Errorf("error %q, want %q", got, tc.message)
			}
			if diff := cmp.Diff(tc.calls, b.calls()); change != tc.change || diff != "" {
				t.Errorf("change %q, want %q; calls %s", change, tc.change, diff)
			}
			if diff := cmp.Diff(before, tc.want); diff != "" {
				t.Errorf("the wanted object was changed: %s", diff)
			}
			if err != nil {
				return
			}
			if change, err := b.writer.Secret(t.Context(), tc.want); change != Unchanged || err != nil || b.calls() != nil {
				t.Errorf("once more, with a cache that is behind: %s, %v", change, err)
			}
		})
	}
}

// DigestSecret is idempotent, because informers may transform an object twice.
func TestDigestSecretTwice(t *testing.T) {
	for name, s := range map[string]*corev1.Secret{"with data": secret("5", hidden), "without": {ObjectMeta: metav1.ObjectMeta{Name: "x"}}} {
		once := DigestSecret(s.DeepCopy())
		if diff := cmp.Diff(once.DeepCopy(), DigestSecret(once)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if len(once.Data) > 0 || strings.Contains(fmt.Sprint(once), hidden) {
			t.Errorf("%s: holds values: %v", name, once)
		}
	}
}

// hidden is a value that must not leave the server.
const hidden = "correct horse battery staple"

func TestConflictsAreRetriedAFewTimes(t *testing.T) {
	b := newBench(t, secret("5", "old"))
	b.secrets.show(DigestSecret(secret("5", "old")))
	conflict := apierrors.NewConflict(things, "web", nil)
	b.kube.PrependReactor("update", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, conflict })
	_, err := b.writer.Secret(t.Context(), secret("", "new"))
	if !apierrors.IsConflict(err) {
		t.Errorf("err = %v", err)
	}
	if n := len(b.calls()); n > 16 {
		t.Errorf("%d calls", n)
	}
}

// Repeated writes of a controller and another operator do not prevent an update.
func TestConflictsEnd(t *testing.T) {
	b := newBench(t, secret("5", "old"))
	b.secrets.show(DigestSecret(secret("5", "old")))
	for range 7 {
		b.fail("update", apierrors.NewConflict(things, "web", nil))
	}
	if change, err := b.writer.Secret(t.Context(), secret("", "new")); change != Updated || err != nil {
		t.Errorf("%q, %v", change, err)
	}
}

func TestOverlay(t *testing.T) {
	for name, tc := range map[string]struct{ live, want, result map[string]string }{
		"ours win, others stay":                {map[string]string{"a": "theirs", "b": "2"}, map[string]string{"a": "ours"}, map[string]string{"a": "ours", "b": "2"}},
		"reserved keys go unless wanted":       {map[string]string{wellknown.ReservedPrefix + "x": "1", wellknown.ReservedPrefix + "y": "1"}, map[string]string{wellknown.ReservedPrefix + "y": "2"}, map[string]string{wellknown.ReservedPrefix + "y": "2"}},
		"a longer key is not reserved":         {map[string]string{"my-" + wellknown.ReservedPrefix + "x": "1"}, nil, map[string]string{"my-" + wellknown.ReservedPrefix + "x": "1"}},
		"nothing left is nil":                  {map[string]string{wellknown.ReservedPrefix + "x": "1"}, nil, nil},
		"nothing at all":                       {nil, nil, nil},
		"what we stop wanting stays on theirs": {map[string]string{"a": "1"}, map[string]string{}, map[string]string{"a": "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.result, overlay(tc.live, tc.want)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUpsertConfigMap(t *testing.T) {
	rules := func(version string, data map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "rules", ResourceVersion: version, Labels: map[string]string{wellknown.LabelManagedBy: wellknown.ManagedBy},
		}, Data: data}
	}
	smuggled := rules("5", map[string]string{"a.yaml": "1"})
	smuggled.BinaryData = map[string][]byte{"evil.yaml": []byte("groups: []")}
	frozen := rules("5", map[string]string{"a.yaml": "1"})
	frozen.Immutable = new(true)
	for name, tc := range map[string]struct {
		live  *corev1.ConfigMap
		calls []string
	}{
		"the same":               {rules("5", map[string]string{"a.yaml": "1"}), nil},
		"a file more":            {rules("5", map[string]string{"a.yaml": "1", "b.yaml": "2"}), []string{"update"}},
		"a file as binary data":  {smuggled, []string{"update"}},
		"immutable":              {frozen, []string{"create", "delete", "create"}},
		"an empty value differs": {rules("5", map[string]string{"a.yaml": ""}), []string{"update"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tc.live.DeepCopy())
			b.configMaps.show(DigestConfigMap(tc.live))
			if _, err := b.writer.ConfigMap(t.Context(), rules("", map[string]string{"a.yaml": "1"})); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.calls, b.calls()); diff != "" {
				t.Error(diff)
			}
			got, err := b.kube.CoreV1().ConfigMaps("ns").Get(t.Context(), "rules", metav1.GetOptions{})
			if err != nil || len(got.BinaryData) > 0 || !cmp.Equal(got.Data, map[string]string{"a.yaml": "1"}) {
				t.Errorf("server has %v, %v", got, err)
			}
		})
	}
}

func service(edit ...func(*corev1.Service)) *corev1.Service {
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "prometheus-operated", OwnerReferences: []metav1.OwnerReference{{Kind: "Prometheus", Name: "b", UID: "b"}}},
		Spec: corev1.ServiceSpec{
			ClusterIP: "None", Selector: map[string]string{"app": "prometheus"}, Ports: []corev1.ServicePort{{Name: "web", Port: 9090}},
		},
	}
	for _, e := range edit {
		e(s)
	}
	return s
}

// stored returns a Service with the defaults of the API server.
func stored(edit ...func(*corev1.Service)) *corev1.Service {
	s := service(func(s *corev1.Service) {
		s.ResourceVersion = "5"
		s.Spec.Type = corev1.ServiceTypeClusterIP
		s.Spec.SessionAffinity = corev1.ServiceAffinityNone
		s.Spec.Ports[0].Protocol = corev1.ProtocolTCP
		s.Spec.ClusterIPs = []string{"None"}
		s.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
		s.Spec.IPFamilyPolicy = new(corev1.IPFamilyPolicySingleStack)
		s.Spec.InternalTrafficPolicy = new(corev1.ServiceInternalTrafficPolicyCluster)
	})
	for _, e := range edit {
		e(s)
	}
	return s
}

func TestUpsertService(t *testing.T) {
	other := metav1.OwnerReference{Kind: "Prometheus", Name: "a", UID: "a"}
	for name, tc := range map[string]struct {
		live  *corev1.Service
		calls []string
	}{
		"as the API server completes it": {stored(), nil},
		"another owner shares it":        {stored(func(s *corev1.Service) { s.OwnerReferences = append(s.OwnerReferences, other) }), nil},
		"only another owner yet":         {stored(func(s *corev1.Service) { s.OwnerReferences = []metav1.OwnerReference{other} }), []string{"update"}},
		"selector edited":                {stored(func(s *corev1.Service) { s.Spec.Selector["x"] = "y" }), []string{"update"}},
		"port edited":                    {stored(func(s *corev1.Service) { s.Spec.Ports[0].Port = 80 }), []string{"update"}},
		"opened to the outside":          {stored(func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeNodePort }), []string{"update"}},
		"not ready addresses":            {stored(func(s *corev1.Service) { s.Spec.PublishNotReadyAddresses = true }), []string{"update"}},
		"annotated by others":            {stored(func(s *corev1.Service) { s.Annotations = map[string]string{"theirs": "x"} }), nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tc.live.DeepCopy())
			b.services.show(tc.live)
			if _, err := b.writer.Service(t.Context(), service()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.calls, b.calls()); diff != "" {
				t.Error(diff)
			}
			got, err := b.kube.CoreV1().Services("ns").Get(t.Context(), "prometheus-operated", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Spec.ClusterIP != "None" || !slices.Equal(got.Spec.ClusterIPs, []string{"None"}) || len(got.Spec.IPFamilies) != 1 || got.Spec.IPFamilyPolicy == nil {
				t.Errorf("addresses were not kept: %+v", got.Spec)
			}
			owners := map[string]int{}
			for _, o := range got.OwnerReferences {
				owners[o.Name]++
			}
			if owners["b"] != 1 || owners["a"] > 1 || len(got.OwnerReferences) < len(tc.live.OwnerReferences) {
				t.Errorf("owners %v", got.OwnerReferences)
			}
		})
	}
}

func TestDo(t *testing.T) {
	b := newBench(t)
	steps := []Step{
		{Verb: Put, Object: secret("", "a")},
		{Verb: PutIfNone, Object: secret("", "other")},
		{Verb: Remove, Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "gone"}}},
		{Verb: Verb("burn"), Object: secret("", "a")},
		{Verb: Put, Object: service()},
	}
	done, err := b.writer.Do(context.Background(), steps)
	if err == nil || err.Error() != "cannot burn a Secret" {
		t.Errorf("err = %v", err)
	}
	var changes []Change
	for _, d := range done {
		changes = append(changes, d.Change)
	}
	if diff := cmp.Diff([]Change{Created, Unchanged, Unchanged}, changes); diff != "" {
		t.Error(diff)
	}
	if _, err := b.writer.Do(context.Background(), []Step{{Verb: Put, Object: &corev1.Pod{}}}); err == nil {
		t.Error("a Pod was written")
	}
}

// A user's own Secret without our labels is not changed.
func TestPutIfNoneLeavesAnExistingOne(t *testing.T) {
	b := newBench(t, secret("5", "theirs", func(s *corev1.Secret) { s.Labels = nil }))
	done, err := b.writer.Do(t.Context(), []Step{{Verb: PutIfNone, Object: secret("", "")}})
	if err != nil || done[0].Change != Unchanged {
		t.Fatal(done, err)
	}
	got, err := b.kube.CoreV1().Secrets("ns").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || string(got.Data["key"]) != "theirs" {
		t.Errorf("server has %v, %v", got, err)
	}
}

func TestInTerminatingNamespace(t *testing.T) {
	terminating := apierrors.NewForbidden(things, "a", errors.New("it is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"no error":           {nil, false},
		"terminating":        {fmt.Errorf("create: %w", terminating), true},
		"namespace has gone": {fmt.Errorf("create: %w", apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "ns")), true},
		"object has gone":    {apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "a"), false},
		"no permission":      {apierrors.NewForbidden(things, "a", errors.New("no")), false},
		"another error":      {errors.New("no"), false},
	} {
		if got := InTerminatingNamespace(tc.err); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
