package assets

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// forbiddable returns an API server that forbids reading Secrets while *forbidden.
func forbiddable(forbidden *bool) *fake.Clientset {
	kube := cluster("1", "old")
	kube.PrependReactor("get", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return *forbidden, nil, apierrors.NewForbidden(corev1.Resource("secrets"), "web", errors.New("no"))
	})
	return kube
}

// An object that was read remains in use for some minutes after the permission for it was lost, and is requested again
// each minute.
func TestLostPermission(t *testing.T) {
	forbidden := false
	c := NewCache(forbiddable(&forbidden), known{}) // the watch needs the permission, too
	pass := clock(c)
	if _, err := read(t, c, web); err != nil {
		t.Fatal(err)
	}
	deps := []Dependency{{Ref: web, Version: "1"}}
	forbidden = true
	for range int(forgiven / firstRecheck) {
		pass(firstRecheck)
		if due := c.Due(); len(due) != 1 {
			t.Errorf("due %v", due)
		}
		if o, err := read(t, c, web); err != nil || string(o.Values["password"]) != "old" || !c.Current(deps) {
			t.Fatalf("%v, %v: not forgiven", o, err)
		}
	}
	for range 2 {
		pass(firstRecheck)
		if _, err := read(t, c, web); !apierrors.IsForbidden(err) || c.Current(deps) {
			t.Errorf("%v, want forbidden", err)
		}
	}
	forbidden = false
	if retried := c.Retry("team"); len(retried) != 1 {
		t.Errorf("retried %v", retried)
	}
	if o, err := read(t, c, web); err != nil || o.Version != "1" {
		t.Errorf("%v, %v", o, err)
	}
	forbidden = true
	pass(firstRecheck)
	if _, err := read(t, c, web); err != nil {
		t.Errorf("not forgiven a second time: %v", err)
	}
}

func TestPermissionThatComesBack(t *testing.T) {
	forbidden := false
	versions := known{web: "1"}
	kube := forbiddable(&forbidden)
	c := NewCache(kube, versions)
	pass := clock(c)
	if _, err := read(t, c, web); err != nil {
		t.Fatal(err)
	}
	forbidden = true
	update := &corev1.Secret{ObjectMeta: meta("team", "web", "2"), Data: map[string][]byte{"password": []byte("new")}}
	if err := kube.Tracker().Update(corev1.SchemeGroupVersion.WithResource("secrets"), update, "team"); err != nil {
		t.Fatal(err)
	}
	versions[web] = "2"
	if o, err := read(t, c, web); err != nil || o.Version != "1" {
		t.Errorf("%v, %v", o, err)
	}
	forbidden = false
	if o, err := read(t, c, web); err != nil || o.Version != "1" {
		t.Errorf("%v, %v: it is asked for again after a pause only", o, err)
	}
	if retried := c.Retry(""); len(retried) != 1 {
		t.Errorf("retried %v", retried)
	}
	if o, err := read(t, c, web); err != nil || o.Version != "2" {
		t.Errorf("%v, %v", o, err)
	}
	pass(time.Hour)
	if o, err := read(t, c, web); err != nil || string(o.Values["password"]) != "new" {
		t.Errorf("%v, %v", o, err)
	}
}

// Permission is required before content: an object that was never read is refused immediately.
func TestNeverPermitted(t *testing.T) {
	forbidden := true
	c := NewCache(forbiddable(&forbidden), known{web: "1"})
	if _, err := read(t, c, web); !apierrors.IsForbidden(err) {
		t.Errorf("%v, want forbidden", err)
	}
}

// An object that disappears from the watch and is forbidden is used on, one that was deleted is not.
func TestUnsure(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		forbidden := false
		versions := known{web: "1"}
		c := NewCache(forbiddable(&forbidden), versions)
		pass := clock(c)
		if _, err := read(t, c, web); err != nil {
			t.Fatal(err)
		}
		forbidden = true
		delete(versions, web)
		if deleted {
			c.Forget(web)
		} else {
			c.Unsure(web)
		}
		if c.Current([]Dependency{{Ref: web, Version: "1"}}) {
			t.Errorf("deleted %t: it is not read again", deleted)
		}
		if _, err := read(t, c, web); apierrors.IsForbidden(err) != deleted {
			t.Errorf("deleted %t: %v", deleted, err)
		}
		pass(forgiven + time.Second)
		if _, err := read(t, c, web); !apierrors.IsForbidden(err) {
			t.Errorf("deleted %t: %v after %s", deleted, err, forgiven)
		}
		c.Unsure(web)
		if _, err := read(t, c, web); !apierrors.IsForbidden(err) {
			t.Errorf("deleted %t: %v when its absence is not sure", deleted, err)
		}
	}
}
