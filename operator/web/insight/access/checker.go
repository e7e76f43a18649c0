package access

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// Rights are the permissions of the caller.
type Rights interface {
	// May reports whether the caller may do something in a namespace, "" for all.
	//
	// Errors: the permission check failed.
	May(ctx context.Context, verb string, of schema.GroupResource, namespace string) (bool, error)
}

// Checker caches the permission checks for one response. It is safe for concurrent use because
// objects of a preview are compiled in parallel.
type Checker struct {
	Rights Rights
	Unread []string // failed checks, and other notes on what the response lacks

	ctx     context.Context
	mu      sync.Mutex
	answers map[string]bool
}

// NewChecker returns a checker of the permissions of a caller.
func NewChecker(ctx context.Context, r Rights) *Checker {
	return &Checker{ctx: ctx, Rights: r, answers: map[string]bool{}}
}

// May reports whether the caller may do something with objects of a kind in a namespace. It checks
// all namespaces first and returns false if the checks fail.
func (a *Checker) May(verb string, row *catalog.Row, namespace string) bool {
	return a.MayResource(verb, row.GroupResource(), namespace)
}

// MayResource is [Checker.May] for resources without a row in the catalog.
func (a *Checker) MayResource(verb string, of schema.GroupResource, namespace string) bool {
	return a.review(verb, of, "") || namespace != "" && a.review(verb, of, namespace)
}

func (a *Checker) review(verb string, of schema.GroupResource, namespace string) bool {
	key := verb + " " + of.String() + " " + namespace
	a.mu.Lock()
	defer a.mu.Unlock()
	if known, ok := a.answers[key]; ok {
		return known
	}
	may, err := a.Rights.May(a.ctx, verb, of, namespace)
	if err != nil {
		may = false
		a.Unread = AppendNotes(a.Unread, fmt.Sprintf("whether you may %s %s is not known: %v", verb, of, err))
	}
	a.answers[key] = may
	return may
}

// MayGet reports whether the caller may see more of an object than its name.
func (a *Checker) MayGet(of catalog.Ref) bool {
	row := catalog.Of(of.Kind)
	return row != nil && a.May("get", row, of.Namespace)
}

// SeesTargets reports whether the caller may see the labels of targets that an object of a kind and
// namespace provides. Both are empty for static targets of the object "of" itself.
func (a *Checker) SeesTargets(kind, namespace string, of catalog.Ref) bool {
	if kind == "Node" {
		return a.ListsNodes()
	}
	if namespace == "" {
		namespace = of.Namespace
	}
	return namespace == of.Namespace && a.MayGet(of) || a.ListsTargets(namespace)
}

// ListsTargets reports whether the caller may list pods or services of a namespace, "" for all.
func (a *Checker) ListsTargets(namespace string) bool {
	return a.MayResource("list", readers.Pods.GroupResource(), namespace) || a.MayResource("list", readers.Services.GroupResource(), namespace)
}

// HidesNamespace reports whether the caller may not see the labels of a namespace.
func (a *Checker) HidesNamespace(name string) bool {
	return !a.MayResource("get", readers.Namespaces.GroupResource(), name)
}

// ListsNodes reports whether the caller may list nodes.
func (a *Checker) ListsNodes() bool { return a.MayResource("list", readers.Nodes.GroupResource(), "") }

// NoteUnlisted adds notes about kinds that the caller may not list in all watched namespaces, because the response may
// then be incomplete.
func (a *Checker) NoteUnlisted(setups []engine.Setup) {
	for _, s := range setups {
		before := len(a.Unread)
		for _, namespace := range s.Instances.Watches() {
			if a.May("list", s.Row, namespace) {
				continue
			}
			if len(a.Unread) == before { // else the check failed
				a.Unread = append(a.Unread, fmt.Sprintf("no permission to list %s in all namespaces%s: those elsewhere are not shown", s.Row.Resource, ofOperator(namespace)))
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

// Hidden is the placeholder for a message about an object that the caller may not get.
func Hidden(of catalog.Ref) string { return "hidden: " + NeedsGet(of) }

// NeedsGet returns the text about the missing permission to get an object.
func NeedsGet(of catalog.Ref) string {
	return fmt.Sprintf("you need permission to get %s in namespace %s", catalog.Of(of.Kind).Resource, of.Namespace)
}

// AppendNotes appends notes without duplicates.
func AppendNotes(all []string, texts ...string) []string {
	for _, text := range texts {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}
