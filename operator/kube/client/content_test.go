package client

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	restwatch "k8s.io/client-go/rest/watch"
)

// digestOf is a digest like the operator's.
func digestOf(value []byte) string { sum := sha256.Sum256(value); return string(sum[:]) }

// digested returns an object as it is decoded with digests.
func digested(o runtime.Object) runtime.Object {
	switch o := o.(type) {
	case *corev1.Secret:
		o.StringData = map[string]string{}
		for k, v := range o.Data {
			o.StringData[k] = digestOf(v)
		}
		o.Data = nil
	case *corev1.ConfigMap:
		if len(o.BinaryData) > 0 {
			break // the default decoder decodes it
		}
		sums := map[string]string{}
		for k, v := range o.Data {
			sums[k] = digestOf([]byte(v))
		}
		o.Data, o.BinaryData = sums, DigestsOnly
	}
	return o
}

// stream encodes events as an API server does.
func stream(t testing.TB, events ...watch.Event) []byte {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	if !ok {
		t.Fatal("no protobuf")
	}
	var out bytes.Buffer
	encoder := streaming.NewEncoder(info.StreamSerializer.NewFrameWriter(&out), info.StreamSerializer.Serializer)
	for _, e := range events {
		raw, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), e.Object)
		if err != nil {
			t.Fatal(err)
		}
		if err := encoder.Encode(&metav1.WatchEvent{Type: string(e.Type), Object: runtime.RawExtension{Raw: raw}}); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// received decodes a stream to its end.
func received(t testing.TB, codecs runtime.NegotiatedSerializer, stream io.Reader) (out []watch.Event) {
	t.Helper()
	objects, serializer, framer, err := runtime.NewClientNegotiator(codecs, corev1.SchemeGroupVersion).StreamDecoder(runtime.ContentTypeProtobuf, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := restwatch.NewDecoder(streaming.NewDecoder(framer.NewFrameReader(io.NopCloser(stream)), serializer), objects)
	for {
		kind, obj, err := d.Decode()
		switch {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			t.Fatal(err)
		}
		out = append(out, watch.Event{Type: kind, Object: obj})
	}
}

func codecs() (usual, ours runtime.NegotiatedSerializer) {
	usual = scheme.Codecs.WithoutConversion()
	return usual, eventCodecs{usual, contentOf(digestOf)}
}

// TestContentReadsLikeWithTheUsualDecoders compares random objects after the whole stream was read, when the
// buffer has other events than theirs.
func TestContentReadsLikeWithTheUsualDecoders(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 2))
	meta := func(i int) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Namespace: "a", Name: fmt.Sprint("n", i), ResourceVersion: fmt.Sprint(i), UID: "u", Labels: map[string]string{"k": strings.Repeat("v", random.IntN(60))},
			Annotations: map[string]string{"": "ü\x00"}, OwnerReferences: []metav1.OwnerReference{{Name: "o", Controller: new(true)}},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: metav1.NewFieldsV1(`{"f:data":{}}`)}},
		}
	}
	value := func() string { return strings.Repeat(string(rune(random.IntN(300))), random.IntN(5000)) }
	var events []watch.Event
	for i := range 200 {
		var o runtime.Object
		switch random.IntN(6) {
		case 0:
			o = &metav1.Status{Status: "Failure", Code: 410, Message: "too old"}
		case 1:
			o = &corev1.Pod{ObjectMeta: meta(i)}
		case 2, 3:
			s := &corev1.Secret{ObjectMeta: meta(i), Data: map[string][]byte{}, Type: corev1.SecretType([]string{"", "Opaque"}[random.IntN(2)])}
			for n := range random.IntN(4) {
				s.Data[fmt.Sprint("k", n)] = []byte(value())
			}
			if random.IntN(3) == 0 {
				s.Immutable = new(random.IntN(2) == 0)
			}
			o = s
		default:
			m := &corev1.ConfigMap{ObjectMeta: meta(i)}
			for n := range random.IntN(4) {
				if m.Data == nil {
					m.Data = map[string]string{}
				}
				m.Data[fmt.Sprint("k", n)] = value()
			}
			if random.IntN(3) == 0 {
				m.BinaryData = map[string][]byte{"b": []byte(value())}
			}
			if random.IntN(3) == 0 {
				m.Immutable = new(random.IntN(2) == 0)
			}
			o = m
		}
		kind := []watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Bookmark}[random.IntN(4)]
		if _, is := o.(*metav1.Status); is {
			kind = watch.Error
		}
		events = append(events, watch.Event{Type: kind, Object: o})
	}
	usual, ours := codecs()
	text := stream(t, events...)
	want := received(t, usual, bytes.NewReader(text))
	for i := range want {
		want[i].Object = digested(want[i].Object)
	}
	if len(want) != len(events) {
		t.Fatalf("%d of %d events", len(want), len(events))
	}
	for name, got := range map[string][]watch.Event{
		"at once": received(t, ours, bytes.NewReader(text)), "in small pieces": received(t, ours, trickle{bytes.NewReader(text)}),
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestContentIsNotCopied reads many versions of a large Secret.
func TestContentIsNotCopied(t *testing.T) {
	const size, versions = 600_000, 50
	var events []watch.Event
	for i := range versions {
		events = append(events, watch.Event{Type: watch.Modified, Object: &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "n"}, Data: map[string][]byte{"prometheus.yaml.gz": bytes.Repeat([]byte{byte(i)}, size)},
		}})
	}
	text := stream(t, events...)
	usual, ours := codecs()
	allocated := func(c runtime.NegotiatedSerializer) uint64 {
		sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
		metrics.Read(sample)
		before := sample[0].Value.Uint64()
		if n := len(received(t, c, bytes.NewReader(text))); n != versions {
			t.Fatalf("%d events", n)
		}
		metrics.Read(sample)
		return sample[0].Value.Uint64() - before
	}
	without, with := allocated(usual), allocated(ours)
	t.Logf("%d kB per event instead of %d kB", with/versions/1000, without/versions/1000)
	if with > without/5 {
		t.Errorf("%d bytes allocated for %d bytes, with the usual decoders %d", with, len(text), without)
	}
}

// FuzzContent decodes events with any bytes as object.
func FuzzContent(f *testing.F) {
	for _, o := range []runtime.Object{
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string][]byte{"k": []byte("v")}, Immutable: new(true)},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"k": "v"}},
	} {
		f.Add(stream(f, watch.Event{Type: watch.Added, Object: o})[4:])
	}
	usual, ours := codecs()
	decode := func(c runtime.NegotiatedSerializer, data []byte) (runtime.Object, error) {
		objects, serializer, _, err := runtime.NewClientNegotiator(c, corev1.SchemeGroupVersion).StreamDecoder(runtime.ContentTypeProtobuf, nil)
		if err != nil {
			return nil, err
		}
		var event metav1.WatchEvent
		if _, _, err := serializer.Decode(data, nil, &event); err != nil {
			return nil, err
		}
		return runtime.Decode(objects, event.Object.Raw)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want, err := decode(usual, bytes.Clone(data))
		got, gotErr := decode(ours, bytes.Clone(data))
		if err != nil {
			return // ours may be more tolerant
		}
		if gotErr != nil {
			t.Fatalf("%v: %x", gotErr, data)
		}
		if diff := cmp.Diff(digested(want), got); diff != "" {
			t.Errorf("%x: %s", data, diff)
		}
	})
}
