package nearmiss

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// alike reports whether one word is probably a misspelling of the other. Words that differ in a
// number only are siblings, not misspellings.
func alike(a, b string) bool {
	if max(len(a), len(b)) > validation.LabelValueMaxLength+validation.DNS1123SubdomainMaxLength { // longer than any label key or value
		return a == b
	}
	a, b = strings.ToLower(a), strings.ToLower(b)
	if a == b {
		return true
	}
	digits := func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}
	distance := manifest.Distance(a, b)
	if strings.Map(digits, a) == strings.Map(digits, b) {
		return false
	}
	switch n := min(len(a), len(b)); {
	case n >= 8:
		return distance <= 2
	case n >= 4:
		return distance <= 1
	}
	return distance <= 1 && slices.Equal(slices.Sorted(slices.Values([]byte(a))), slices.Sorted(slices.Values([]byte(b)))) // wbe for web, not api for app
}

// miss is a requirement of a selector that a candidate does not meet.
type miss struct {
	key, want string // want is empty for a requirement other than a single value
	has       string // the actual labels: "app=wbe" or "no label app"
	remedy    string // the suggested change; may be empty
}

// missOf compares a candidate with a requirement that it does not meet; ok reports whether it almost
// meets it.
func missOf(r labels.Requirement, t candidate) (m miss, ok bool) {
	m.key = r.Key()
	value, present := t.labels[m.key]
	switch values := r.Values().UnsortedList(); {
	case len(values) == 1 && (r.Operator() == selection.Equals || r.Operator() == selection.DoubleEquals || r.Operator() == selection.In):
		m.want = values[0]
	case r.Operator() == selection.Exists && !present:
		for _, key := range slices.Sorted(maps.Keys(t.labels)) {
			if alike(key, m.key) {
				return miss{m.key, "", "the label " + key, "write " + key}, true
			}
		}
		m.has, m.remedy = "no label "+m.key, "add "+m.key+" to its metadata.labels"
		return m, false
	default:
		m.has = "no label " + m.key
		switch {
		case present && r.Operator() == selection.NotIn || present && r.Operator() == selection.NotEquals:
			m.has, m.remedy = m.key+"="+value, "leave "+value+" out of the values that the selector excludes"
		case present && r.Operator() == selection.DoesNotExist:
			m.has, m.remedy = m.key+"="+value, "leave the requirement !"+m.key+" out of the selector"
		case present:
			m.has = m.key + "=" + value
		default:
			m.remedy = "add " + m.key + " to its metadata.labels"
		}
		return m, false
	}
	if present {
		m.has, m.remedy = m.key+"="+value, "write "+m.key+": "+value
		return m, alike(value, m.want)
	}
	keys := slices.Sorted(maps.Keys(t.labels))
	if t.labels[nameLabel] == m.want { // rather than a name of a release
		keys = append([]string{nameLabel}, keys...)
	}
	for _, key := range keys {
		if value := t.labels[key]; value == m.want || alike(key, m.key) && alike(value, m.want) {
			m.has, m.remedy = key+"="+value, "select "+key+": "+value
			return m, true
		}
	}
	m.has, m.remedy = "no label "+m.key, fmt.Sprintf("add %s: %s to its metadata.labels", m.key, m.want)
	return m, alike(t.name, m.want)
}

// nameLabel is the label with the name of a program.
const nameLabel = "app.kubernetes.io/name"

// maxSelectorWords is the maximum number of values in selectors for which similar labels are
// searched: each candidate is compared with all of them.
const maxSelectorWords = 1000

// tooLong reports whether a selector exceeds maxSelectorWords.
func tooLong(s labels.Selector) bool {
	requirements, _ := s.Requirements()
	n := len(requirements)
	for _, r := range requirements {
		n += len(r.ValuesUnsorted())
	}
	return n > maxSelectorWords
}

// misses returns the requirements that a candidate does not meet; near reports whether it almost meets
// all of them.
func misses(s labels.Selector, t candidate) (out []miss, near bool) {
	requirements, _ := s.Requirements()
	near = true
	for _, r := range requirements {
		if r.Matches(t.labels) {
			continue
		}
		m, ok := missOf(r, t)
		near = near && ok
		out = append(out, m)
	}
	return out, near
}

// nearest returns the candidate that no other monitor selects and whose labels almost match the search;
// otherwise the candidate with the name of the object.
func (v *View) nearest(s *Search, all []candidate) (best candidate, what []miss, ok bool) {
	if tooLong(s.selector) {
		return candidate{}, nil, false
	}
	for _, t := range all {
		if t.made || v.claimed(t, s) {
			continue
		}
		found, near := misses(s.selector, t)
		if near && len(found) > 0 && (!ok || len(found) < len(what)) {
			best, what, ok = t, found, true
		}
	}
	if ok {
		return best, what, true
	}
	for _, t := range all {
		if t.name == s.ownerName && t.namespace == s.owner && !t.made && !v.claimed(t, s) {
			found, _ := misses(s.selector, t)
			return t, found, len(found) > 0
		}
	}
	return candidate{}, nil, false
}

// labelField returns the field of the selector that requires a label.
func (s *Search) labelField(key string) string {
	if _, written := s.matchLabels[key]; written {
		return faults.Key(s.selectorField+".matchLabels", key)
	}
	return s.selectorField
}

