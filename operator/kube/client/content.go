package client

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/kube/message"
)

// The default decoders copy a Secret or ConfigMap value by value. The operator's own ones are large, are delivered
// again after each write, and only their hashes matter. The decoders below hash the values where they are in the buffer
// of the watch, and use the default decoders for everything else.

// DigestsOnly is the BinaryData of a ConfigMap that has digests in Data. The API server accepts no such key. It must
// not be modified.
var DigestsOnly = map[string][]byte{":sha256": nil}

// HasDigests reports whether a ConfigMap has digests in Data.
func HasDigests(m *corev1.ConfigMap) bool {
	_, has := m.BinaryData[":sha256"]
	return has
}

// digest returns what Secrets have in StringData instead of the value in Data, and ConfigMaps in Data. It must not
// retain the value.
type digest func(value []byte) string

// NewContent returns a REST client for Secrets and ConfigMaps whose watches return digests instead of the values. cfg
// must accept protobuf. Lists and other calls return objects as they are.
//
// Errors: an invalid configuration.
func NewContent(cfg *rest.Config, digest func(value []byte) string) (rest.Interface, error) {
	out, err := NewEvents(cfg, contentOf(digest))
	if err != nil {
		return nil, fmt.Errorf("client for Secrets and ConfigMaps: %w", err)
	}
	return out, nil
}

// Field numbers of Secrets and ConfigMaps.
const (
	metadataOfContent  = 1
	dataOfContent      = 2
	typeOfSecret       = 3
	immutableSecret    = 5
	immutableConfigMap = 4
	keyOfEntry         = 1
	valueOfEntry       = 2
)

// contentOf returns a function that decodes Secrets and ConfigMaps.
func contentOf(d digest) DecodeObject {
	return func(kind string, raw []byte) runtime.Object {
		switch kind {
		case "Secret":
			if s, ok := d.secret(raw); ok {
				return s
			}
		case "ConfigMap":
			if m, ok := d.configMap(raw); ok {
				return m
			}
		}
		return nil
	}
}

func (d digest) secret(raw []byte) (*corev1.Secret, bool) {
	out := &corev1.Secret{StringData: map[string]string{}}
	ok := decoded(raw, func(p message.Part) bool {
		switch p.Number {
		case metadataOfContent:
			return out.Unmarshal(p.Whole) == nil
		case dataOfContent:
			out.StringData[string(message.Field(p.Bytes, keyOfEntry))] = d(message.Field(p.Bytes, valueOfEntry))
		case typeOfSecret:
			out.Type = corev1.SecretType(p.Bytes)
		case immutableSecret:
			out.Immutable = new(p.Varint != 0)
		default:
			return false
		}
		return true
	})
	return out, ok
}

func (d digest) configMap(raw []byte) (*corev1.ConfigMap, bool) {
	out := &corev1.ConfigMap{Data: map[string]string{}, BinaryData: DigestsOnly}
	ok := decoded(raw, func(p message.Part) bool {
		switch p.Number {
		case metadataOfContent:
			return out.Unmarshal(p.Whole) == nil
		case dataOfContent:
			out.Data[string(message.Field(p.Bytes, keyOfEntry))] = d(message.Field(p.Bytes, valueOfEntry))
		case immutableConfigMap:
			out.Immutable = new(p.Varint != 0)
		default: // binaryData
			return false
		}
		return true
	})
	return out, ok
}
