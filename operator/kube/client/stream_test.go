package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	restwatch "k8s.io/client-go/rest/watch"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// decoders returns the default decoders and ours.
func decoders(t testing.TB) (usual, ours runtime.NegotiatedSerializer) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	usual = serializer.NewCodecFactory(scheme).WithoutConversion()
	return usual, quick{usual, scheme, false}
}

// events reads a stream to its end and returns a line per event and one for the final error.
func events(t testing.TB, codecs runtime.NegotiatedSerializer, stream io.Reader) []string {
	t.Helper()
	objects, serializer, framer, err := runtime.NewClientNegotiator(codecs, v1.SchemeGroupVersion).StreamDecoder(runtime.ContentTypeJSON, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := restwatch.NewDecoder(streaming.NewDecoder(framer.NewFrameReader(io.NopCloser(stream)), serializer), objects)
	var out []string
	for {
		kind, obj, err := d.Decode()
		switch {
		case errors.Is(err, io.EOF):
			return append(out, "end")
		case err != nil:
			return append(out, "error")
		}
		out = append(out, show(t, kind, obj))
	}
}

func show(t testing.TB, kind watch.EventType, obj runtime.Object) string {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %T %s", kind, obj, text)
}

// trickle returns a few bytes per Read.
type trickle struct{ r io.Reader }

func (t trickle) Read(p []byte) (int, error) { return t.r.Read(p[:min(len(p), 7)]) }

func TestStreamsReadLikeWithTheUsualDecoders(t *testing.T) {
	monitor := func(name string) string {
		return `{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor","metadata":{"name":"` + name + `","labels":{"a":"}}\n\""}},"spec":{"endpoints":[{"port":"http"}],"selector":{}}}`
	}
	event := func(kind, object string) string { return `{"type":"` + kind + `","object":` + object + "}\n" }
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(event("ADDED", monitor("pretty"))), "", "  "); err != nil {
		t.Fatal(err)
	}
	large := monitor(strings.Repeat("x", 200_000))
	usual, ours := decoders(t)
	for name, stream := range map[string]string{
		"nothing":              "",
		"events":               event("ADDED", monitor("a")) + event("MODIFIED", monitor("b")) + event("DELETED", monitor("a")),
		"bookmark":             event("BOOKMARK", `{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor","metadata":{"resourceVersion":"7"}}`),
		"error":                event("ERROR", `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":410}`),
		"empty lines":          "\n\r\n" + event("ADDED", monitor("a")) + "\n" + event("ADDED", monitor("b")),
		"line ends of Windows": strings.ReplaceAll(event("ADDED", monitor("a")), "\n", "\r\n"),
		"no last line end":     strings.TrimSpace(event("ADDED", monitor("a")) + event("ADDED", monitor("b"))),
		"two in a line":        strings.ReplaceAll(event("ADDED", monitor("a"))+event("ADDED", monitor("b")), "\n", "") + "\n",
		"indented":             event("ADDED", monitor("a")) + pretty.String() + event("ADDED", monitor("b")),
		"large":                event("ADDED", monitor("a")) + event("ADDED", large) + event("ADDED", monitor("b")),
		"other order":          `{"object":` + monitor("a") + `,"type":"ADDED"}` + "\n" + event("ADDED", monitor("b")),
		"kind first":           event("ADDED", `{"kind":"ServiceMonitor","apiVersion":"monitoring.coreos.com/v1","metadata":{"name":"a"}}`),
		"unknown kind":         event("ADDED", `{"apiVersion":"monitoring.coreos.com/v1","kind":"Unheard","metadata":{"name":"a"}}`),
		"escaped kind":         event("ADDED", `{"apiVersion":"monitoring.coreos.com/v1","kind":"Service\u004donitor","metadata":{"name":"a"}}`),
		"unknown type":         event("INVENTED", monitor("a")),
		"cut off":              event("ADDED", monitor("a")) + event("ADDED", monitor("b"))[:60],
		"cut off at a brace":   event("ADDED", monitor("a")) + strings.TrimSpace(event("ADDED", monitor("b")))[:strings.Index(event("ADDED", monitor("b")), "}}")+2],
		"no JSON":              "hello\n",
	} {
		t.Run(name, func(t *testing.T) {
			want := events(t, usual, strings.NewReader(stream))
			if diff := cmp.Diff(want, events(t, ours, strings.NewReader(stream))); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(want, events(t, ours, trickle{strings.NewReader(stream)})); diff != "" {
				t.Errorf("in small pieces: %s", diff)
			}
		})
	}
}

