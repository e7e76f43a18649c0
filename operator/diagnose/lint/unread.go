package lint

import (
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Unread returns why a selector of a workload is treated as not set although its manifest sets
// it, or has a misspelled one; empty if the manifest does not set it. sure reports whether the workload never uses the
// selector, so it selects nothing even after the errors of the manifest are corrected.
func (e *Examination) Unread(w dryrun.Workload, a selection.Answer) (why string, sure bool) {
	if why, sure = e.linter.unread(w, a); why == "" && e.linter.isFaulty(w, a) {
		why = "is not set, because the manifest has errors: " + e.linter.misspelled(w, a.Selector)
	}
	return why, sure
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
	for _, f := range l.manifestErrors(w) {
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

// manifestErrors returns the findings about invalid fields of a workload.
func (l *linter) manifestErrors(w dryrun.Workload) []Finding {
	object := about(w.Ref()).object()
	return slices.DeleteFunc(slices.Clone(l.findings), func(f Finding) bool {
		return f.object() != object || f.Severity != SeverityError || f.Code != CodeField && f.Code != CodeInvalid
	})
}

// notSet reports whether the selector of an answer is not set.
func notSet(a selection.Answer) bool {
	return a.Reason == selection.NoSelector || a.Reason == selection.NamespaceNotSelected && len(a.Misses) == 0
}

// isFaulty reports whether a selector is not set because of an error in the manifest, such as a typo in its name.
func (l *linter) isFaulty(w dryrun.Workload, a selection.Answer) bool {
	return notSet(a) && slices.Contains(l.faultyFields[about(w.Ref()).object()], a.Selector)
}

// misspelled returns the errors of a manifest that mention a field by its name, or all if none does.
func (l *linter) misspelled(w dryrun.Workload, field string) string {
	name := field[strings.LastIndexByte(field, '.')+1:]
	var all, named []string
	for _, f := range l.manifestErrors(w) {
		text := f.Field + ": " + f.Message
		if all = append(all, text); strings.Contains(f.Message, name) {
			named = append(named, text)
		}
	}
	if len(named) > 0 {
		all = named
	}
	return strings.Join(all[:min(len(all), mostReasons)], "; ")
}
