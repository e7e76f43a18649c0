package engine

import (
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Cached objects and changes in the caches are available without a call to the API server.
func TestCaches(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		told := map[Change]int{}
		var mu sync.Mutex // caches notify concurrently
		b.changed = func(c Change) {
			mu.Lock()
			defer mu.Unlock()
			told[c]++
		}
		w := ruler("a")
		w.Annotations["secrets"] = "token"
		b.set(secretOf("token", "x"))
		b.set(secretOf("other", "y"))
		b.set(w)
		b.set(rule("r"))
		c := b.start([]*catalog.Row{catalog.Probe}, f)[0]
		for of, want := range map[*catalog.Row]string{catalog.ThanosRuler: "a", catalog.PrometheusRule: "r"} {
			caches := c.Caches(of.GroupVersionResource())
			if len(caches) != 1 || !caches[0].Covers("team") {
				t.Fatalf("%s: %d caches", of, len(caches))
			}
			if o, ok := caches[0].Object("team", want); !ok || o.GetName() != want {
				t.Errorf("%s: %v %v", of, o, ok)
			}
			for _, namespace := range []string{"", "team"} {
				n := 0
				for range caches[0].Objects(namespace) {
					n++
				}
				if n != 1 {
					t.Errorf("%s in %q: %d", of, namespace, n)
				}
			}
		}
		if caches := c.Caches(catalog.Probe.GroupVersionResource()); caches != nil {
			t.Errorf("%d caches of an absent kind", len(caches))
		}
		if caches := c.Caches(corev1.SchemeGroupVersion.WithResource("nodes")); caches != nil {
			t.Errorf("%d caches of nodes", len(caches))
		}
		calls := 0
		b.answers(func(call) *metav1.Status { calls++; return nil })
		references, before := c.References()
		if o, err := references.Object(assets.Ref{Namespace: "team", Name: "token"}); err != nil || string(o.Values["value"]) != "x" {
			t.Errorf("token: %v %v", o, err)
		}
		if _, err := references.Object(assets.Ref{Namespace: "team", Name: "other"}); err == nil || assets.IsNotFound(err) {
			t.Errorf("a Secret that nobody refers to: %v", err)
		}
		if _, err := references.Object(assets.Ref{Namespace: "team", Name: "none"}); !assets.IsNotFound(err) {
			t.Errorf("a Secret that does not exist: %v", err)
		}
		if calls != 0 {
			t.Errorf("%d calls", calls)
		}
		b.answers(nil)
		mu.Lock()
		clear(told)
		mu.Unlock()
		b.set(secretOf("token", "z"))
		b.set(rule("s"))
		b.settle()
		if o, err := references.Object(assets.Ref{Namespace: "team", Name: "token"}); err != nil || string(o.Values["value"]) != "z" {
			t.Errorf("token: %v %v", o, err)
		}
		if _, after := c.References(); after == before {
			t.Error("a changed value is no change")
		}
		mu.Lock()
		defer mu.Unlock()
		if told[Change{AboutConfig, "PrometheusRule", types.NamespacedName{Namespace: "team", Name: "s"}}] == 0 {
			t.Errorf("told %v", told)
		}
	})
}
