// Package message reads single fields of protobuf messages of the API server without decoding them.
//
//	name := message.Field(pod, 1, 1) // metadata, name
package message

import (
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field returns a field of a message, or of one inside of it: path has the number of each field on the way. The result is
// a subslice of the message. It is nil if a field does not exist or the message is malformed before it, and truncated if
// the message is.
func Field(message []byte, path ...protowire.Number) []byte {
	for _, number := range path {
		message = field(message, number)
	}
	return message
}

// Part is one field of a message.
type Part struct {
	Number protowire.Number
	Kind   protowire.Type
	Whole  []byte // with tag and length
	Bytes  []byte // of a field with a length
	Varint uint64
}

// Walk calls each for the fields of a message, in order. ok is false if the message is malformed or each returned false.
func Walk(message []byte, each func(Part) bool) (ok bool) {
	for len(message) > 0 {
		number, kind, head := protowire.ConsumeTag(message)
		if head < 0 {
			return false
		}
		size := protowire.ConsumeFieldValue(number, kind, message[head:])
		if size < 0 {
			return false
		}
		p := Part{Number: number, Kind: kind, Whole: message[:head+size]}
		switch value := message[head : head+size]; kind {
		case protowire.BytesType:
			p.Bytes, _ = protowire.ConsumeBytes(value)
		case protowire.VarintType:
			p.Varint, _ = protowire.ConsumeVarint(value)
		}
		if !each(p) {
			return false
		}
		message = message[head+size:]
	}
	return true
}

// All yields each field of a message with a number, until one is malformed.
func All(message []byte, number protowire.Number) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		Walk(message, func(p Part) bool {
			return p.Number != number || p.Kind != protowire.BytesType || yield(p.Bytes)
		})
	}
}

// Varint returns the first number in a field of a message, 0 if there is none.
func Varint(message []byte, number protowire.Number) (out uint64) {
	Walk(message, func(p Part) bool {
		found := p.Number == number && p.Kind == protowire.VarintType
		if found {
			out = p.Varint
		}
		return !found
	})
	return out
}

// field does not use Walk, which does not reach a truncated field.
func field(message []byte, number protowire.Number) []byte {
	for len(message) > 0 {
		n, kind, length := protowire.ConsumeTag(message)
		if length < 0 {
			return nil
		}
		message = message[length:]
		if n == number && kind == protowire.BytesType {
			size, length := protowire.ConsumeVarint(message)
			if length < 0 {
				return nil
			}
			message = message[length:]
			return message[:min(uint64(len(message)), size)]
		}
		if length = protowire.ConsumeFieldValue(n, kind, message); length < 0 {
			return nil
		}
		message = message[length:]
	}
	return nil
}
