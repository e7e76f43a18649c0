package manifest

import (
	"reflect"

	"github.com/klauspost/compress/s2"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/jsonspan"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// packFrom is the minimum size in bytes of the text of a spec that is packed.
const packFrom = 64

// DecodePacked is like [DecodeStored], but what it returns holds the spec as compressed text, which takes a fraction of
// the memory; [Whole] returns the whole object. An object with faults is not packed.
//
// into: a pointer to a struct of a kind that embeds [v1.Decoding].
//
// Errors: text that is not a JSON object.
func DecodePacked(raw []byte, into interface{ GetDecoding() *v1.Decoding }) error {
	if err := DecodeStored(raw, into); err != nil || len(into.GetDecoding().Faults) > 0 {
		return err
	}
	text := jsonspan.Get(raw, "spec")
	if len(text) < packFrom {
		return nil
	}
	into.GetDecoding().Size = budget.Size(into, budget.DecodedBytes)
	into.GetDecoding().Packed = string(s2.EncodeBetter(nil, text))
	reflect.ValueOf(into).Elem().FieldByName("Spec").SetZero()
	return nil
}

// Whole returns an object with its spec: the object itself, or a copy if its spec is packed. The copy shares metadata and
// status with the object.
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
	text, err := s2.Decode(nil, []byte(packed.GetDecoding().Packed))
	if err == nil {
		err = decode(text, out.Elem().FieldByName("Spec").Addr().Interface())
	}
	if err != nil { // never happens: the same text was decoded before
		decoding.Faults = []v1.DecodingFault{{Field: "spec", Reason: "cannot be unpacked: " + err.Error()}}
	}
	return out.Interface().(T)
}
