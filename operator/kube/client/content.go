package client

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// The default decoders copy a Secret or ConfigMap three times: out of the event, out of its envelope,
// and value by value. The operator's own ones are large, come back after each write, and only their
// hashes matter. The decoders below hash the values where they are in the buffer of the watch, and use the
// default decoders for everything else.

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
	c := rest.CopyConfig(cfg)
	c.GroupVersion, c.APIPath = &corev1.SchemeGroupVersion, "/api"
	c.NegotiatedSerializer = converting{scheme.Codecs.WithoutConversion(), digest}
	out, err := rest.RESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("client for Secrets and ConfigMaps: %w", err)
	}
	return out, nil
}

// converting decodes watch events with digests.
type converting struct {
	runtime.NegotiatedSerializer
	digest digest
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (c converting) SupportedMediaTypes() []runtime.SerializerInfo {
	out := append([]runtime.SerializerInfo(nil), c.NegotiatedSerializer.SupportedMediaTypes()...)
	for i := range out {
		info := &out[i]
		if info.MediaType != runtime.ContentTypeProtobuf || info.StreamSerializer == nil {
			continue
		}
		stream := *info.StreamSerializer
		stream.Serializer = envelopeDecoder{stream.Serializer}
		info.Serializer, info.StreamSerializer = contentDecoder{info.Serializer, c.digest}, &stream
	}
	return out
}

// Field numbers of protobuf messages.
const (
	typeOfEvent        = 1
	objectOfEvent      = 2
	rawOfExtension     = 1
	typeMetaOfUnknown  = 1
	encodingOfUnknown  = 3
	versionOfTypeMeta  = 1
	kindOfTypeMeta     = 2
	metadataOfContent  = 1
	dataOfContent      = 2
	typeOfSecret       = 3
	immutableSecret    = 5
	immutableConfigMap = 4
	keyOfEntry         = 1
	valueOfEntry       = 2
)

// envelopeDecoder splits events. The bytes of the object remain in the buffer of the watch, because they
// are decoded before the next event is read.
type envelopeDecoder struct{ runtime.Serializer }

// Decode implements runtime.Decoder.
func (d envelopeDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if event, ok := into.(*metav1.WatchEvent); ok {
		var kind, raw []byte
		ok := decoded(data, func(f field) bool {
			switch f.number {
			case typeOfEvent:
				kind = f.bytes
			case objectOfEvent:
				raw = protobufField(f.bytes, rawOfExtension)
			}
			return true
		})
		if ok && len(kind) > 0 && len(raw) > 0 {
			event.Type, event.Object.Raw = string(kind), raw
			return event, defaults, nil
		}
	}
	return d.Serializer.Decode(data, defaults, into)
}

// contentDecoder decodes Secrets and ConfigMaps of watch events.
type contentDecoder struct {
	runtime.Serializer
	digest digest
}

// Decode implements runtime.Decoder.
func (d contentDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if into == nil { // an event; other calls know the type
		if obj, kind := d.content(data); obj != nil {
			return obj, kind, nil
		}
	}
	return d.Serializer.Decode(data, defaults, into)
}

// content returns the object in an event; nil if it is of another kind or has unexpected fields.
func (d contentDecoder) content(data []byte) (runtime.Object, *schema.GroupVersionKind) {
	message, is := bytes.CutPrefix(data, protobufHead)
	if !is || len(protobufField(message, encodingOfUnknown)) > 0 {
		return nil, nil
	}
	about := protobufField(message, typeMetaOfUnknown)
	if string(protobufField(about, versionOfTypeMeta)) != "v1" {
		return nil, nil
	}
	raw := protobufField(message, rawOfUnknown)
	switch string(protobufField(about, kindOfTypeMeta)) {
	case "Secret":
		if s, ok := d.digest.secret(raw); ok {
			return s, new(corev1.SchemeGroupVersion.WithKind("Secret"))
		}
	case "ConfigMap":
		if m, ok := d.digest.configMap(raw); ok {
			return m, new(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		}
	}
	return nil, nil
}

func (d digest) secret(raw []byte) (*corev1.Secret, bool) {
	out := &corev1.Secret{StringData: map[string]string{}}
	ok := decoded(raw, func(f field) bool {
		switch f.number {
		case metadataOfContent:
			return out.Unmarshal(f.whole) == nil
		case dataOfContent:
			out.StringData[string(protobufField(f.bytes, keyOfEntry))] = d(protobufField(f.bytes, valueOfEntry))
		case typeOfSecret:
			out.Type = corev1.SecretType(f.bytes)
		case immutableSecret:
			out.Immutable = new(f.varint != 0)
		default:
			return false
		}
		return true
	})
	return out, ok
}

func (d digest) configMap(raw []byte) (*corev1.ConfigMap, bool) {
	out := &corev1.ConfigMap{Data: map[string]string{}, BinaryData: DigestsOnly}
	ok := decoded(raw, func(f field) bool {
		switch f.number {
		case metadataOfContent:
			return out.Unmarshal(f.whole) == nil
		case dataOfContent:
			out.Data[string(protobufField(f.bytes, keyOfEntry))] = d(protobufField(f.bytes, valueOfEntry))
		case immutableConfigMap:
			out.Immutable = new(f.varint != 0)
		default: // binaryData
			return false
		}
		return true
	})
	return out, ok
}

// field is one field of a protobuf message.
type field struct {
	number protowire.Number
	whole  []byte // with tag and length
	bytes  []byte // of a field with a length
	varint uint64
}

// decoded calls each for all fields of a message. ok is false if the message is malformed or each returned false.
func decoded(message []byte, each func(field) bool) (ok bool) {
	for len(message) > 0 {
		number, kind, head := protowire.ConsumeTag(message)
		if head < 0 {
			return false
		}
		size := protowire.ConsumeFieldValue(number, kind, message[head:])
		if size < 0 {
			return false
		}
		f := field{number: number, whole: message[:head+size]}
		switch value := message[head : head+size]; kind {
		case protowire.BytesType:
			f.bytes, _ = protowire.ConsumeBytes(value)
		case protowire.VarintType:
			f.varint, _ = protowire.ConsumeVarint(value)
		default:
			return false
		}
		if !each(f) {
			return false
		}
		message = message[head+size:]
	}
	return true
}
