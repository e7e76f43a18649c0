package client

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// refusing returns a client of an API server that rejects all requests with a message.
func refusing(t *testing.T, contentType string, code int, message string) (kubernetes.Interface, *int) {
	t.Helper()
	status := &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Message: message, Reason: metav1.StatusReasonInvalid, Code: int32(code),
	}
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), contentType)
	if !ok {
		t.Fatal(contentType)
	}
	text, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, metav1.Unversioned), status)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = w.Write(text)
	}))
	t.Cleanup(server.Close)
	cfg := &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: contentType, AcceptContentTypes: contentType}}
	read := 0
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return counting{Bounded(next), &read}
	})
	out, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return out, &read
}

type counting struct {
	next http.RoundTripper
	read *int
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.next.RoundTrip(r)
	if err == nil {
		text, _ := io.ReadAll(answer.Body)
		*c.read = len(text)
		answer.Body = body{strings.NewReader(string(text)), answer.Body}
	}
	return answer, err
}

// At most 64 KiB are read of a response that quotes user input, and the error still has the
// meaning of the response.
func TestRefusalsAreBounded(t *testing.T) {
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		for name, tc := range map[string]struct {
			code    int
			message string
			is      func(error) bool
		}{
			"short":    {http.StatusUnprocessableEntity, `StatefulSet.apps "a" is invalid: spec.x: "é\u2028"`, apierrors.IsInvalid},
			"long":     {http.StatusUnprocessableEntity, `StatefulSet.apps "a" is invalid: ` + strings.Repeat("\U0001F600\n\"", 8<<20), apierrors.IsInvalid},
			"conflict": {http.StatusConflict, "object has been modified" + strings.Repeat("x", 1<<20), apierrors.IsConflict},
			"denied":   {http.StatusForbidden, "a webhook says " + strings.Repeat("x\x00", 1<<20), apierrors.IsForbidden},
		} {
			kube, read := refusing(t, contentType, tc.code, tc.message)
			_, err := kube.AppsV1().StatefulSets("ns").Create(t.Context(), &appsv1.StatefulSet{}, metav1.CreateOptions{})
			if !tc.is(err) {
				t.Errorf("%s in %s: %.200v", name, contentType, err)
				continue
			}
			text, want := err.Error(), tc.message[:min(len(tc.message), 24)]
			if !strings.HasPrefix(text, want) || len(text) > len(want)+refusalText || *read > refusalBytes {
				t.Errorf("%s in %s: %d bytes of %d: %.200q", name, contentType, len(text), *read, text)
			}
			if name == "short" && text != tc.message {
				t.Errorf("%s in %s: %q", name, contentType, text)
			}
		}
	}
}

// A message can be read wherever it is truncated.
func TestMessageIn(t *testing.T) {
	text, err := json.Marshal(metav1.Status{Message: strings.Repeat("a\\\U0001F600\u2028\"", 4000)})
	if err != nil {
		t.Fatal(err)
	}
	for pad := range 40 {
		if got := messageIn([]byte(strings.Replace(string(text), `"message":"`, `"message":"`+strings.Repeat("p", pad), 1))); len(got) < refusalText/4 || !strings.HasPrefix(got, strings.Repeat("p", pad)+"a\\") {
			t.Errorf("after %d: %.100q", pad, got)
		}
	}
	for _, odd := range []string{"", "{", `{"message":"`, `{"message":"\`, strings.Repeat("\xff", 100)} {
		_ = messageIn([]byte(odd))
	}
}