// unmatched returns a hint for a search without matching labels in its namespaces, if there are
// matches in other namespaces, or similar labels.
func (v *View) unmatched(s *Search, all []candidate) []Hint {
	if s.selector == nil || s.selector.Empty() || tooLong(s.selector) {
		return nil
	}
	inside, outside := split(s.Namespaces, all, func(t candidate) candidate { return t })
	var elsewhere []candidate
	for _, t := range outside {
		if t.matches(s.selector) && !v.claimed(t, s) {
			elsewhere = append(elsewhere, t)
		}
	}
	if len(elsewhere) > 0 {
		return []Hint{v.otherNamespace(s, elsewhere)}
	}
	if t, key := v.noted(s, inside); key != "" {
		return []Hint{{Code: NoTarget, Field: s.labelField(key), Message: fmt.Sprintf("no %s%s has %s; %s has %s as an annotation, and a selector compares labels: add %s: %q to its metadata.labels",
			kindWord(t), s.where(), s.labels(), t, key, key, t.annotations[key])}}
	}
	if t, found, ok := v.nearest(s, inside); ok {
		return []Hint{s.differs(t, found)}
	}
	if t, found, ok := v.otherRelease(s, inside); ok {
		hint := s.differs(t, found)
		hint.Note = !v.whole(t.kind, s.Namespaces) // the one that is meant may be elsewhere
		return []Hint{hint}
	}
	return nil
}

// releaseLabels are labels with the name of a release or a version of what is installed.
var releaseLabels = []string{"release", "app.kubernetes.io/instance", "app.kubernetes.io/version", "helm.sh/chart"}

// otherRelease returns the only candidate that differs from the search by the name or version of its release, if no other
// monitor selects it.
func (v *View) otherRelease(s *Search, all []candidate) (of candidate, what []miss, ok bool) {
	requirements, _ := s.selector.Requirements()
	for _, t := range all {
		if t.made || v.claimed(t, s) {
			continue
		}
		found, _ := misses(s.selector, t)
		if len(found) == 0 || len(found) == len(requirements) || slices.ContainsFunc(found, func(m miss) bool {
			return m.want == "" || t.labels[m.key] == "" || !slices.Contains(releaseLabels, m.key)
		}) {
			continue
		}
		if ok {
			return candidate{}, nil, false // another one
		}
		of, what, ok = t, found, true
	}
	return of, what, ok
}

// noted returns a candidate that has one of the required labels as an annotation, and all others as labels, with the key of
// the annotation; "" if there is none.
func (v *View) noted(s *Search, all []candidate) (of candidate, key string) {
	requirements, _ := s.selector.Requirements()
	for _, t := range all {
		key = ""
		for _, r := range requirements {
			if r.Matches(t.labels) {
				continue
			}
			value, has := t.annotations[r.Key()]
			if key != "" || !has || len(value) > maxAnnotation || !r.Matches(labels.Set{r.Key(): value}) {
				key = ""
				break
			}
			key = r.Key()
		}
		if key != "" && !t.made && !v.claimed(t, s) {
			return t, key
		}
	}
	return candidate{}, ""
}

// differs returns a hint for a candidate that almost has the labels of a search.
func (s *Search) differs(t candidate, found []miss) Hint {
	var has, remedies []string
	for _, m := range found {
		has = append(has, m.has)
		if m.remedy != "" {
			remedies = append(remedies, m.remedy)
		}
	}
	message := fmt.Sprintf("no %s%s has %s; %s has %s", kindWord(t), s.where(), s.labels(), t, and(has))
	if len(remedies) < len(found) {
		remedies = []string{"select labels that it has, or change them"}
		if len(t.labels) > 0 {
			message += " (its labels are " + t.labels.String() + ")"
		}
	}
	message += ": " + and(remedies)
	return Hint{Code: NoTarget, Field: s.labelField(found[0].key), Message: message}
}

// kindWord returns the kind of the selected objects: Pod for workloads.
func kindWord(t candidate) string {
	switch t.kind {
	case "Service", "Ingress", "Node":
		return t.kind
	}
	return "Pod"
}

// otherNamespace returns a hint for candidates that have the labels in a namespace that is not
// searched.
func (v *View) otherNamespace(s *Search, elsewhere []candidate) Hint {
	var missing []string
	for _, t := range elsewhere {
		if !slices.Contains(missing, t.namespace) {
			missing = append(missing, t.namespace)
		}
	}
	h := Hint{Code: NoTarget, Field: s.namespaceField}
	kind := kindWord(elsewhere[0])
	h.Message = fmt.Sprintf("looks in %s only, where no %s has %s; %s has: ", namespaceList(s.Namespaces), kind, s.labels(), names(elsewhere))
	switch own := slices.Equal(s.Namespaces, []string{s.owner}); {
	case s.limited:
		h.Message += "the workload sets spec.ignoreNamespaceSelectors, so this has no effect; move the object there"
	case strings.HasSuffix(s.namespaceField, ".names"):
		h.Message += fmt.Sprintf("add %s there", and(missing))
	case slices.Contains(s.Namespaces, "*"):
		h.Code, h.Field = Remark, fmt.Sprintf("%s.matchNames[%d]", h.Field, slices.Index(s.Namespaces, "*"))
		h.Message += "names are compared as they are, write any: true instead"
	case own:
		h.Message += fmt.Sprintf("set %s.matchNames: [%s]", s.namespaceField, strings.Join(missing, ", "))
	default:
		h.Field += ".matchNames"
		h.Message += fmt.Sprintf("add %s there", and(missing))
		for i, name := range s.Namespaces {
			if slices.Contains(v.namespaces, name) {
				continue
			}
			for _, meant := range missing {
				if alike(name, meant) {
					h.Field = fmt.Sprintf("%s[%d]", h.Field, i)
					h.Message = fmt.Sprintf("looks in namespace %q, where no %s has %s; %s has: did you mean %q?", name, kind, s.labels(), names(elsewhere), meant)
					return h
				}
			}
		}
	}
	return h
}
