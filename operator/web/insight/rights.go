package insight

import (
	"context"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// asker caches the permission checks for one response. It is safe for concurrent use because
// objects of a preview are compiled in parallel.
type asker struct {
	ctx     context.Context
	rights  Rights
	mu      sync.Mutex
	answers map[string]bool
	unread  []string // failed checks
}

func asking(ctx context.Context, r Rights) *asker {
	return &asker{ctx: ctx, rights: r, answers: map[string]bool{}}
}

// asking returns an asker for a response from a snapshot, with a note if the snapshot is outdated.
func (w *snapshot) asking(ctx context.Context, r Rights) *asker {
	a := asking(ctx, r)
	if w.outdated != "" {
		a.unread = append(a.unread, w.outdated)
	}
	return a
}

// may reports whether the caller may do something with objects of a kind in a namespace. It checks
// all namespaces first and returns false if the checks fail.
func (a *asker) may(verb string, row *catalog.Row, namespace string) bool {
	return a.mayAny(verb, row.GroupResource(), namespace)
}

func (a *asker) mayAny(verb string, of schema.GroupResource, namespace string) bool {
	return a.ask(verb, of, "") || namespace != "" && a.ask(verb, of, namespace)
}

func (a *asker) ask(verb string, of schema.GroupResource, namespace string) bool {
	key := verb + " " + of.String() + " " + namespace
	a.mu.Lock()
	defer a.mu.Unlock()
	if known, ok := a.answers[key]; ok {
		return known
	}
	may, err := a.rights.May(a.ctx, verb, of, namespace)
	if err != nil {
		may = false
		a.unread = appendNew(a.unread, fmt.Sprintf("whether you may %s %s is not known: %v", verb, of, err))
	}
	a.answers[key] = may
	return may
}

// details reports whether the caller may see more of an object than its name.
func (a *asker) details(of catalog.Ref) bool {
	row := catalog.Of(of.Kind)
	return row != nil && a.may("get", row, of.Namespace)
}

// elsewhere adds notes about kinds that the caller may not list in all watched namespaces: the
// response may be incomplete.
func (a *asker) elsewhere(setups []engine.Setup) {
	for _, s := range setups {
		before := len(a.unread)
		for _, namespace := range s.Instances.Watches() {
			if a.may("list", s.Row, namespace) {
				continue
			}
			if len(a.unread) == before { // else the check failed
				a.unread = append(a.unread, fmt.Sprintf("no permission to list %s in all namespaces%s: those elsewhere are not shown", s.Row.Resource, ofOperator(namespace)))
			}
			break
		}
	}
}

// ofOperator qualifies "all namespaces" if the operator watches only some.
func ofOperator(watched string) string {
	if watched == "" {
		return ""
	}
	return " of the operator"
}

// hiddenDetails is the placeholder for a message about an object that the caller may not get.
func hiddenDetails(of catalog.Ref) string { return "hidden: " + NeedsGet(of) }

// NeedsGet returns the text about the missing permission to get an object.
func NeedsGet(of catalog.Ref) string {
	return fmt.Sprintf("you need permission to get %s in namespace %s", catalog.Of(of.Kind).Resource, of.Namespace)
}

// noPermissions denies all permission checks.
type noPermissions struct{}

// May implements [Rights].
func (noPermissions) May(context.Context, string, schema.GroupResource, string) (bool, error) {
	return false, nil
}

// limited returns a reader that enforces the permissions of the caller.
func (a *asker) limited(r readers.Reader) readers.Reader {
	out := limitedReader{r, a}
	if reviewer, is := r.(readers.Reviewer); is {
		return struct {
			limitedReader
			readers.Reviewer
		}{out, reviewer}
	}
	return out
}

type limitedReader struct {
	readers.Reader
	asker *asker
}

// Get implements [readers.Reader].
func (l limitedReader) Get(ctx context.Context, of schema.GroupVersionResource, key types.NamespacedName) (readers.Object, error) {
	if !l.asker.mayAny("get", of.GroupResource(), key.Namespace) {
		return nil, apierrors.NewForbidden(of.GroupResource(), key.Name, nil)
	}
	return l.Reader.Get(ctx, of, key)
}

// List implements [readers.Reader].
func (l limitedReader) List(ctx context.Context, q readers.Query) ([]readers.Object, error) {
	if !l.asker.mayAny("list", q.GroupResource(), q.Namespace) {
		return nil, apierrors.NewForbidden(q.GroupResource(), "", nil)
	}
	return l.Reader.List(ctx, q)
}

// appendNew appends texts without duplicates.
func appendNew(all []string, texts ...string) []string {
	for _, text := range texts {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}
