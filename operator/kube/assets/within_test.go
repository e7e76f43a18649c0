package assets

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fake "k8s.io/client-go/kubernetes/fake"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// secrets returns Secrets with a value of kib KiB each and adds them to versions.
func secrets(namespace string, count, kib int, versions known) (out []runtime.Object) {
	for i := range count {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint(i), ResourceVersion: "1"}, Data: map[string][]byte{"ca": make([]byte, kib<<10)}}
		versions[Ref{Secret, namespace, s.Name}] = "1"
		out = append(out, s)
	}
	return out
}

// Contents above the limit are evicted from the namespace that uses most and read again on
// the next request. Results that were compiled from them remain current.
func TestWithin(t *testing.T) {
	versions := known{}
	kube := fake.NewClientset(append(secrets("bad", 50, 100, versions), secrets("good", 10, 20, versions)...)...)
	c := NewCache(kube, versions).Within(1 << 20)
	read := func(namespace string, n int) {
		t.Helper()
		for i := range n {
			o, err := c.Reader(context.Background()).Object(Ref{Secret, namespace, fmt.Sprint(i)})
			if err != nil || len(o.Values["ca"]) == 0 {
				t.Fatalf("%s/%d: %d bytes, %v", namespace, i, len(o.Values["ca"]), err)
			}
			if c.held > c.room {
				t.Fatalf("%d bytes of %d", c.held, c.room)
			}
		}
	}
	read("good", 10)
	read("bad", 50)
	calls := len(kube.Actions())
	read("good", 10)
	if n := len(kube.Actions()); n != calls {
		t.Errorf("%d reads of the namespace that has little", n-calls)
	}
	for ref := range versions {
		if !c.Current([]Dependency{{Ref: ref, Version: "1"}}) {
			t.Errorf("%s is not current", ref)
		}
	}
	if n := len(kube.Actions()); n != calls {
		t.Errorf("%d reads for comparing versions", n-calls)
	}
	read("bad", 50)
	held := 0
	for _, a := range c.answers {
		held += a.object.bytes() * map[bool]int{true: 1, false: 0}[len(a.object.Values) > 0]
	}
	if held != c.held {
		t.Errorf("%d bytes are kept, %d counted", held, c.held)
	}
}

// The size of the referenced objects is limited per referring object.
func TestReferredBytes(t *testing.T) {
	versions := known{}
	kube := fake.NewClientset(secrets("a", 40, 1<<10, versions)...)
	s := NewScope("a", NewCache(kube, versions).Reader(t.Context()))
	var err error
	for i := 0; i < 40 && err == nil; i++ {
		sel := corev1.SecretKeySelector{Key: "ca"}
		sel.Name = fmt.Sprint(i)
		_, err = s.SecretKey(sel)
	}
	if want := fmt.Sprintf("the Secrets and ConfigMaps that it refers to have more than %d MiB", budget.ReferredBytes>>20); err == nil || err.Error() != want || IsTemporary(err) {
		t.Errorf("error %v", err)
	}
	if s.read > budget.ReferredBytes+2<<20 {
		t.Errorf("%d bytes read", s.read)
	}
}

// Objects with the same file share one copy in memory.
func TestFilesAreShared(t *testing.T) {
	versions := known{}
	c := NewCache(fake.NewClientset(secrets("a", 1, 10, versions)...), versions)
	var files [2][]byte
	for i := range files {
		s := NewScope("a", c.Reader(t.Context()))
		sel := corev1.SecretKeySelector{Key: "ca"}
		sel.Name = "0"
		value, err := s.SecretKey(sel)
		if err == nil {
			err = s.AddFile(Secret, "0", "ca", value)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, content := range s.Files() {
			files[i] = content
		}
	}
	if len(files[0]) != 10<<10 || &files[0][0] != &files[1][0] {
		t.Error("each object has a copy")
	}
}
