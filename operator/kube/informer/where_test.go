package informer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func TestWhere(t *testing.T) {
	for _, tc := range []struct {
		where   Where
		name    string
		labels  map[string]string
		matches bool
	}{
		{Where{}, "any", nil, true},
		{NamedAfter("prometheus-web"), "prometheus-web", nil, true},
		{NamedAfter("prometheus-web"), "prometheus-web-tls-assets-0", nil, true},
		{NamedAfter("prometheus-web"), "prometheus-website", nil, false},
		{NamedAfter("prometheus-web"), "prometheus", nil, false},
		{NamedAfter("web-"), "web--x", nil, true},
		{Labelled("app", "web"), "a", map[string]string{"app": "web"}, true},
		{Labelled("app", "web"), "a", map[string]string{"app": "web2"}, false},
		{Labelled("app", ""), "a", nil, false},
		{Labelled("app", ""), "a", map[string]string{"app": ""}, true},
	} {
		if got := tc.where.Matches(&metav1.ObjectMeta{Name: tc.name, Labels: tc.labels}); got != tc.matches {
			t.Errorf("%+v selects %q %v: %v", tc.where, tc.name, tc.labels, got)
		}
	}
}

// TestIndexAgreesWithMatches selects random objects with an index and without one.
func TestIndexAgreesWithMatches(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	word := func() string { return []string{"", "a", "b", "a-b", "-", "a-b-1", "b--a"}[random.IntN(7)] }
	store := func(x Index) *Store[*corev1.Secret] {
		inf := cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Secret{}, 0, x.indexers())
		return &Store[*corev1.Secret]{index: x, informers: []cache.SharedIndexInformer{inf}}
	}
	indexed, plain := store(Index{Labels: []string{"a", "b"}, Names: true}), store(Index{})
	for i := range 500 {
		o := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint("n", i%3), Name: fmt.Sprint("p", word(), "-", i%40)}}
		for range random.IntN(3) {
			metav1.SetMetaDataLabel(&o.ObjectMeta, word(), word())
		}
		for _, s := range []*Store[*corev1.Secret]{indexed, plain} {
			if err := s.informers[0].GetIndexer().Add(o); err != nil {
				t.Fatal(err)
			}
		}
	}
	names := func(all []*corev1.Secret) (out []string) {
		for _, o := range all {
			out = append(out, o.Name)
		}
		slices.Sort(out)
		return out
	}
	found := 0
	for range 500 {
		where := []Where{{}, Labelled(word(), word()), NamedAfter("p" + word()), NamedAfter(word())}[random.IntN(4)]
		namespace := fmt.Sprint("n", random.IntN(4))
		got, want := names(indexed.List(namespace, where)), names(plain.List(namespace, where))
		if !slices.Equal(got, want) {
			t.Fatalf("%+v in %s selects %q, want %q", where, namespace, got, want)
		}
		found += len(got)
	}
	if found == 0 {
		t.Error("nothing was ever selected")
	}
}