// FuzzStream embeds any object in events of the expected format.
func FuzzStream(f *testing.F) {
	f.Add(`{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor","metadata":{"name":"a"},"spec":{}}`)
	f.Add(`{"apiVersion":"v1","kind":"Status","code":410}`)
	f.Add(`{"apiVersion":"monitoring.coreos.com/v1","kind":"Prometheus","spec":{"replicas":2}} `)
	usual, ours := decoders(f)
	f.Fuzz(func(t *testing.T, object string) {
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(object)) != nil {
			t.Skip("no JSON")
		}
		stream := strings.Repeat(`{"type":"ADDED","object":`+compact.String()+"}\n", 2)
		want := events(t, usual, strings.NewReader(stream))
		if slices.Contains(want, "error") {
			t.Skip("an object that does not fit, which ours take all the same")
		}
		if diff := cmp.Diff(want, events(t, ours, strings.NewReader(stream))); diff != "" {
			t.Errorf("%s: %s", stream, diff)
		}
	})
}

func BenchmarkStream(b *testing.B) {
	endpoint := `{"port":"http-metrics","interval":"30s","path":"/metrics","relabelings":[{"action":"replace","sourceLabels":["__meta_kubernetes_pod_node_name"],"targetLabel":"node"}]}`
	object := `{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor","metadata":{"name":"a","namespace":"b","labels":{"c":"d"}},"spec":{"selector":{},"endpoints":[` +
		strings.Repeat(endpoint+",", 4) + endpoint + `]}}`
	stream := []byte(strings.Repeat(`{"type":"ADDED","object":`+object+"}\n", 1000))
	usual, ours := decoders(b)
	for name, codecs := range map[string]runtime.NegotiatedSerializer{"usual": usual, "quick": ours} {
		b.Run(name, func(b *testing.B) {
			objects, serializer, framer, err := runtime.NewClientNegotiator(codecs, v1.SchemeGroupVersion).StreamDecoder(runtime.ContentTypeJSON, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				d := restwatch.NewDecoder(streaming.NewDecoder(framer.NewFrameReader(io.NopCloser(bytes.NewReader(stream))), serializer), objects)
				for range 1000 {
					if _, _, err := d.Decode(); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkList decodes a list in the format of API servers, where the kind follows the items.
func BenchmarkList(b *testing.B) {
	endpoint := `{"port":"http-metrics","interval":"30s","path":"/metrics","relabelings":[{"action":"replace","sourceLabels":["__meta_kubernetes_pod_node_name"],"targetLabel":"node"}]}`
	object := `{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor","metadata":{"name":"a","namespace":"b","labels":{"c":"d"}},"spec":{"selector":{},"endpoints":[` +
		strings.Repeat(endpoint+",", 4) + endpoint + `]}}`
	list := []byte(`{"apiVersion":"monitoring.coreos.com/v1","items":[` + strings.Repeat(object+",", 999) + object + `],"kind":"ServiceMonitorList","metadata":{"resourceVersion":"1"}}`)
	usual, ours := decoders(b)
	for name, codecs := range map[string]runtime.NegotiatedSerializer{"usual": usual, "quick": ours} {
		b.Run(name, func(b *testing.B) {
			decoder, err := runtime.NewClientNegotiator(codecs, v1.SchemeGroupVersion).Decoder(runtime.ContentTypeJSON, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(list)))
			b.ReportAllocs()
			for b.Loop() {
				obj, _, err := decoder.Decode(list, nil, nil)
				if err != nil || len(obj.(*v1.ServiceMonitorList).Items) != 1000 {
					b.Fatal(err)
				}
			}
		})
	}
}
