package apply

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Value is a text of a ConfigMap, which may be in memory compressed.
type Value interface {
	Len() int                // in bytes
	Append(to []byte) []byte // appends the text
}

// plainValue is a text that is not compressed.
type plainValue string

func (v plainValue) Len() int                { return len(v) }
func (v plainValue) Append(to []byte) []byte { return append(to, v...) }

func plainValues(data map[string]string) map[string]Value {
	out := make(map[string]Value, len(data))
	for key, text := range data {
		out[key] = plainValue(text)
	}
	return out
}

// texts returns the values as the Data of a ConfigMap.
func texts(values map[string]Value) map[string]string {
	out := make(map[string]string, len(values))
	for key, v := range values {
		out[key] = string(v.Append(make([]byte, 0, v.Len())))
	}
	return out
}

// The encoders of client-go need three copies of each value: the text, the message, and the buffer that it is written
// to. appendObject decompresses values into the body of the request, which is used again for the next one.

// encodable is an object of the API group "" with a generated encoder.
type encodable interface {
	Size() int
	MarshalToSizedBuffer(to []byte) (int, error) // writes at the end
}

// Field numbers of the envelope of an object, and of ConfigMaps.
const (
	typeOfEnvelope  = 1
	rawOfEnvelope   = 2
	versionOfType   = 1
	kindOfType      = 2
	dataOfConfigMap = 2
	keyOfEntry      = 1
	valueOfEntry    = 2
)

// appendObject appends an object of version v1 as protobuf, in the envelope of the API server. values are added to the
// data of a ConfigMap.
func appendObject(to []byte, kind string, head encodable, values map[string]Value) ([]byte, error) {
	start := head.Size()
	size := start
	for key, v := range values {
		size += protowire.SizeTag(dataOfConfigMap) + protowire.SizeBytes(sizeOfEntry(key, v))
	}
	about := protowire.AppendString(protowire.AppendTag(nil, versionOfType, protowire.BytesType), "v1")
	about = protowire.AppendString(protowire.AppendTag(about, kindOfType, protowire.BytesType), kind)
	to = append(slices.Grow(to, size+len(about)+32), "k8s\x00"...)
	to = protowire.AppendBytes(protowire.AppendTag(to, typeOfEnvelope, protowire.BytesType), about)
	to = protowire.AppendVarint(protowire.AppendTag(to, rawOfEnvelope, protowire.BytesType), uint64(size))
	to = to[:len(to)+start]
	if _, err := head.MarshalToSizedBuffer(to); err != nil {
		return to, err
	}
	for key, v := range values {
		to = appendEntry(to, key, v)
	}
	return to, nil
}

func sizeOfEntry(key string, v Value) int {
	return protowire.SizeTag(keyOfEntry) + protowire.SizeBytes(len(key)) + protowire.SizeTag(valueOfEntry) + protowire.SizeBytes(v.Len())
}

func appendEntry(to []byte, key string, v Value) []byte {
	to = protowire.AppendVarint(protowire.AppendTag(to, dataOfConfigMap, protowire.BytesType), uint64(sizeOfEntry(key, v)))
	to = protowire.AppendString(protowire.AppendTag(to, keyOfEntry, protowire.BytesType), key)
	return v.Append(protowire.AppendVarint(protowire.AppendTag(to, valueOfEntry, protowire.BytesType), uint64(v.Len())))
}
