package evidence

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// list is the result of a read; cut is set if there may be more objects.
type list struct {
	objects []readers.Object
	err     error
	cut     bool
}

// read reads a list, at most once.
func (a *Around) read(q readers.Query) list {
	key := fmt.Sprintf("%s %q %q %d", q, q.Name, q.Labels, q.Limit)
	if known, ok := a.lists[key]; ok {
		return known
	}
	q.Keep = func(o readers.Object) readers.Object { return discovery.Trimmed(o) }
	var out list
	out.objects, out.err = a.reader.List(a.ctx, q)
	out.cut = q.Limit > 0 && len(out.objects) >= q.Limit
	a.lists[key] = out
	return out
}

// list reads objects of a kind with labels in namespaces, nil for all namespaces. It reports
// whether all could be read, and records failures as unknown.
func (l *search) list(kind string, namespaces []string, labels string) bool {
	if namespaces == nil {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces[:min(len(namespaces), mostPlaces)] {
		q := readers.Query{GroupVersionResource: resources[kind], Namespace: namespace, Labels: labels, Limit: most}
		if err := l.take(kind, q); err != nil {
			l.isUnknown(readers.Why(err, "list", q.String()))
			return false
		}
	}
	return true
}

// take adds the objects of a list.
func (l *search) take(kind string, q readers.Query) error {
	got := l.read(q)
	if got.err != nil {
		return got.err
	}
	l.add(kind, got.objects)
	if q.Labels == "" && q.Name == "" && !got.cut {
		l.extent.Whole[kind] = append(l.extent.Whole[kind], q.Namespace)
	}
	return nil
}

// maybe is like take for objects that only improve a hint: failures are ignored.
func (l *search) maybe(kind string, q readers.Query) {
	q.GroupVersionResource = resources[kind]
	_ = l.take(kind, q)
}

// add adds new objects.
func (l *search) add(kind string, objects []readers.Object) {
	for _, o := range objects {
		if key := keyOf(kind, o); !l.seen[key] {
			l.seen[key] = true
			l.objects = append(l.objects, nearmiss.Object(o))
		}
	}
}

func keyOf(kind string, o metav1.Object) string {
	return kind + " " + o.GetNamespace() + "/" + o.GetName()
}

// isUnknown records a reason why something is unknown, without duplicates.
func (l *search) isUnknown(why string) {
	if !slices.Contains(l.unknown, why) {
		l.unknown = append(l.unknown, why)
	}
}
