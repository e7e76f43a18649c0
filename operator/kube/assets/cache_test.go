package assets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// known holds the versions in the metadata informers; an object without entry is not watched.
type known map[Ref]string

func (k known) Version(ref Ref) (string, bool) {
	v, ok := k[ref]
	return v, ok
}

var web = Ref{Secret, "team", "web"}

// cluster returns an API server with one Secret and one ConfigMap, both "team/web".
func cluster(version, password string) *fake.Clientset {
	return fake.NewClientset(
		&corev1.Secret{ObjectMeta: meta("team", "web", version), Data: map[string][]byte{"password": []byte(password)}},
		&corev1.ConfigMap{ObjectMeta: meta("team", "web", version), Data: map[string]string{"ca": "text"}},
	)
}

func read(t *testing.T, c *Cache, ref Ref) (Object, error) {
	t.Helper()
	return c.Reader(t.Context()).Object(ref)
}

func TestCacheReadsOncePerVersion(t *testing.T) {
	kube, versions := cluster("1", "old"), known{web: "1"}
	c := NewCache(kube, versions)
	for range 3 {
		if o, err := read(t, c, web); err != nil || string(o.Values["password"]) != "old" || o.Version != "1" {
			t.Fatal(o, err)
		}
	}
	if n := len(kube.Actions()); n != 1 {
		t.Errorf("%d calls for one version", n)
	}
	update := &corev1.Secret{ObjectMeta: meta("team", "web", "2"), Data: map[string][]byte{"password": []byte("new")}}
	if err := kube.Tracker().Update(corev1.SchemeGroupVersion.WithResource("secrets"), update, "team"); err != nil {
		t.Fatal(err)
	}
	versions[web] = "2"
	if o, err := read(t, c, web); err != nil || string(o.Values["password"]) != "new" {
		t.Error(o, err)
	}
	if n := len(kube.Actions()); n != 2 {
		t.Errorf("%d calls for two versions", n)
	}
}

func TestCacheReadsConfigMaps(t *testing.T) {
	ref := Ref{ConfigMap, "team", "web"}
	c := NewCache(cluster("1", ""), known{ref: "1"})
	if o, err := read(t, c, ref); err != nil || string(o.Values["ca"]) != "text" {
		t.Error(o, err)
	}
}

// All entries of an object can be mounted, but references do not resolve to binaryData.
func TestMounted(t *testing.T) {
	both := &corev1.ConfigMap{
		ObjectMeta: meta("team", "both", "1"), Data: map[string]string{"a.tmpl": "text"}, BinaryData: map[string][]byte{"logo": {0xff}},
	}
	static := &Static{}
	static.AddConfigMap(both)
	ref := Ref{ConfigMap, "team", "both"}
	for name, r := range map[string]Reader{"cluster": NewCache(fake.NewClientset(both), known{ref: "1"}).Reader(t.Context()), "manifests": static} {
		s := NewScope("team", r)
		got, err := s.Mounted(ConfigMap, "both")
		if diff := cmp.Diff(map[string][]byte{"a.tmpl": []byte("text"), "logo": {0xff}}, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
		if _, err := s.ConfigMapKey(corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "both"}, Key: "logo"}); !IsNotFound(err) {
			t.Errorf("%s: a reference to binaryData: %v", name, err)
		}
		if _, err := s.Mounted(Secret, "none"); !IsNotFound(err) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Mounted(Secret, "No Name"); err == nil || IsNotFound(err) {
			t.Errorf("%s: %v", name, err)
		}
		if n := len(s.Dependencies()); n != 2 {
			t.Errorf("%s: %d dependencies", name, n)
		}
	}
}

func TestCacheReadsNoMissingObjectAgain(t *testing.T) {
	kube := fake.NewClientset()
	c := NewCache(kube, known{web: ""})
	if _, err := read(t, c, web); !IsNotFound(err) || len(kube.Actions()) != 0 {
		t.Error(err, kube.Actions())
	}
}

// clock sets the clock of a cache to a fixed time; pass advances it.
func clock(c *Cache) (pass func(time.Duration)) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c.now = func() time.Time { return now }
	return func(d time.Duration) { now = now.Add(d) }
}

var gone = Ref{Secret, "team", "gone"}

