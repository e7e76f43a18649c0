package insight

import (
	"context"
	"fmt"

	"github.com/firekeeper-dev/firekeeper/operator/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/explain"
)

// asker remembers what the caller may do for one answer.
type asker struct {
	ctx     context.Context
	rights  Rights
	answers map[string]bool
	unread  []string // what nobody could say
}

func asking(ctx context.Context, r Rights) *asker {
	return &asker{ctx: ctx, rights: r, answers: map[string]bool{}}
}

// may reports whether the caller may do something with objects of a kind in a namespace. It
// asks for all namespaces first. What nobody can say is no.
func (a *asker) may(verb string, row *catalog.Row, namespace string) bool {
	return a.ask(verb, row, "") || a.ask(verb, row, namespace)
}

func (a *asker) ask(verb string, row *catalog.Row, namespace string) bool {
	of := row.GroupVersionResource().GroupResource()
	key := verb + " " + of.Resource + " " + namespace
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

// details reports whether the caller may know more of an object than its name.
func (a *asker) details(of explain.Ref) bool {
	row := catalog.Of(of.Kind)
	return row != nil && a.may("get", row, of.Namespace)
}

// hiddenDetails stands for what is said about an object that the caller may not read.
func hiddenDetails(of explain.Ref) string {
	return fmt.Sprintf("you may not get %s in namespace %s", catalog.Of(of.Kind).Resource, of.Namespace)
}

// appendNew adds a text that is not there.
func appendNew(all []string, texts ...string) []string {
	for _, text := range texts {
		found := false
		for _, there := range all {
			found = found || there == text
		}
		if !found {
			all = append(all, text)
		}
	}
	return all
}
