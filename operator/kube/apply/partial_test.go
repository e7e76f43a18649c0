package apply

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
)

// blind is an empty cache. knows is the result of Knows for all objects, and notes records the calls of Note.
type blind struct {
	shown[*corev1.Secret]
	knows bool
	notes *[]string
}

func (b blind) Knows(types.NamespacedName) bool { return b.knows }
func (b blind) Note(s *corev1.Secret)           { *b.notes = append(*b.notes, s.Name) }

// Objects that the cache may lack are read before a write, and the result is passed to the cache.
func TestUpsertReadsWhatTheCacheMayLack(t *testing.T) {
	immutable := secret("1", "old", func(s *corev1.Secret) { s.Immutable = new(true) })
	tls := secret("1", "old", func(s *corev1.Secret) { s.Type = corev1.SecretTypeTLS })
	unlabelled := func(s *corev1.Secret) *corev1.Secret {
		s = s.DeepCopy()
		s.Labels = nil
		return s
	}
	for name, tc := range map[string]struct {
		live  []runtime.Object
		knows bool
		want  Change
		calls []string
		notes int
	}{
		"it is there, and the same":      {[]runtime.Object{secret("1", "new")}, false, Unchanged, []string{"get"}, 0},
		"it is there, and another":       {[]runtime.Object{secret("1", "old")}, false, Updated, []string{"get", "update"}, 1},
		"it is not there":                {nil, false, Created, []string{"get", "create"}, 1},
		"it is known not to be there":    {nil, true, Created, []string{"create"}, 1},
		"the cache is wrong about it":    {[]runtime.Object{secret("1", "old")}, true, Updated, []string{"create", "get", "update"}, 1},
		"the same, and the cache errs":   {[]runtime.Object{secret("1", "new")}, true, Updated, []string{"create", "get", "update"}, 1},
		"an immutable one of ours":       {[]runtime.Object{immutable}, false, Created, []string{"get", "create", "delete", "create"}, 1},
		"an immutable one of the others": {[]runtime.Object{unlabelled(immutable)}, false, "", []string{"get"}, 0},
		"one of another type":            {[]runtime.Object{unlabelled(tls)}, false, "", []string{"get"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			kube, notes := fake.NewClientset(tc.live...), []string{}
			w := NewWriter(kube, Caches{Secrets: blind{shown[*corev1.Secret]{}, tc.knows, &notes}})
			change, err := w.Secret(t.Context(), secret("", "new"))
			var verbs []string
			for _, a := range kube.Actions() {
				verbs = append(verbs, a.GetVerb())
			}
			if _, foreign := errors.AsType[*ForeignError](err); foreign != (tc.want == "") || err != nil && !foreign || change != tc.want || !slices.Equal(verbs, tc.calls) || len(notes) != tc.notes {
				t.Errorf("%s, %v; calls %q, %d notes", change, err, verbs, len(notes))
			}
		})
	}
}
