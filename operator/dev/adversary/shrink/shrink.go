// Package shrink minimizes the input of a failure.
//
//	few := shrink.List(all, func(some []T) bool { return stillFails(some) })
//	small := shrink.Value(object, func(o map[string]any) bool { return stillFails(o) })
//
// A test of a candidate takes seconds, so both functions minimize the number of tests: they try halves first, then
// smaller pieces. When its time is over, a caller can return false for all candidates; the result is then the smallest
// input that failed until then.
package shrink

import (
	"maps"
	"slices"
)

// List returns a subset of all for which fails returns true. fails(all) must be true.
func List[T any](all []T, fails func([]T) bool) []T {
	for pieces := 2; len(all) > 1; {
		size := (len(all) + pieces - 1) / pieces
		smaller := false
		for at := 0; at < len(all); at += size {
			piece := all[at:min(at+size, len(all))]
			if pieces == 2 || size == 1 { // otherwise its parts were tested as the rest of another piece
				if fails(piece) {
					all, pieces, smaller = slices.Clone(piece), 2, true
					break
				}
			}
			rest := slices.Concat(all[:at], all[min(at+size, len(all)):])
			if len(rest) > 0 && pieces > 2 && fails(rest) {
				all, pieces, smaller = rest, max(2, pieces-1), true
				break
			}
		}
		if smaller {
			continue
		}
		if size == 1 {
			break
		}
		pieces = min(len(all), pieces*2)
	}
	return all
}

// Value returns a smaller object for which fails returns true: with fewer fields, shorter lists and shorter strings.
// fails(o) must be true. apiVersion, kind and metadata.name are kept.
func Value(o map[string]any, fails func(map[string]any) bool) map[string]any {
	for changed := true; changed; {
		changed = false
		for _, cut := range cuts(o, nil) {
			try := copied(o).(map[string]any)
			if !cut(try) {
				continue
			}
			if fails(try) {
				o, changed = try, true
				break // the remaining value has different cuts
			}
		}
	}
	return o
}

// cut makes an object smaller; it returns false if it cannot.
type cut func(map[string]any) bool

var kept = []string{"apiVersion", "kind", "metadata", "name", "namespace"}

// cuts lists the possible cuts, the largest first.
func cuts(v any, path []any) []cut {
	switch v := v.(type) {
	case map[string]any:
		return cutsOfObject(v, path)
	case []any:
		return cutsOfList(v, path)
	case string:
		if len(v) > 20 {
			return []cut{func(o map[string]any) bool { return edit(o, path, firstHalf) }}
		}
	}
	return nil
}

// cutsOfObject removes fields.
func cutsOfObject(object map[string]any, path []any) []cut {
	var here, below []cut
	for _, key := range slices.Sorted(maps.Keys(object)) {
		at := append(slices.Clone(path), key)
		if len(path) > 1 || !slices.Contains(kept, key) {
			here = append(here, func(o map[string]any) bool { return edit(o, at, func(any) (any, bool) { return nil, false }) })
		}
		below = append(below, cuts(object[key], at)...)
	}
	return append(here, below...)
}

// cutsOfList removes a half, or the last element.
func cutsOfList(list []any, path []any) []cut {
	var here, below []cut
	n := len(list)
	for _, part := range [][2]int{{n / 2, n}, {0, n / 2}, {n - 1, n}} {
		if n == 0 || part[0] == part[1] {
			continue
		}
		without := func(old any) (any, bool) {
			list := old.([]any)
			return slices.Concat(list[:part[0]], list[part[1]:]), true
		}
		here = append(here, func(o map[string]any) bool { return edit(o, path, without) })
	}
	for i := range list[:min(n, 20)] {
		below = append(below, cuts(list[i], append(slices.Clone(path), i))...)
	}
	return append(here, below...)
}

// firstHalf is the first half of a string.
func firstHalf(old any) (any, bool) {
	runes := []rune(old.(string))
	return string(runes[:len(runes)/2]), true
}

// edit changes or removes the value at a path.
func edit(v any, path []any, change func(any) (any, bool)) bool {
	for ; len(path) > 1; path = path[1:] {
		switch at := path[0].(type) {
		case string:
			v = v.(map[string]any)[at]
		case int:
			v = v.([]any)[at]
		}
	}
	if len(path) == 0 {
		return false
	}
	switch at := path[0].(type) {
	case string:
		object := v.(map[string]any)
		if value, stays := change(object[at]); stays {
			object[at] = value
		} else {
			delete(object, at)
		}
	case int:
		list := v.([]any)
		value, stays := change(list[at])
		if !stays {
			return false
		}
		list[at] = value
	}
	return true
}

func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = copied(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = copied(value)
		}
		return out
	default:
		return v
	}
}
