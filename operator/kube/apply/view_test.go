package apply

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// shown is an informer cache whose content is set by the test.
type shown[T metav1.Object] map[string]T

func (s shown[T]) Get(namespace, name string) (T, bool) {
	obj, ok := s[namespace+"/"+name]
	return obj, ok
}

func (s shown[T]) List(namespace string, where informer.Where) []T {
	var out []T
	for _, obj := range s {
		if obj.GetNamespace() == namespace && where.Matches(obj) {
			out = append(out, obj)
		}
	}
	return out
}

func (s shown[T]) show(obj T) { s[obj.GetNamespace()+"/"+obj.GetName()] = obj }
func (s shown[T]) hide(obj T) { delete(s, obj.GetNamespace()+"/"+obj.GetName()) }

func configMap(version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", UID: "one", ResourceVersion: version}}
}

func TestView(t *testing.T) {
	v5, v6, v7, v10 := configMap("5"), configMap("6"), configMap("7"), configMap("10")
	again := configMap("9")
	again.UID = "two"
	for name, tc := range map[string]struct {
		cache *corev1.ConfigMap // before the write
		write func(*View[*corev1.ConfigMap])
		then  *corev1.ConfigMap // in the cache afterwards
		want  *corev1.ConfigMap
	}{
		"version before, a write: our write":          {v5, wrote(v6), v5, v6},
		"a version between, a write: our write":       {v5, wrote(v10), v7, v10},
		"our version, a write: the cache":             {v5, wrote(v6), configMap("6"), configMap("6")},
		"a later version, a write: the cache":         {v5, wrote(v6), v10, v10},
		"nothing, a create: our create":               {nil, wrote(v6), nil, v6},
		"our version, a create: the cache":            {nil, wrote(v6), configMap("6"), configMap("6")},
		"nothing, an update: nothing":                 {v5, wrote(v6), nil, nil},
		"the deleted version, a delete: nothing":      {v5, removed(v5), v5, nil},
		"nothing, a delete: nothing":                  {v5, removed(v5), nil, nil},
		"a later version, a delete: the cache":        {v5, removed(v5), again, again},
		"the deleted version, a deletion that lasts":  {v5, ending(v6), v5, v6},
		"a write that changed nothing: the cache":     {v5, wrote(configMap("5")), v5, v5},
		"the cache was faster than the answer":        {v7, wrote(v6), v7, v7},
		"the cache was faster than a deletion's":      {nil, removed(v5), nil, nil},
		"versions that are no numbers: only equality": {configMap("a"), wrote(configMap("b")), configMap("a"), configMap("a")},
		"nothing remembered: the cache":               {v5, func(*View[*corev1.ConfigMap]) {}, v5, v5},
	} {
		t.Run(name, func(t *testing.T) {
			cache := shown[*corev1.ConfigMap]{}
			view := newView(cache)
			if tc.cache != nil {
				cache.show(tc.cache)
			}
			tc.write(view)
			cache.hide(v5)
			if tc.then != nil {
				cache.show(tc.then)
			}
			got, ok := view.Get("ns", "web")
			if ok != (tc.want != nil) {
				t.Fatalf("Get says there is one: %v", ok)
			}
			if ok && got != tc.want && got.ResourceVersion != tc.want.ResourceVersion {
				t.Errorf("Get = version %s, want %s", got.ResourceVersion, tc.want.ResourceVersion)
			}
			if listed := view.List("ns", informer.Where{}); len(listed) != btoi(ok) || ok && listed[0] != got {
				t.Errorf("List = %v, Get = %v", listed, got)
			}
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func wrote(o *corev1.ConfigMap) func(*View[*corev1.ConfigMap]) {
	return func(v *View[*corev1.ConfigMap]) { v.wrote(o) }
}

func removed(o *corev1.ConfigMap) func(*View[*corev1.ConfigMap]) {
	return func(v *View[*corev1.ConfigMap]) { v.removed(o) }
}

func ending(o *corev1.ConfigMap) func(*View[*corev1.ConfigMap]) {
	return func(v *View[*corev1.ConfigMap]) { v.ending(o) }
}

// A create is only used for a limited time: an object that was created and deleted while
// the watch was down has no event.
func TestViewDoubtsACreateTheCacheNeverShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		view := newView(shown[*corev1.ConfigMap]{})
		view.wrote(configMap("6"))
		time.Sleep(createdHolds - time.Second)
		if _, ok := view.Get("ns", "web"); !ok {
			t.Error("forgotten too early")
		}
		time.Sleep(2 * time.Second)
		if _, ok := view.Get("ns", "web"); ok {
			t.Error("still believed")
		}
	})
}

// An object that we created is deleted before the next read.
func TestViewForgetsWhatIsGone(t *testing.T) {
	cache := shown[*corev1.ConfigMap]{}
	view := newView(cache)
	mine := configMap("6")
	view.wrote(mine)
	if !view.Ours(mine) || view.Ours(configMap("7")) {
		t.Error("Ours mixes versions up")
	}
	old := configMap("5")
	old.UID = "an earlier one"
	view.Forget(old)
	if _, ok := view.Get("ns", "web"); !ok {
		t.Error("the end of an earlier object took the new one away")
	}
	view.Forget(configMap("7")) // the version of its deletion
	if _, ok := view.Get("ns", "web"); ok || view.Ours(mine) {
		t.Error("still there after its deletion")
	}
}

func TestViewListsByLabelAndNamespace(t *testing.T) {
	cache := shown[*corev1.ConfigMap]{}
	view := newView(cache)
	make := func(ns, name, version, app string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: ns, Name: name, UID: types.UID(name), ResourceVersion: version, Labels: map[string]string{"app": app},
		}}
	}
	cache.show(make("ns", "shown", "1", "x"))
	cache.show(make("ns", "deleted", "1", "x"))
	view.wrote(make("ns", "created", "3", "x"))
	view.wrote(make("ns", "of-another-app", "4", "y"))
	view.wrote(make("other", "elsewhere", "5", "x"))
	view.removed(make("ns", "deleted", "1", "x"))
	names := map[string]bool{}
	for _, m := range view.List("ns", informer.Labelled("app", "x")) {
		names[m.Name] = true
	}
	if diff := cmp.Diff(map[string]bool{"shown": true, "created": true}, names); diff != "" {
		t.Error(diff)
	}
}

// A cache without a watch may get our object for the first time after another client has changed it.
func TestViewSince(t *testing.T) {
	view := newView(shown[*corev1.ConfigMap]{})
	if view.Since(configMap("5")) {
		t.Error("nothing was written, so nothing can be later")
	}
	view.wrote(configMap("5"))
	for version, want := range map[string]bool{"4": false, "5": false, "6": true} {
		if got := view.Since(configMap(version)); got != want {
			t.Errorf("version %s is later: %v, want %v", version, got, want)
		}
	}
}
