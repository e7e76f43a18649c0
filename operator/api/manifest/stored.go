package manifest

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/jsonfields"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

const (
	// maxStoredFaults is the maximum number of reported decoding errors of one object.
	maxStoredFaults = 8
	// maxPathBytes is the maximum length of their paths, which contain map keys.
	maxPathBytes = 256
)

// DecodeStored decodes the JSON of an object from an API server into the struct that into points
// to. Values that do not fit their type are dropped and recorded in the object's [v1.Decoding],
// except in the status, whose schema only the API server knows. Unknown fields are ignored. If an object is too
// large to be decoded ([budget.Check]), only the metadata and a status of at most [budget.StatusBytes] are decoded.
//
// Errors: text that is not a JSON object.
func DecodeStored(raw []byte, into any) error {
	if o, ok := into.(interface{ GetDecoding() *v1.Decoding }); ok {
		if err := budget.Check(reflect.TypeOf(into).Elem().Name(), raw); err != nil {
			at := faults.Of(err)[0]
			o.GetDecoding().Faults = []v1.DecodingFault{{Field: at.Field, Reason: at.Reason}}
			return decodeHead(raw, reflect.ValueOf(into).Elem())
		}
	}
	faults, err := decodeFitting("", raw, reflect.ValueOf(into).Elem())
	if err != nil {
		return err
	}
	if o, ok := into.(interface{ GetDecoding() *v1.Decoding }); ok {
		o.GetDecoding().Faults = faults
	}
	return nil
}

// decodeFitting decodes the value at a path of a stored object. It returns the faults of what does not fit and is left
// out.
//
// Errors: text that is not JSON; a document that does not fit at all.
func decodeFitting(path string, raw []byte, into reflect.Value) ([]v1.DecodingFault, error) {
	err := decode(raw, into.Addr().Interface())
	if syntax, _ := kjson.SyntaxErrorOffset(err); err == nil || syntax {
		return nil, err
	}
	into.SetZero()
	r := repair{}
	rest, ok := r.value(path, raw, into.Type())
	switch {
	case ok:
		return r.faults, kjson.UnmarshalCaseSensitivePreserveInts(rest, into.Addr().Interface())
	case path == "":
		return nil, err
	default:
		return r.faults, nil
	}
}

// decodeHead decodes the kind and metadata of an object that is too large, and its status if
// possible.
func decodeHead(raw []byte, into reflect.Value) error {
	var head struct {
		metav1.TypeMeta
		metav1.ObjectMeta `json:"metadata"`
		Status            json.RawMessage `json:"status"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &head); err != nil {
		return err
	}
	into.FieldByName("TypeMeta").Set(reflect.ValueOf(head.TypeMeta))
	into.FieldByName("ObjectMeta").Set(reflect.ValueOf(head.ObjectMeta))
	status := into.FieldByName("Status")
	if len(head.Status) == 0 {
		return nil
	}
	if len(head.Status) > budget.StatusBytes || budget.Check(into.Type().Name(), slices.Concat([]byte(`{"status":`), head.Status, []byte("}"))) != nil ||
		decode(head.Status, status.Addr().Interface()) != nil {
		status.SetZero()
		into.Addr().Interface().(interface{ GetDecoding() *v1.Decoding }).GetDecoding().StatusLeftOut = true
	}
	return nil
}

// repair removes values that do not fit a type from a document. It tries the decoder itself on
// smaller and smaller parts, so that the decoder accepts the rest.
type repair struct {
	faults []v1.DecodingFault
	found  int // total number
}

// value returns a value without the parts that do not fit; ok is false if nothing fits.
func (r *repair) value(path string, raw []byte, t reflect.Type) (rest []byte, ok bool) {
	if fits(raw, t) {
		return raw, true
	}
	before := r.found
	if r.found < maxStoredFaults { // limits the cost of further errors to that of one decoding
		rest, ok = r.parts(path, raw, t)
	}
	if r.found == before {
		r.fault(path, raw, t)
		return nil, false
	}
	return rest, ok
}

// parts repairs the parts of a value. ok is false if it has none or is of another kind.
func (r *repair) parts(path string, raw []byte, t reflect.Type) (rest []byte, ok bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if jsonfields.Opaque(t) {
		return nil, false
	}
	switch kind := t.Kind(); {
	case kind == reflect.Struct && first(raw) == '{':
		known := jsonfields.Of(t)
		return r.object(path, raw, func(name string) reflect.Type { return known[name] })
	case kind == reflect.Map && first(raw) == '{':
		return r.object(path, raw, func(string) reflect.Type { return t.Elem() })
	case kind == reflect.Slice && first(raw) == '[':
		return r.list(path, raw, t.Elem())
	}
	return nil, false
}

// object repairs the members of an object. of returns the type of a member, nil for ignored
// ones.
func (r *repair) object(path string, raw []byte, of func(name string) reflect.Type) (rest []byte, ok bool) {
	var members map[string]json.RawMessage
	if kjson.UnmarshalCaseSensitivePreserveInts(raw, &members) != nil {
		return nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		t := of(name)
		if t == nil {
			delete(members, name)
			continue
		}
		if part, ok := r.value(Child(path, name), members[name], t); ok {
			members[name] = part
		} else {
			delete(members, name)
		}
	}
	rest, err := json.Marshal(members)
	return rest, err == nil
}

// list repairs the items of a list. An item that does not fit becomes empty, so that the indices
// of the others do not change.
func (r *repair) list(path string, raw []byte, t reflect.Type) (rest []byte, ok bool) {
	var items []json.RawMessage
	if kjson.UnmarshalCaseSensitivePreserveInts(raw, &items) != nil {
		return nil, false
	}
	for i := range items {
		part, ok := r.value(path+"["+strconv.Itoa(i)+"]", items[i], t)
		if items[i] = part; !ok {
			items[i] = json.RawMessage("null")
		}
	}
	rest, err := json.Marshal(items)
	return rest, err == nil
}

// fault records a value that does not fit.
func (r *repair) fault(path string, raw []byte, t reflect.Type) {
	r.found++
	if path == "status" || strings.HasPrefix(path, "status.") || len(r.faults) == maxStoredFaults {
		return
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	r.faults = append(r.faults, v1.DecodingFault{Field: excerpt.Of(path, maxPathBytes), Reason: misfit(sample(raw), t)})
}

// fits reports whether the decoder accepts a value for a type.
func fits(raw []byte, t reflect.Type) bool {
	return decode(raw, reflect.New(t).Interface()) == nil
}

// sample returns a value of the same kind; objects and lists are empty.
func sample(raw []byte) any {
	switch first(raw) {
	case '{':
		return map[string]any{}
	case '[':
		return []any{}
	}
	var out any
	if kjson.UnmarshalCaseSensitivePreserveInts(raw, &out) != nil {
		return nil
	}
	return out
}

// first returns the first byte of a value.
func first(raw []byte) byte {
	if raw = bytes.TrimLeft(raw, " \t\r\n"); len(raw) > 0 {
		return raw[0]
	}
	return 0
}
