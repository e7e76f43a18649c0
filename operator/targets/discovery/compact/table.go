package compact

import "sync"

// fewest is the number of strings below which a table is not rebuilt.
const fewest = 1024

// Table holds the strings of all groups and the groups that use them. The zero value is empty. It is safe for
// concurrent use.
//
// A string of any length is released with its last use. Its index is reused, and the table is rebuilt when more than
// half of its indices have no string.
type Table struct {
	mu      sync.RWMutex
	ids     map[string]uint32
	strings []string
	uses    []uint32 // of each string, in labels of groups
	spare   []uint32 // indices without a string
	groups  map[*Group]struct{}
}

// Len returns the number of indices in the table, including spare ones.
func (t *Table) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.strings)
}

// use returns the index of a string and counts a use.
func (t *Table) use(s string) uint32 {
	id, ok := t.ids[s]
	if ok {
		t.uses[id]++
		return id
	}
	if last := len(t.spare) - 1; last >= 0 {
		id, t.spare = t.spare[last], t.spare[:last]
		t.strings[id], t.uses[id] = s, 1
	} else {
		id = uint32(len(t.strings))
		t.strings, t.uses = append(t.strings, s), append(t.uses, 1)
	}
	t.ids[s] = id
	return id
}

// free releases one use of a string.
func (t *Table) free(id uint32) {
	if t.uses[id]--; t.uses[id] == 0 {
		delete(t.ids, t.strings[id])
		t.strings[id] = ""
		t.spare = append(t.spare, id)
	}
}

// tidy rebuilds the table when most of its indices are spare.
func (t *Table) tidy() {
	if len(t.strings) < fewest || len(t.spare) <= len(t.strings)/2 {
		return
	}
	before, uses := t.strings, t.uses
	live := len(before) - len(t.spare)
	moved := make([]uint32, len(before))
	t.ids, t.spare = make(map[string]uint32, live), nil
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
		g.index()
	}
}
