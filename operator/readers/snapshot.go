package readers

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// Wanted are the parts of a cluster to read.
type Wanted struct {
	// Kinds are workloads and the objects that they can select. A kind that is given twice is read
	// once.
	Kinds []Kind
	// Own are the namespaces to read instead of all namespaces, if those may not be read.
	Own []string
	// NamespaceLabels requests the labels of all namespaces.
	NamespaceLabels bool
	// Complete ends the reading at the first part that cannot be read.
	Complete bool
	// Packed is [Query.Packed].
	Packed bool
}

// Kind is a kind of our API, and the namespaces to read it in. The zero value of In means all.
type Kind struct {
	*catalog.Row
	In informer.Namespaces
}

// Snapshot is the part of a cluster that decides what workloads use, as far as it could be read.
type Snapshot struct {
	// Objects are those of the wanted kinds. They may include some in namespaces that the operator
	// does not watch.
	Objects map[*catalog.Row][]Object
	// NamespaceLabels returns the labels of a namespace; ok is false if it does not exist. If the
	// labels could not be read, every namespace exists and has only the name label.
	NamespaceLabels func(name string) (l labels.Set, ok bool)
	// Missing are the parts that could not be read.
	Missing []Missing
}

// Missing is a part of a cluster that could not be read.
type Missing struct {
	Query
	// Row is the kind; nil for a Kubernetes resource.
	Row *catalog.Row
	// Instead are the namespaces that were read although not all namespaces may be; nil if none was.
	Instead []string
	Err     error
}

// Read reads parts of a cluster.
func Read(ctx context.Context, r Reader, w Wanted) Snapshot {
	out := Snapshot{Objects: map[*catalog.Row][]Object{}}
	if w.NamespaceLabels {
		out.readNamespaces(ctx, r)
	}
	for _, k := range w.Kinds {
		if _, read := out.Objects[k.Row]; read || w.Complete && len(out.Missing) > 0 {
			continue
		}
		objects, missing := Everywhere(ctx, r, Query{GroupVersionResource: k.GroupVersionResource(), Packed: w.Packed}, k.In, w.Own...)
		out.Objects[k.Row] = objects
		for _, m := range missing {
			m.Row = k.Row
			out.Missing = append(out.Missing, m)
		}
	}
	return out
}

func (s *Snapshot) readNamespaces(ctx context.Context, r Reader) {
	q := Query{GroupVersionResource: Namespaces}
	list, err := r.List(ctx, q)
	if err != nil {
		s.Missing = append(s.Missing, Missing{Query: q, Err: err})
		s.NamespaceLabels = func(name string) (labels.Set, bool) { return labels.Set{corev1.LabelMetadataName: name}, true }
		return
	}
	all := map[string]labels.Set{}
	for _, n := range list {
		all[n.GetName()] = n.GetLabels()
	}
	s.NamespaceLabels = func(name string) (labels.Set, bool) {
		l, ok := all[name]
		return l, ok
	}
}

// NamespaceUnknown returns a function that reports whether a namespace may have labels that
// NamespaceLabels does not return; nil if those are complete.
func (s *Snapshot) NamespaceUnknown() func(name string) bool {
	if len(s.MissingOf(nil)) == 0 {
		return nil
	}
	return func(string) bool { return true }
}

// MissingOf returns what could not be read of a kind, or of the namespaces if row is nil.
func (s *Snapshot) MissingOf(row *catalog.Row) (out []Missing) {
	for _, m := range s.Missing {
		if m.Row == row {
			out = append(out, m)
		}
	}
	return out
}

// Everywhere lists in the given namespaces or, where all of them are meant and that is forbidden, in
// those of own.
func Everywhere(ctx context.Context, r Reader, q Query, in informer.Namespaces, own ...string) (out []Object, missing []Missing) {
	for _, namespace := range in.Watches() {
		q.Namespace = namespace
		objects, err := r.List(ctx, q)
		if namespace == "" && len(own) > 0 && apierrors.IsForbidden(err) {
			var more []Missing
			objects, more = each(ctx, r, q, own)
			if len(more) == len(own) {
				missing = append(missing, Missing{Query: q, Err: err})
			} else {
				missing = append(append(missing, Missing{Query: q, Instead: own, Err: err}), more...)
			}
		} else if err != nil {
			missing = append(missing, Missing{Query: q, Err: err})
		}
		out = append(out, objects...)
	}
	return out, missing
}

// AtOnce lists in all namespaces or, if that fails, in each of the given ones. Objects elsewhere are
// not needed, and may or may not be returned.
func AtOnce(ctx context.Context, r Reader, q Query, namespaces []string) ([]Object, []Missing) {
	q.Namespace = ""
	if out, err := r.List(ctx, q); err == nil {
		return out, nil
	}
	return each(ctx, r, q, namespaces)
}

func each(ctx context.Context, r Reader, q Query, namespaces []string) (out []Object, missing []Missing) {
	for _, namespace := range namespaces {
		q.Namespace = namespace
		objects, err := r.List(ctx, q)
		if err != nil {
			missing = append(missing, Missing{Query: q, Err: err})
		}
		out = append(out, objects...)
	}
	return out, missing
}

// String returns a note for a report. Missing permissions are those of the process that reads, which
// may act for another user, so they are not described further.
func (m Missing) String() string {
	what := m.Query.String()
	switch {
	case m.GroupVersionResource == Namespaces:
		return fmt.Sprintf("cannot read namespace labels, so namespace selectors match nothing: %v", m.Err)
	case len(m.Instead) > 0:
		what = m.GroupResource().String() + " in namespaces other than " + strings.Join(m.Instead, ", ")
	}
	if apierrors.IsForbidden(m.Err) {
		return "no permission to list " + what
	}
	return fmt.Sprintf("cannot list %s: %v", what, m.Err)
}

// NamingRole adds to a refusal to read namespaces or objects of our API the ClusterRole that permits it, which is
// in the component user-roles. It returns other errors as they are.
func NamingRole(err error) error {
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("%w; the ClusterRole firekeeper-developer permits it, with a ClusterRoleBinding to you", err)
	}
	return err
}

// Error returns the error of a command that has no answer without this part.
func (m Missing) Error() string {
	if m.Row == nil {
		return fmt.Sprintf("list %s, whose labels decide what workloads select: %v", m.Resource, NamingRole(m.Err))
	}
	flag := "--namespaces"
	if m.Row.IsWorkload() {
		flag = "--" + m.Row.Flags + "-instance-namespaces"
	}
	return fmt.Sprintf("list %s (%s limits the namespaces): %v", m.Resource, flag, NamingRole(m.Err))
}

// Unwrap returns the error of the API server.
func (m Missing) Unwrap() error { return m.Err }
