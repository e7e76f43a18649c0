package client

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/kube/message"
)

// The default decoders copy the object of a watch event twice before they decode it: out of the event, and out of its
// envelope. The decoders below leave it in the buffer of the watch.

// DecodeObject decodes an object of the core API in a watch event. raw is its protobuf message, which must be neither retained
// nor changed. The result is nil for objects that the default decoder decodes.
type DecodeObject func(kind string, raw []byte) runtime.Object

// NewEvents returns a REST client for the core API whose watches decode objects with decode. cfg must accept protobuf. Lists
// and other calls use the default decoders.
//
// Errors: an invalid configuration.
func NewEvents(cfg *rest.Config, decode DecodeObject) (rest.Interface, error) {
	c := rest.CopyConfig(cfg)
	c.GroupVersion, c.APIPath = &corev1.SchemeGroupVersion, "/api"
	c.NegotiatedSerializer = eventCodecs{scheme.Codecs.WithoutConversion(), decode}
	return rest.RESTClientFor(c)
}

// eventCodecs decode the objects of watch events with a function.
type eventCodecs struct {
	runtime.NegotiatedSerializer
	decode DecodeObject
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (c eventCodecs) SupportedMediaTypes() []runtime.SerializerInfo {
	return withStreams(c.NegotiatedSerializer, runtime.ContentTypeProtobuf, func(info *runtime.SerializerInfo) {
		info.Serializer, info.StreamSerializer.Serializer = messageDecoder{info.Serializer, c.decode}, envelopeDecoder{info.StreamSerializer.Serializer}
	})
}

// withStreams returns the serializers of codecs, with those of a media type for watches changed by change.
func withStreams(codecs runtime.NegotiatedSerializer, mediaType string, change func(*runtime.SerializerInfo)) []runtime.SerializerInfo {
	out := append([]runtime.SerializerInfo(nil), codecs.SupportedMediaTypes()...)
	for i := range out {
		info := &out[i]
		if info.MediaType != mediaType || info.StreamSerializer == nil {
			continue
		}
		stream := *info.StreamSerializer
		info.StreamSerializer = &stream
		change(info)
	}
	return out
}

// Field numbers of the messages around an object.
const (
	typeOfEvent       = 1
	objectOfEvent     = 2
	rawOfExtension    = 1
	typeMetaOfUnknown = 1
	encodingOfUnknown = 3
	versionOfTypeMeta = 1
	kindOfTypeMeta    = 2
)

// envelopeDecoder splits events. The bytes of the object remain in the buffer of the watch, because they
// are decoded before the next event is read.
type envelopeDecoder struct{ runtime.Serializer }

// Decode implements runtime.Decoder.
func (d envelopeDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if event, ok := into.(*metav1.WatchEvent); ok {
		var kind, raw []byte
		ok := decoded(data, func(p message.Part) bool {
			switch p.Number {
			case typeOfEvent:
				kind = p.Bytes
			case objectOfEvent:
				raw = message.Field(p.Bytes, rawOfExtension)
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

// messageDecoder decodes the objects of watch events.
type messageDecoder struct {
	runtime.Serializer
	decode DecodeObject
}

// Decode implements runtime.Decoder.
func (d messageDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if into == nil { // an event; other calls know the type
		if kind, raw := coreObject(data); kind != "" {
			if obj := d.decode(kind, raw); obj != nil {
				return obj, new(corev1.SchemeGroupVersion.WithKind(kind)), nil
			}
		}
	}
	return d.Serializer.Decode(data, defaults, into)
}

// coreObject returns the kind and the message of an object of the core API, without a copy; "" for others.
func coreObject(data []byte) (kind string, raw []byte) {
	envelope, is := bytes.CutPrefix(data, protobufHead)
	if !is || len(message.Field(envelope, encodingOfUnknown)) > 0 || string(message.Field(envelope, typeMetaOfUnknown, versionOfTypeMeta)) != "v1" {
		return "", nil
	}
	return string(message.Field(envelope, typeMetaOfUnknown, kindOfTypeMeta)), message.Field(envelope, rawOfUnknown)
}

// decoded calls each for all fields of a message. ok is false if the message is malformed, has a field that is neither a number nor
// has a length, or each returned false.
func decoded(text []byte, each func(message.Part) bool) (ok bool) {
	return message.Walk(text, func(p message.Part) bool {
		return (p.Kind == protowire.BytesType || p.Kind == protowire.VarintType) && each(p)
	})
}
