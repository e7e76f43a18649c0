// Package variables is the syntax of references to environment variables in generated configuration, $(NAME), which
// config-reloader substitutes, and the list of the variables that the operator sets for it.
package variables

import (
	"bytes"
	"iter"
)

// Variables that the operator sets for config-reloader in each pod.
const (
	Shard        = "SHARD"
	InzoneShard  = "INZONE_SHARD"
	TopologyZone = "TOPOLOGY_ZONE"
	PodName      = "POD_NAME"
	NodeName     = "NODE_NAME"
	Ordinal      = "STATEFULSET_ORDINAL_NUMBER"
)

// sizes are the maximum sizes of the values of these variables in bytes.
var sizes = map[string]int{Shard: 8, InzoneShard: 8, Ordinal: 8, TopologyZone: 64, PodName: 64, NodeName: otherSize}

// otherSize is the assumed maximum size of the value of any other variable, in bytes: those that Kubernetes and images
// set in every container (KUBERNETES_SERVICE_HOST, PATH) are shorter.
const otherSize = 256

// Provided reports whether the operator sets a variable for config-reloader.
func Provided(name []byte) bool {
	_, provided := sizes[string(name)]
	return provided
}

// Size returns the maximum size of the value of a variable in bytes, an assumption for those that are not [Provided].
func Size(name []byte) int {
	if size, provided := sizes[string(name)]; provided {
		return size
	}
	return otherSize
}

// MaxName is the maximum length of a name in bytes. A longer one is text: otherwise a text could fill the memory of a
// program that reads it as a stream, and its scan would be quadratic in its length.
const MaxName = 4 << 10

// State is the result of [Parse].
type State int

// The states.
const (
	Text      State = iota // no reference
	Reference              // a whole reference
	Undecided              // the text ends before that is known
)

// Parse parses a reference at the start of a text, which begins with a dollar sign. It returns the offset of its end.
func Parse(text []byte) (end int, s State) {
	switch {
	case len(text) == 1:
		return 0, Undecided
	case text[1] != '(':
		return 0, Text
	}
	for i := 2; i < min(len(text), 2+MaxName+1); i++ {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_':
		case c == ')' && i > 2:
			return i + 1, Reference
		default:
			return 0, Text
		}
	}
	if len(text) > 2+MaxName {
		return 0, Text
	}
	return 0, Undecided
}

// Name returns the name in a reference.
func Name(reference []byte) []byte { return reference[len("$(") : len(reference)-len(")")] }

// All returns the offsets of the start and of the end of each reference in a text.
func All(text []byte) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for at := 0; ; {
			i := bytes.Index(text[at:], []byte("$("))
			if i < 0 {
				return
			}
			start := at + i
			at = start + len("$(")
			if end, state := Parse(text[start:]); state == Reference {
				at = start + end
				if !yield(start, at) {
					return
				}
			}
		}
	}
}
