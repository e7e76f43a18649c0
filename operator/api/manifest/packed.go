package manifest

import (
	_ "embed"
	"reflect"
	"sync"

	"github.com/klauspost/compress/s2"
	kjson "sigs.k8s.io/json"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/jsonspan"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// packFrom is the minimum size in bytes of the text of a spec that is packed.
const packFrom = 64

// ordinary is the size in bytes below which the text of a spec is packed with a dictionary. Longer texts hardly need one,
// and are packed and unpacked faster without.
const ordinary = 4 << 10

//go:embed specs.txt
var specsText []byte

// typicalSpecs is the dictionary of short specs: what they have in common with all others takes no memory.
var typicalSpecs = sync.OnceValue(func() *s2.Dict { return s2.MakeDict(specsText, nil) })

// pack compresses the text of a spec.
func pack(text []byte) string {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	if len(text) < ordinary {
		*buffer = typicalSpecs().Encode((*buffer)[:cap(*buffer)], text)
	} else {
		*buffer = s2.EncodeBetter((*buffer)[:cap(*buffer)], text)
	}
	return string(*buffer)
}

// unpack returns the text of a spec.
func unpack(packed string) ([]byte, error) {
	raw := []byte(packed)
	n, err := s2.DecodedLen(raw)
	if err == nil && n < ordinary {
		return typicalSpecs().Decode(nil, raw)
	}
	return s2.Decode(nil, raw)
}

// buffers are for the text of objects without their specs, and for compressing specs.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// DecodePacked is like [DecodeStored], but what it returns holds the spec as compressed text, which takes a fraction of
// the memory, and no managed fields. [Whole] decodes the spec, and finds its faults. An object that is too large, or whose
// metadata or status has faults, is not packed.
//
// into: a pointer to a struct of a kind that embeds [v1.Decoding].
//
// Errors: text that is not a JSON object.
func DecodePacked(raw []byte, into interface{ GetDecoding() *v1.Decoding }) error {
	if packed(raw, into) {
		return nil
	}
	reflect.ValueOf(into).Elem().SetZero()
	return DecodeStored(raw, into)
}

// packed decodes an object whose spec it packs, and returns false if that is not possible.
func packed(raw []byte, into interface{ GetDecoding() *v1.Decoding }) bool {
	var spec, metadata []byte
	jsonspan.Members(raw, func(name string, value []byte) bool {
		switch name {
		case "spec":
			spec = value
		case "metadata":
			metadata = value
		}
		return true
	})
	managed := jsonspan.Get(metadata, "managedFields")
	if len(spec) < packFrom {
		return false
	}
	kind := reflect.TypeOf(into).Elem().Name()
	memory, err := budget.Spec(kind, spec)
	if err != nil {
		return false
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer = jsonspan.Without((*buffer)[:0], raw, managed, spec)
	// No quantities are outside of specs, but UIDs look like some with large exponents.
	if budget.Check(kind, *buffer) != nil || kjson.UnmarshalCaseSensitivePreserveInts(*buffer, into) != nil {
		return false
	}
	memory += budget.Size(into, budget.DecodedBytes)
	if memory >= budget.DecodedBytes {
		return false
	}
	into.GetDecoding().Size, into.GetDecoding().Packed = memory, pack(spec)
	return true
}

// Whole returns an object with its spec: the object itself, or a copy if its spec is packed. The copy shares metadata and
// status with the object, and has the faults of the spec.
func Whole[T any](object T) T {
	packed, is := any(object).(interface{ GetDecoding() *v1.Decoding })
	if !is || packed.GetDecoding().Packed == "" {
		return object
	}
	from := reflect.ValueOf(object).Elem()
	out := reflect.New(from.Type())
	out.Elem().Set(from)
	decoding := out.Interface().(interface{ GetDecoding() *v1.Decoding }).GetDecoding()
	decoding.Packed, decoding.Size = "", 0
	text, err := unpack(packed.GetDecoding().Packed)
	if err == nil {
		decoding.Faults, err = decodeFitting("spec", text, out.Elem().FieldByName("Spec"))
	}
	if err != nil { // never with the JSON of an API server
		decoding.Faults = []v1.DecodingFault{{Field: "spec", Reason: "cannot be unpacked: " + err.Error()}}
	}
	return out.Interface().(T)
}
