package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// nodeCost is what a value costs besides its text.
const nodeCost = 8

// AliasError says that the aliases of a text stand for too much.
type AliasError struct{ Line int }

// Error names the line of the alias that is one too many.
func (e *AliasError) Error() string {
	return fmt.Sprintf("yaml: line %d: the aliases up to here stand for more than %d MiB: write out fewer of them", e.Line, budget.AliasBytes>>20)
}

// Aliases bounds what the aliases in the documents of one text stand for, before anything
// writes them out. The zero value is that of a text without any.
type Aliases struct {
	spent int
	sizes map[*yaml.Node]int // of what aliases stand for
}

// Check counts the aliases in documents.
//
// Errors: *[AliasError], with the line in the documents of this call; that of a YAML library
// about text with aliases that is no YAML.
func (a *Aliases) Check(documents []byte) error {
	if !bytes.ContainsRune(documents, '&') || !bytes.ContainsRune(documents, '*') {
		return nil
	}
	in := yaml.NewDecoder(bytes.NewReader(documents))
	for {
		var doc yaml.Node
		err := in.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		a.sizes = map[*yaml.Node]int{}
		if err := a.walk(&doc); err != nil {
			return err
		}
	}
}

// walk counts aliases in the order in which they are written.
func (a *Aliases) walk(n *yaml.Node) error {
	if n.Kind == yaml.AliasNode {
		if a.spent += a.size(n); a.spent > budget.AliasBytes {
			return &AliasError{n.Line}
		}
		return nil
	}
	for _, c := range n.Content {
		if err := a.walk(c); err != nil {
			return err
		}
	}
	return nil
}

// size is about the length of a value when its aliases are written out, or more than is
// possible.
func (a *Aliases) size(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		size, known := a.sizes[n.Alias]
		if !known {
			a.sizes[n.Alias] = budget.AliasBytes + 1 // as long as it is not known: it contains itself
			size = a.size(n.Alias)
			a.sizes[n.Alias] = size
		}
		return size
	}
	size := nodeCost + len(n.Value)
	for _, c := range n.Content {
		size = min(size+a.size(c), budget.AliasBytes+1)
	}
	return size
}
