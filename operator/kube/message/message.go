// Package message reads single fields of protobuf messages of the API server without decoding them.
//
//	name := message.Field(pod, 1, 1) // metadata, name
package message

import "google.golang.org/protobuf/encoding/protowire"

// Field returns a field of a message, or of one inside of it: path has the number of each field on the way. The result is
// a subslice of the message. It is nil if a field does not exist or the message is malformed before it, and truncated if
// the message is.
func Field(message []byte, path ...protowire.Number) []byte {
	for _, number := range path {
		message = field(message, number)
	}
	return message
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
