package share

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
)

// LeaveOut divides room and calls leave for each object to leave out. full describes the
// exhausted capacity: "29.5 MiB of plain configuration, for which ...".
func LeaveOut(objects []Object, room int, full string, leave func(i int, why error)) []LeftOut {
	var left []LeftOut
	for _, i := range Divide(objects, room) {
		leave(i, &LeftOutError{Full: full})
		left = append(left, LeftOut{Namespace: objects[i].Namespace, Full: full})
	}
	return left
}

// LeftOutError means that a valid object is left out for lack of capacity. Its text only
// depends on the capacity, so that it is reported once.
type LeftOutError struct {
	Full string // as in LeaveOut
}

func (e *LeftOutError) Error() string {
	return fmt.Sprintf("left out, because the objects of all namespaces need more than the %s, and this namespace is one of those that hold most of it: "+
		"its largest objects are left out first; make them smaller or fewer", e.Full)
}

// LeftOut is one object that was left out.
type LeftOut struct {
	Namespace string
	Full      string // as in LeaveOut
}

// maxNamed is the maximum number of namespaces in a message.
const maxNamed = 3

// Message describes the left-out objects for the status of a workload; it is empty if there
// are none. divide explains how to split the configuration into smaller ones.
func Message(left []LeftOut, divide string) string {
	if len(left) == 0 {
		return ""
	}
	count, full := map[string]int{}, map[string]bool{}
	for _, l := range left {
		count[l.Namespace]++
		full[l.Full] = true
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	for i, name := range names[:min(len(names), maxNamed)] {
		names[i] = fmt.Sprintf("%s (%d)", name, count[name])
	}
	return fmt.Sprintf("%d objects are left out of the namespaces %s, which hold most, because all need more than the %s: %s",
		len(left), excerpt.List(names, maxNamed), strings.Join(slices.Sorted(maps.Keys(full)), " and the "), divide)
}
