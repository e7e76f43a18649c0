package compact

import "sync"

// fewest is the number of strings below which a table is not rebuilt.
const fewest = 1024

// Table holds the strings of all groups and the groups that use them. The zero value is empty. It
// is safe for concurrent use.
//
// Strings of dropped groups remain until more than half of the table is garbage. Then it is
// rebuilt, so that constantly changing labels do not make it grow.
type Table struct {
	mu      sync.RWMutex
	ids     map[string]uint32
	strings []string
	uses    []uint32 // of each string, in labels of groups
	garbage int      // strings without uses
	groups  map[*Group]struct{}
}

// Len returns the number of strings in the table, including garbage.
func (t *Table) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.strings)
}

// use returns the index of a string and counts a use.
func (t *Table) use(s string) uint32 {
	id, ok := t.ids[s]
	if !ok {
		id = uint32(len(t.strings))
		t.ids[s] = id
		t.strings, t.uses = append(t.strings, s), append(t.uses, 0)
		t.garbage++
	}
	if t.uses[id] == 0 {
		t.garbage--
	}
	t.uses[id]++
	return id
}

// free releases one use of a string.
func (t *Table) free(id uint32) {
	if t.uses[id]--; t.uses[id] == 0 {
		t.garbage++
	}
}

// tidy rebuilds the table when it is mostly garbage.
func (t *Table) tidy() {
	if len(t.strings) < fewest || t.garbage <= len(t.strings)/2 {
		return
	}
	before, uses := t.strings, t.uses
	live := len(before) - t.garbage
	moved := make([]uint32, len(before))
	t.ids, t.garbage = make(map[string]uint32, live), 0
	t.strings, t.uses = make([]string, 0, live), make([]uint32, 0, live)
	for old, n := range uses {
		if n == 0 {
			continue
		}
		moved[old] = uint32(len(t.strings))
		t.ids[before[old]] = moved[old]
		t.strings, t.uses = append(t.strings, before[old]), append(t.uses, n)
	}
	// The order of indices is preserved, and with it the order of labels and targets.
	for g := range t.groups {
		for i, p := range g.pairs {
			g.pairs[i] = pair{moved[p.name], moved[p.value]}
		}
	}
}
