package discovery

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/kube/message"
)

// rule selects the fields of a protobuf-encoded API object that are kept.
type rule struct {
	// fields by number: nil removes the field.
	fields map[protowire.Number]*rule
	// rest keeps the fields that are not named.
	rest bool
	// drops (optional) reports whether the field itself is removed, judging by its content.
	drops func(message []byte) bool
}

// whole keeps all of a field.
var whole = &rule{rest: true}

func only(fields map[protowire.Number]*rule) *rule { return &rule{fields: fields} }

// keep returns a rule that keeps all of the given fields.
func keep(numbers ...protowire.Number) *rule {
	out := only(map[protowire.Number]*rule{})
	for _, n := range numbers {
		out.fields[n] = whole
	}
	return out
}

// The rules keep the same fields as trim. The field numbers come from generated.proto of the API.
var (
	shortMeta      = keep(1, 3, 5, 6, 11, 12, 13) // name, namespace, uid, resourceVersion, labels, annotations, ownerReferences
	shortContainer = keep(1, 2, 6)                // name, image, ports
	shortStatus    = keep(1, 8)                   // name, containerID
	shortCondition = keep(1, 2)                   // type, status
	shortReady     = &rule{fields: shortCondition.fields, drops: func(m []byte) bool { return string(message.Field(m, 1)) != string(corev1.PodReady) }}

	shortPod = only(map[protowire.Number]*rule{1: shortMeta, 2: only(map[protowire.Number]*rule{
		2: shortContainer, 3: whole, 8: whole, 10: whole, 11: whole, 19: whole, 20: shortContainer, // restartPolicy, serviceAccountName, nodeName, hostNetwork, schedulerName
	}), 3: only(map[protowire.Number]*rule{
		1: whole, 2: shortReady, 5: whole, 6: whole, 8: shortStatus, 10: shortStatus, 11: whole, // phase, hostIP, podIP, nominatedNodeName
	})})
	shortNode = only(map[protowire.Number]*rule{1: shortMeta, 2: keep(3, 4), 3: only(map[protowire.Number]*rule{ // providerID, unschedulable
		4: shortCondition, 5: whole, 6: whole, // addresses, daemonEndpoints
	})})
	shortOther = &rule{rest: true, fields: map[protowire.Number]*rule{1: {rest: true, fields: map[protowire.Number]*rule{17: nil}}}} // managedFields
)

// Shorten removes from a protobuf-encoded list the fields that [Objects.Add] would trim, because
// decoding them takes most of the time. The message is overwritten.
//
// Errors: it is not a protobuf message.
func Shorten(role string, list []byte) ([]byte, error) {
	item := shortOther
	switch role {
	case rolePod:
		item = shortPod
	case roleNode:
		item = shortNode
	}
	return only(map[protowire.Number]*rule{1: whole, 2: item}).shorten(list)
}

var errMessage = errors.New("this is no protobuf message")

// shorten moves the fields of a message that are kept to its beginning.
func (r *rule) shorten(text []byte) ([]byte, error) {
	out, rest := text[:0], text
	for len(rest) > 0 {
		number, kind, tag := protowire.ConsumeTag(rest)
		if tag < 0 {
			return nil, errMessage
		}
		size := protowire.ConsumeFieldValue(number, kind, rest[tag:])
		if size < 0 {
			return nil, errMessage
		}
		field := rest[:tag+size]
		rest = rest[tag+size:]
		inner, named := r.fields[number]
		switch {
		case named && inner == nil, !named && !r.rest:
			continue
		case !named, inner == whole, kind != protowire.BytesType:
			out = append(out, field...)
			continue
		}
		body, _ := protowire.ConsumeBytes(field[tag:])
		if inner.drops != nil && inner.drops(body) {
			continue
		}
		short, err := inner.shorten(body)
		if err != nil {
			return nil, err
		}
		// The write position stays behind the read position, because the length takes no more bytes than before.
		out = append(out, field[:tag]...)
		out = protowire.AppendVarint(out, uint64(len(short)))
		out = append(out, short...)
	}
	return out, nil
}
