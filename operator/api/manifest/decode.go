package manifest

import (
	"bytes"
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// FieldError is a fault of one field.
type FieldError struct {
	Path       string // as the user wrote it: "spec.endpoints[0].intervall"
	Reason     string // "unknown field", "duplicate field", "want a number, is a string"
	Suggestion string // a known field of similar name, may be empty
	// Elsewhere is the path of an object that does have an unknown field: one level too
	// high or too deep. It is empty when there is none, or when several have it.
	Elsewhere string
	// Type is what is wanted at the path; of an unknown field, the struct that does not
	// have it. Value is what is there.
	Type  reflect.Type
	Value any
}

// Error returns the path, the reason and the suggestion in one line.
func (e *FieldError) Error() string {
	text := e.Reason
	if path := e.Path; path != "" {
		if len(path) > budget.PathBytes {
			path = strings.ToValidUTF8(path[:budget.PathBytes], "") + "…"
		}
		text = path + ": " + text
	}
	switch {
	case e.Elsewhere != "":
		text += ", it belongs to " + e.Elsewhere
	case e.Suggestion != "":
		text += `, did you mean "` + e.Suggestion + `"?`
	}
	return text
}

// Unknown reports whether the field is one that the type does not have.
func (e *FieldError) Unknown() bool { return e.Reason == unknownField }

// Meant is the path with the suggestion in the place of the name; empty without one.
func (e *FieldError) Meant() string {
	switch i := strings.LastIndexByte(e.Path, '.'); {
	case e.Suggestion == "":
		return ""
	case i < 0:
		return e.Suggestion
	default:
		return child(e.Path[:i], e.Suggestion)
	}
}

// Decode reads one document of YAML or JSON into the struct that into points to.
//
// Errors: text that is neither; *[AliasError]; then one *FieldError for each field that the
// type does not have, that is there twice or that has the wrong type, joined and
// sorted by path. After an error the struct is not to be used.
func Decode(raw []byte, into any) error {
	text, err := toJSON(raw)
	if err != nil {
		return err
	}
	var strict []error
	if largeQuantity(text, reflect.TypeOf(into)) {
		err = errExponent
	} else {
		strict, err = kjson.UnmarshalStrict(text, into)
	}
	if len(strict) == 0 && err == nil {
		return nil
	}
	if syntax, _ := kjson.SyntaxErrorOffset(err); syntax {
		return err
	}
	faults := append(duplicates(strict), faultsOf(text, into, false)...)
	if len(faults) == 0 { // such as a number that is too large
		return cmp.Or(err, errors.Join(strict...))
	}
	return join(faults)
}

// DecodeKnown reads JSON that an API server sends into the struct that into points to.
// Fields that the type does not have are ignored: the API server knows its CRDs, which may
// be newer.
//
// Errors: text that is not JSON; then one *FieldError for each field that has the wrong
// type, joined and sorted by path. After an error the struct is not to be used.
func DecodeKnown(raw []byte, into any) error {
	err := decode(raw, into)
	if syntax, _ := kjson.SyntaxErrorOffset(err); err == nil || syntax {
		return err
	}
	faults := faultsOf(raw, into, true)
	if len(faults) == 0 {
		return err
	}
	return join(faults)
}

// faultsOf compares a document with a type. newer: its unknown fields are no faults.
func faultsOf(text []byte, into any, newer bool) []*FieldError {
	var document any
	if kjson.UnmarshalCaseSensitivePreserveInts(text, &document) != nil {
		return nil
	}
	w := walker{newer: newer}
	w.value("", document, reflect.TypeOf(into))
	return w.faults
}

// toJSON returns JSON as it is: reading it as YAML takes many times as long.
func toJSON(raw []byte) ([]byte, error) {
	if text := bytes.TrimSpace(raw); len(text) > 0 && text[0] == '{' {
		if err := kjson.UnmarshalCaseSensitivePreserveInts(text, new(any)); err == nil {
			return text, nil // otherwise YAML in flow style, or an error that YAML words better
		}
	}
	if err := new(Aliases).Check(raw); err != nil {
		return nil, err
	}
	return yaml.YAMLToJSONStrict(raw)
}

// duplicates picks the fields that JSON has twice. In YAML they are an error of
// the reader.
func duplicates(strict []error) []*FieldError {
	var out []*FieldError
	for _, err := range strict {
		at, ok := errors.AsType[kjson.FieldError](err)
		if ok && strings.HasPrefix(err.Error(), "duplicate field") {
			out = append(out, &FieldError{Path: at.FieldPath(), Reason: "duplicate field"})
		}
	}
	return out
}

func join(faults []*FieldError) error {
	slices.SortStableFunc(faults, func(a, b *FieldError) int { return cmp.Compare(a.Path, b.Path) })
	all := make([]error, len(faults))
	for i, fault := range faults {
		all[i] = fault
	}
	return errors.Join(all...)
}
