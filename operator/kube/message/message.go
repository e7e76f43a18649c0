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

// All yields each field of a message with a number, until one is malformed.
func All(message []byte, number protowire.Number) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(message) > 0 {
			n, kind, value, rest := next(message)
			if rest < 0 {
				return
			}
			if n == number && kind == protowire.BytesType {
				if inner, _ := protowire.ConsumeBytes(value); !yield(inner) {
					return
				}
			}
			message = message[rest:]
		}
	}
}

// Varint returns the first number in a field of a message; 0 if there is none.
func Varint(message []byte, number protowire.Number) uint64 {
	for len(message) > 0 {
		n, kind, value, rest := next(message)
		if rest < 0 {
			return 0
		}
		if n == number && kind == protowire.VarintType {
			out, _ := protowire.ConsumeVarint(value)
			return out
		}
		message = message[rest:]
	}
	return 0
}

// next returns the first field of a message, and its length with the number; negative if it is malformed.
func next(message []byte) (number protowire.Number, kind protowire.Type, value []byte, length int) {
	number, kind, head := protowire.ConsumeTag(message)
	if head < 0 {
		return 0, 0, nil, head
	}
	size := protowire.ConsumeFieldValue(number, kind, message[head:])
	if size < 0 {
		return 0, 0, nil, size
	}
	return number, kind, message[head : head+size], head + size
}

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
