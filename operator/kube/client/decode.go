package client

import (
	"bytes"
	"errors"
	"iter"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// An API server can store objects that do not fit our types: schemas have no int32, and other
// versions of the CRDs may be installed. Each object is therefore decoded separately. One that
// does not fit is returned with a fault ([manifest.DecodeStored]), so that it does not affect
// the other objects of its list or watch.

// objectDecoder decodes objects of our kinds and lists of them, item by item. It uses the
// default decoder for everything else.
type objectDecoder struct {
	runtime.Serializer
	scheme *runtime.Scheme
	packs  bool // specs of configuration objects are packed
}

// Decode implements runtime.Decoder.
func (d objectDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if into == nil {
		if kind, ok := kindOf(data); ok {
			obj, err := d.scheme.New(kind)
			if err == nil && !isList(obj) && d.decode(data, obj) == nil {
				return obj, &kind, nil
			}
		}
	}
	if list, kind, ok := d.list(data, into); ok {
		return list, kind, nil
	}
	obj, kind, err := d.Serializer.Decode(data, defaults, into)
	if err == nil {
		return obj, kind, nil
	}
	if obj, kind, ok := d.unusual(data, into); ok {
		return obj, kind, nil
	}
	return obj, kind, err
}

// decode decodes a stored object. Only objects of our kinds can be incomplete.
func (d objectDecoder) decode(data []byte, into runtime.Object) error {
	if isOurs(into) {
		return d.stored(data, into)
	}
	return json.Unmarshal(data, into)
}

// stored decodes a stored object of our kinds.
func (d objectDecoder) stored(data []byte, into any) error {
	if config, ok := into.(packable); ok && d.packs {
		return manifest.DecodePacked(data, config)
	}
	return manifest.DecodeStored(data, into)
}

// packable are the kinds with specs that can be packed.
type packable interface {
	v1.ConfigResource
	GetDecoding() *v1.Decoding
}

// isOurs reports whether an object can hold a decoding fault.
func isOurs(obj runtime.Object) bool {
	_, ok := obj.(interface{ GetDecoding() *v1.Decoding })
	return ok
}

func isList(obj runtime.Object) bool {
	_, ok := obj.(metav1.ListInterface)
	return ok
}

// unusual decodes an object of our kinds that does not begin with its kind and that the
// default decoder rejects.
func (d objectDecoder) unusual(data []byte, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, bool) {
	var head metav1.TypeMeta
	if json.Unmarshal(data, &head) != nil {
		return nil, nil, false
	}
	kind := head.GroupVersionKind()
	obj, err := d.scheme.New(kind)
	if err != nil || !isOurs(obj) || into != nil && reflect.TypeOf(into) != reflect.TypeOf(obj) {
		return nil, nil, false
	}
	if into != nil {
		obj = into
	}
	return obj, &kind, d.stored(data, obj) == nil
}

// list decodes a list of our kinds; ok is false for everything else.
func (d objectDecoder) list(data []byte, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, bool) {
	if into != nil && !isList(into) {
		return nil, nil, false
	}
	items := itemsOf{objectDecoder: d}
	list := struct {
		metav1.TypeMeta
		metav1.ListMeta `json:"metadata"`
		Items           *itemsOf `json:"items"`
	}{Items: &items}
	if json.Unmarshal(data, &list) != nil || !items.list.IsValid() {
		return nil, nil, false
	}
	kind := list.GroupVersionKind()
	out := items.list.Addr().Interface().(runtime.Object)
	if kind != items.kind.GroupVersion().WithKind(items.kind.Kind+"List") || into != nil && reflect.TypeOf(into) != reflect.TypeOf(out) {
		return nil, nil, false
	}
	if into != nil {
		reflect.ValueOf(into).Elem().Set(items.list)
		out = into
	}
	out.GetObjectKind().SetGroupVersionKind(kind)
	about := out.(metav1.ListInterface)
	about.SetResourceVersion(list.ResourceVersion)
	about.SetContinue(list.Continue)
	about.SetRemainingItemCount(list.RemainingItemCount)
	return out, &kind, true
}

// itemsOf decodes the items of a list one by one. The kind of the list follows its items, but
// each item has its own.
type itemsOf struct {
	objectDecoder
	kind  schema.GroupVersionKind // of the items
	list  reflect.Value           // a struct of the list's type; invalid without items
	items reflect.Value           // the slice in list
}

// UnmarshalJSON implements json.Unmarshaler. data is valid JSON.
func (l *itemsOf) UnmarshalJSON(data []byte) error {
	var head []byte // of the first item, up to the end of its kind
	for item := range elements(data) {
		if head == nil || !bytes.HasPrefix(item, head) {
			kind, ok := kindOf(item)
			if !ok || !l.has(kind) {
				return errors.New("no list of one of our kinds")
			}
			_, rest, _ := leadingString(item, `{"apiVersion":"`)
			_, rest, _ = leadingString(rest, `,"kind":"`)
			head = item[:len(item)-len(rest)]
		}
		n := l.items.Len()
		l.items.Grow(1)
		l.items.SetLen(n + 1)
		if err := l.stored(item, l.items.Index(n).Addr().Interface()); err != nil {
			return err
		}
	}
	return nil
}

// has reports whether an item belongs in the list. The first item determines the list's type.
func (l *itemsOf) has(kind schema.GroupVersionKind) bool {
	if l.list.IsValid() {
		return kind == l.kind
	}
	item, err := l.scheme.New(kind)
	if err != nil || !isOurs(item) {
		return false
	}
	list, err := l.scheme.New(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err != nil {
		return false
	}
	value := reflect.ValueOf(list).Elem()
	items := value.FieldByName("Items")
	if !items.IsValid() || items.Type() != reflect.SliceOf(reflect.TypeOf(item).Elem()) {
		return false
	}
	l.kind, l.list, l.items = kind, value, items
	return true
}

// elements returns the values in a list, which must be valid JSON.
func elements(list []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		depth, start := 0, -1
		for i := 0; i < len(list); i++ {
			c := list[i]
			switch c {
			case ',', ' ', '\t', '\r', '\n':
			case ']', '}':
				depth--
			default:
				if depth == 1 && start < 0 {
					start = i
				}
			}
			if start >= 0 && (depth == 0 || depth == 1 && c == ',') {
				if !yield(list[start:i]) {
					return
				}
				start = -1
			}
			switch c {
			case '"':
				i = endOfString(list, i)
			case '[', '{':
				depth++
			}
		}
	}
}

// endOfString returns the index of the closing quotation mark of the string that starts at at.
func endOfString(text []byte, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}