// Objects that are not watched are read once a minute, whether they exist or not.
func TestCacheReadsWhatIsNotWatchedNowAndThen(t *testing.T) {
	kube := cluster("1", "old")
	c := NewCache(kube, known{})
	pass := clock(c)
	reads := func() int {
		for range 3 {
			if _, err := read(t, c, web); err != nil {
				t.Fatal(err)
			}
			if _, err := read(t, c, gone); !IsNotFound(err) || IsTemporary(err) {
				t.Error(err)
			}
		}
		defer kube.ClearActions()
		return len(kube.Actions())
	}
	deps := []Dependency{{web, "1"}, {gone, ""}}
	if n := reads(); n != 2 || !c.Current(deps) || len(c.Due()) != 0 {
		t.Errorf("%d calls, %v", n, c.Due())
	}
	pass(firstRecheck)
	if c.Current(deps[:1]) || c.Current(deps[1:]) || len(c.Due()) != 2 {
		t.Errorf("nothing is read again: %v", c.Due())
	}
	if n := reads(); n != 2 || !c.Current(deps) {
		t.Errorf("%d calls after a minute", n)
	}
	pass(firstRecheck) // a missing object may be rechecked later, an existing one may have changed
	if due := c.Due(); !slices.Equal(due, []Ref{web}) || !c.Current(deps[1:]) {
		t.Errorf("due %v", due)
	}
	pass(firstRecheck)
	if _, err := kube.CoreV1().Secrets("team").Create(t.Context(), &corev1.Secret{ObjectMeta: meta("team", "gone", "9")}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if o, err := read(t, c, gone); err != nil || o.Version != "9" || c.Current(deps[1:]) {
		t.Error(o, err)
	}
}

func TestCachePauseGrowsWhileAnObjectIsMissing(t *testing.T) {
	kube := fake.NewClientset()
	c := NewCache(kube, known{})
	pass := clock(c)
	var calls []int
	for minute := range 40 {
		_, _ = read(t, c, gone)
		if len(kube.Actions()) > 0 {
			calls = append(calls, minute)
		}
		kube.ClearActions()
		pass(time.Minute)
	}
	if want := []int{0, 1, 3, 7, 15, 23, 31, 39}; !slices.Equal(calls, want) {
		t.Errorf("read in the minutes %v, want %v", calls, want)
	}
	pass(lastRecheck + keepDue)
	if c.Due(); len(c.answers) != 0 {
		t.Error("what nobody asks for any more is kept")
	}
}

// An object is read immediately once the watch has it.
func TestCacheFollowsTheWatchBeforeTheTimeIsOver(t *testing.T) {
	kube, versions := fake.NewClientset(), known{}
	c := NewCache(kube, versions)
	if _, err := read(t, c, web); !IsNotFound(err) {
		t.Fatal(err)
	}
	if err := kube.Tracker().Add(&corev1.Secret{ObjectMeta: meta("team", "web", "5")}); err != nil {
		t.Fatal(err)
	}
	versions[web] = "5"
	if c.Current([]Dependency{{web, ""}}) {
		t.Error("it is still taken for missing")
	}
	if o, err := read(t, c, web); err != nil || o.Version != "5" {
		t.Error(o, err)
	}
	// The result of a read is not cached if the object is deleted meanwhile.
	delete(versions, web)
	kube.PrependReactor("get", "*", func(clienttesting.Action) (bool, runtime.Object, error) { c.Forget(web); return false, nil, nil })
	if _, err := read(t, c, web); err != nil || c.Current([]Dependency{{web, "5"}}) {
		t.Error("an answer from before the deletion is kept", err)
	}
}

func TestCacheRetriesAfterForbidden(t *testing.T) {
	kube, versions := cluster("1", hidden), known{web: "1"}
	allowed := false
	kube.PrependReactor("get", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return !allowed, nil, apierrors.NewForbidden(corev1.Resource("secrets"), "web", errors.New("no"))
	})
	c := NewCache(kube, versions)
	pass := clock(c)
	compile := func() (string, []Dependency, error) {
		s := NewScope("team", c.Reader(t.Context()))
		v, err := s.SecretKey(secretKey("web", "password"))
		return v, s.Dependencies(), err
	}
	_, deps, err := compile()
	if want := `name: Secret "team/web" cannot be read: no permission to get secrets in namespace "team"`; err == nil || err.Error() != want || !IsRefused(err) {
		t.Errorf("%v, want %s", err, want)
	}
	if _, _, _ = compile(); len(kube.Actions()) != 1 || !c.Current(deps) {
		t.Errorf("%d calls for one refusal", len(kube.Actions()))
	}
	allowed = true
	pass(firstRecheck)
	if due := c.Due(); c.Current(deps) || !slices.Equal(due, []Ref{web}) {
		t.Errorf("a refusal is kept: %v", due)
	}
	if v, _, err := compile(); v != hidden || err != nil || len(c.Due()) != 0 {
		t.Error(err, c.Due())
	}
}

