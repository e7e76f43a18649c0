package assets

import (
	"errors"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// known is what the metadata informers show; a missing entry is not watched.
type known map[Ref]string

func (k known) Version(ref Ref) (string, bool) {
	v, ok := k[ref]
	return v, ok
}

var web = Ref{Secret, "team", "web"}

// cluster is an API server with one Secret and one ConfigMap, both "team/web".
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

func TestCacheAsksNothingAboutWhatIsKnownToBeMissing(t *testing.T) {
	kube := fake.NewClientset()
	c := NewCache(kube, known{web: ""})
	if _, err := read(t, c, web); !IsNotFound(err) || len(kube.Actions()) != 0 {
		t.Error(err, kube.Actions())
	}
}

func TestCacheAlwaysReadsWhatIsNotWatched(t *testing.T) {
	kube := cluster("1", "old")
	c := NewCache(kube, known{})
	for range 3 {
		if _, err := read(t, c, web); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(kube.Actions()); n != 3 {
		t.Errorf("%d calls, want one each time", n)
	}
	if _, err := read(t, c, Ref{Secret, "team", "gone"}); !IsNotFound(err) || IsTemporary(err) {
		t.Error(err)
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
	// Deleted on the server while the informer is behind.
	if err := kube.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("secrets"), "team", "web"); err != nil {
		t.Fatal(err)
	}
	versions[web] = "2"
	if _, err := read(t, c, web); !IsNotFound(err) {
		t.Error(err)
	}
}

// A server that does not answer, or refuses, is no reason to reject an object.
func TestCacheTellsTemporaryErrorsApart(t *testing.T) {
	for name, cause := range map[string]error{
		"down":      errors.New("connection refused"),
		"forbidden": apierrors.NewForbidden(corev1.Resource("secrets"), "web", errors.New("no")),
		"overload":  apierrors.NewTooManyRequests("later", 1),
	} {
		kube := cluster("1", hidden)
		kube.PrependReactor("get", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, cause })
		s := NewScope("team", NewCache(kube, known{web: "1"}).Reader(t.Context()))
		_, err := s.SecretKey(secretKey("web", "password"))
		if !IsTemporary(err) || IsNotFound(err) || !errors.Is(err, cause) || strings.Contains(err.Error(), hidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCurrent(t *testing.T) {
	gone := Ref{Secret, "team", "gone"}
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
