package nearmiss

import (
	"slices"
	"strings"
	"sync"
)

// lastIn splits candidates by whether they are in namespaces. It keeps the last result, because nearly all monitors of a
// namespace select in the same ones: with a thousand monitors and a thousand Services, copies would dominate the cost.
// The zero value is ready to use. It is safe for concurrent use.
type lastIn[T any] struct {
	mu              sync.Mutex
	of              []T
	namespaces      []string
	all             bool
	inside, outside []T
}

// in splits candidates by whether they are in namespaces, nil for all namespaces. The caller must not modify the results,
// nor all afterwards.
func (l *lastIn[T]) in(namespaces []string, all []T, of func(T) candidate) (inside, outside []T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := len(all) > 0 && len(l.of) == len(all) && &l.of[0] == &all[0]
	if same && l.all == (namespaces == nil) && slices.Equal(l.namespaces, namespaces) {
		return l.inside, l.outside
	}
	inside, outside = split(namespaces, all, of)
	l.of, l.namespaces, l.all, l.inside, l.outside = all, slices.Clone(namespaces), namespaces == nil, inside, outside
	return inside, outside
}

// split is lastIn.in for candidates that are not asked for again. The results may share memory with all.
func split[T any](namespaces []string, all []T, of func(T) candidate) (inside, outside []T) {
	has := func(t T) bool {
		ns := of(t).namespace
		return namespaces == nil || ns == "" || slices.Contains(namespaces, ns)
	}
	first := slices.IndexFunc(all, func(t T) bool { return !has(t) })
	if first < 0 {
		return slices.Clip(all), nil
	}
	inside = append(inside, all[:first]...)
	for _, t := range all[first:] {
		if has(t) {
			inside = append(inside, t)
		} else {
			outside = append(outside, t)
		}
	}
	return slices.Clip(inside), slices.Clip(outside)
}

func ofService(s service) candidate { return s.candidate }

func ofPods(p pods) candidate { return p.candidate }

// onlyMade reports whether the operator created all candidates, so that the objects that a search is
// meant for are missing.
func onlyMade[T any](all []T, of func(T) candidate) bool {
	return !slices.ContainsFunc(all, func(t T) bool { return !of(t).made })
}

func candidates[T any](all []T, of func(T) candidate) (out []candidate) {
	for _, t := range all {
		out = append(out, of(t))
	}
	return out
}

// names lists candidates, grouped by kind: "Services app/a and app/b".
func names(all []candidate) string {
	var out []string
	kind := ""
	for _, t := range all {
		text := t.String()
		if t.kind == kind {
			text = strings.TrimPrefix(text, kind+" ")
		}
		kind = t.kind
		out = append(out, text)
	}
	text := and(out)
	if len(all) > 1 && all[0].kind == all[1].kind {
		text = all[0].kind + "s" + strings.TrimPrefix(text, all[0].kind)
	}
	return text
}