func TestCacheDropsWhatIsGone(t *testing.T) {
	kube, versions := cluster("1", "old"), known{web: "1"}
	c := NewCache(kube, versions)
	if _, err := read(t, c, web); err != nil {
		t.Fatal(err)
	}
	c.Forget(web)
	if _, err := read(t, c, web); err != nil || len(kube.Actions()) != 2 {
		t.Error(err, kube.Actions())
	}
	// The object is deleted on the server, and the informer lags behind.
	if err := kube.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("secrets"), "team", "web"); err != nil {
		t.Fatal(err)
	}
	versions[web] = "2"
	if _, err := read(t, c, web); !IsNotFound(err) {
		t.Error(err)
	}
}

// A failure of the API server is temporary, whereas a request that it rejects is the
// fault of the referring object.
func TestFailedReads(t *testing.T) {
	secrets := corev1.Resource("secrets")
	for name, tc := range map[string]struct {
		cause     error
		temporary bool
	}{
		"down":                {errors.New("connection refused"), true},
		"ended":               {context.DeadlineExceeded, true},
		"overload":            {apierrors.NewTooManyRequests("later", 1), true},
		"slow":                {apierrors.NewTimeoutError("later", 1), true},
		"request timed out":   {&apierrors.StatusError{ErrStatus: metav1.Status{Code: 408}}, true},
		"broken":              {apierrors.NewInternalError(errors.New("etcd")), true},
		"not logged in":       {apierrors.NewUnauthorized("expired"), true}, // concerns the operator, not a single object
		"forbidden":           {apierrors.NewForbidden(secrets, "web", errors.New("no")), false},
		"bad request":         {apierrors.NewBadRequest("no"), false},
		"no such API":         {apierrors.NewMethodNotSupported(secrets, "get"), false},
		"gone":                {apierrors.NewResourceExpired("no"), false},
		"wrapped and refused": {fmt.Errorf("get: %w", apierrors.NewBadRequest("no")), false},
	} {
		kube := cluster("1", hidden)
		kube.PrependReactor("get", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tc.cause })
		s := NewScope("team", NewCache(kube, known{web: "1"}).Reader(t.Context()))
		_, err := s.SecretKey(secretKey("web", "password"))
		if IsTemporary(err) != tc.temporary || IsRefused(err) == tc.temporary || IsNotFound(err) || !errors.Is(err, tc.cause) || strings.Contains(err.Error(), hidden) {
			t.Errorf("%s: %v", name, err)
		}
		if _, again := s.SecretKey(secretKey("web", "user")); again == nil || again.Error() != err.Error() || len(kube.Actions()) != 1 {
			t.Errorf("%s: asked again: %v", name, again)
		}
	}
}

func TestCurrent(t *testing.T) {
	c := NewCache(fake.NewClientset(), known{web: "7", gone: ""})
	for name, tc := range map[string]struct {
		deps []Dependency
		want bool
	}{
		"nothing":             {nil, true},
		"the same version":    {[]Dependency{{web, "7"}}, true},
		"still missing":       {[]Dependency{{gone, ""}}, true},
		"another version":     {[]Dependency{{web, "6"}}, false},
		"appeared":            {[]Dependency{{web, ""}}, false},
		"disappeared":         {[]Dependency{{gone, "3"}}, false},
		"not watched":         {[]Dependency{{Ref{ConfigMap, "team", "web"}, "7"}}, false},
		"one of them changed": {[]Dependency{{web, "7"}, {gone, "3"}}, false},
	} {
		if got := c.Current(tc.deps); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCacheFromManyGoroutines(t *testing.T) {
	c := NewCache(cluster("1", "x"), known{web: "1", {ConfigMap, "team", "web"}: "1"})
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			ref := Ref{Kind(i % 2), "team", "web"}
			if i%5 == 0 {
				c.Forget(ref)
			}
			if o, err := c.Reader(t.Context()).Object(ref); err != nil || o.Version != "1" {
				t.Error(o, err)
			}
		})
	}
	wg.Wait()
}
