package lint

import (
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Unread returns why a selector of a workload is treated as not set although its manifest sets
// it; empty if the manifest does not set it. sure reports whether the workload never uses the
// selector, so it selects nothing even after the errors of the manifest are corrected.
func (e *Examination) Unread(w dryrun.Workload, a selection.Answer) (why string, sure bool) {
	return e.linter.unread(w, a)
}

func (l *linter) unread(w dryrun.Workload, a selection.Answer) (why string, sure bool) {
	if !notSet(a) {
		return "", false
	}
	at := about(w.Ref())
	t := l.tree(l.placeOf(at))
	if t.root == nil {
		return "", false
	}
	node := find(t.root, manifests.SplitPath(a.Selector))
	if node == nil || node.Tag == "!!null" {
		return "", false
	}
	said := slices.DeleteFunc(slices.Clone(l.findings), func(f Finding) bool {
		return f.object() != at.object() || f.Severity != SeverityError || f.Code != CodeField && f.Code != CodeInvalid
	})
	for _, f := range said {
		switch {
		case f.Field != a.Selector:
		case strings.HasPrefix(f.Message, "cannot be set "):
			return f.Message, true
		default:
			return "has an error: " + f.Message, false
		}
	}
	return "is not read, because the manifest has errors", false
}

// notSet reports whether an answer is that of a selector which is not set.
func notSet(a selection.Answer) bool {
	return a.Reason == selection.NoSelector || a.Reason == selection.NamespaceNotSelected && len(a.Misses) == 0
}

// isFaulty reports whether a selector is not set because of an error in the manifest, such as a typo in its name.
func (l *linter) isFaulty(w dryrun.Workload, a selection.Answer) bool {
	return notSet(a) && slices.Contains(l.faultyFields[about(w.Ref()).object()], a.Selector)
}
