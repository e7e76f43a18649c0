package informer

import "slices"

// Edit is one change of a sorted list of objects.
type Edit struct {
	Op Op
	At int // index in the list after all earlier edits
}

// Op is the kind of an edit.
type Op uint8

const (
	Replaced Op = iota // the object at the index has a later version
	Inserted           // an object was inserted at the index
	Removed            // the object at the index was removed
)

// edits are the latest changes of a list. The zero value has none.
type edits struct {
	last uint64 // number of the last one
	kept []Edit
}

// mostEdits limits the number of edits that are kept. Reading the list again is cheaper than that many.
const mostEdits = 256

func (e *edits) add(one Edit) {
	e.last++
	if len(e.kept) == 2*mostEdits {
		e.kept = slices.Clone(e.kept[mostEdits:])
	}
	e.kept = append(e.kept, one)
}

// forget begins a new list.
func (e *edits) forget() { *e = edits{last: e.last + 1} }

// since returns the edits after the one with number seq; ok is false if they are not known.
func (e *edits) since(seq uint64) (after []Edit, ok bool) {
	if n := e.last - seq; seq <= e.last && n <= uint64(len(e.kept)) {
		return slices.Clone(e.kept[len(e.kept)-int(n):]), true
	}
	return nil, false
}

// Positions are the indexes of the objects of a sorted list that meet a condition, in order. They hold no
// object in memory, and follow changes of the list without a look at the objects that did not change.
type Positions []int32

// Follow updates the positions to a list that has changed by edits. meets reports whether the object at an index of
// the new list meets the condition; it is called for each inserted and replaced object.
func (p Positions) Follow(changed []Edit, meets func(at int) bool) Positions {
	var check []int32 // indexes of objects that changed, sorted
	for _, e := range changed {
		at := int32(e.At)
		switch e.Op {
		case Inserted:
			p.shift(at, 1)
			Positions(check).shift(at, 1)
		case Removed:
			p = p.without(at)
			check = Positions(check).without(at)
			p.shift(at, -1)
			Positions(check).shift(at, -1)
			continue
		}
		check = Positions(check).with(at)
	}
	for _, at := range check {
		if meets(int(at)) {
			p = p.with(at)
		} else {
			p = p.without(at)
		}
	}
	return p
}

// shift adds n to all positions from at.
func (p Positions) shift(at, n int32) {
	from, _ := slices.BinarySearch(p, at)
	for i := from; i < len(p); i++ {
		p[i] += n
	}
}

// with adds a position.
func (p Positions) with(at int32) Positions {
	i, has := slices.BinarySearch(p, at)
	if has {
		return p
	}
	return slices.Insert(p, i, at)
}

// without removes a position.
func (p Positions) without(at int32) Positions {
	i, has := slices.BinarySearch(p, at)
	if !has {
		return p
	}
	return slices.Delete(p, i, i+1)
}
