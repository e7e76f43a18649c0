package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// nodeCost is the size of a value in addition to its text, in bytes.
const nodeCost = 8

// AliasError means that the expansion of the aliases in a text is too large.
type AliasError struct{ Line int }

// Error names the line of the alias that exceeds the limit.
func (e *AliasError) Error() string {
	return fmt.Sprintf("yaml: line %d: the aliases up to here stand for more than %d MiB: write out fewer of them", e.Line, budget.AliasBytes>>20)
}

// Aliases limits the expanded size of the aliases in the documents of one text, before they
// are expanded. The zero value is ready for use.
type Aliases struct {
	spent int
	sizes map[*yaml.Node]int // expanded sizes of anchors
}

// Check counts the aliases in documents.
//
// Errors: *[AliasError], with the line in the documents of this call; an error of the YAML
// library if text with aliases is not valid YAML.
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

// walk counts aliases in document order.
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

// size returns the approximate length of a value with expanded aliases, at most one more
// than the limit.
func (a *Aliases) size(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		size, known := a.sizes[n.Alias]
		if !known {
			a.sizes[n.Alias] = budget.AliasBytes + 1 // until it is known: the value contains itself
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
