package admission

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// post posts a body to a path of a handler.
func post(t *testing.T, h *Handler, path string, body io.Reader, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	mux := http.NewServeMux()
	h.Register(mux)
	r := httptest.NewRequest(http.MethodPost, path, body)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}

// toJSON converts a manifest to the JSON that an API server sends.
func toJSON(t testing.TB, manifest string) []byte {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// request returns a request for an object of our API group. about is "RESOURCE VERSION".
func request(raw []byte, about string) *admissionv1.AdmissionRequest {
	resource, version, _ := strings.Cut(about, " ")
	return &admissionv1.AdmissionRequest{
		UID: "4711", Operation: admissionv1.Create, Namespace: "demo", Name: "a",
		Resource: metav1.GroupVersionResource{Group: "monitoring.coreos.com", Version: version, Resource: resource},
		Object:   runtime.RawExtension{Raw: raw},
	}
}

// ask sends an AdmissionReview and returns the response in it.
func ask(t testing.TB, h *Handler, path string, r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	t.Helper()
	const version = "admission.k8s.io/v1"
	body, err := json.Marshal(admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "AdmissionReview"}, Request: r})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	h.Register(mux)
	hr := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
	hr.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, hr)
	var out admissionv1.AdmissionReview
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %v: %s", w.Code, err, w.Body)
	}
	if out.APIVersion != version || out.Kind != "AdmissionReview" || out.Response == nil || out.Response.UID != r.UID || out.Request != nil {
		t.Fatalf("answer %s", w.Body)
	}
	return out.Response
}

// causes returns the causes of a rejection, one per line, or "" if the object is allowed.
func causes(t testing.TB, r *admissionv1.AdmissionResponse) string {
	t.Helper()
	if r.Allowed {
		if r.Result != nil || len(r.Warnings) > 0 {
			t.Errorf("more than allowed: %+v", r)
		}
		return ""
	}
	s := r.Result
	if s.Status != "Failure" || s.Reason != metav1.StatusReasonInvalid || s.Code != 422 || s.Details == nil {
		t.Errorf("refused with %+v", s)
	}
	var out []string
	for _, c := range s.Details.Causes {
		out = append(out, strings.TrimPrefix(c.Field+": "+c.Message, ": "))
	}
	if len(out) == 0 || !strings.Contains(s.Message, out[0]) {
		t.Errorf("message %q does not have the first of %q", s.Message, out)
	}
	return strings.Join(out, "\n")
}

var admissionPaths = []string{ValidateRulesPath, MutateRulesPath, ValidateAlertmanagerConfigsPath}

func TestBodies(t *testing.T) {
	const review = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1"}}`
	long := strings.Repeat("x", maxConversionBytes+1)
	for name, tc := range map[string]struct {
		body   io.Reader
		header []string
		code   int
	}{
		"empty":             {strings.NewReader(""), nil, 400},
		"broken connection": {io.MultiReader(strings.NewReader("{"), brokenReader{}), nil, 400},
		"form":              {strings.NewReader(review), []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		"gzip":              {strings.NewReader(review), []string{"Content-Encoding", "gzip"}, 415},
		"charset":           {strings.NewReader(review), []string{"Content-Type", "application/json; charset=utf-8"}, 415},
		"too long":          {strings.NewReader(long), nil, 413},
		"too long, chunked": {io.MultiReader(strings.NewReader(long)), nil, 413},
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range append([]string{ConvertPath}, admissionPaths[:1]...) {
				w := post(t, New(Options{}), path, tc.body, tc.header...)
				if w.Code != tc.code {
					t.Errorf("%s: %d %s, want %d", path, w.Code, w.Body, tc.code)
				}
				if s, ok := tc.body.(io.Seeker); ok {
					if _, err := s.Seek(0, io.SeekStart); err != nil {
						t.Fatal(err)
					}
				} else {
					return // already read
				}
			}
		})
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

// Undecodable reviews are rejected, not dropped.
func TestUndecodableReviews(t *testing.T) {
	for body, want := range map[string]string{
		"{":              "unexpected end of JSON input",
		"[]":             "cannot unmarshal array",
		`{"request": 1}`: "cannot unmarshal number",
		`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`: "request: must be set",
		strings.Repeat("[", 100_000):                                    "exceeded max depth",
	} {
		for _, path := range admissionPaths {
			w := post(t, New(Options{}), path, strings.NewReader(body))
			var out admissionv1.AdmissionReview
			if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != 200 || w.Header().Get("Content-Type") != "application/json" {
				t.Fatalf("%s: %d %s %v", path, w.Code, w.Body, err)
			}
			if out.Kind != "AdmissionReview" || out.Response.UID != "" || !strings.Contains(causes(t, out.Response), want) {
				t.Errorf("%.40s: %s", body, w.Body)
			}
		}
	}
}

// The response has the version and kind of the request.
func TestEcho(t *testing.T) {
	for _, version := range []string{"admission.k8s.io/v1", "admission.k8s.io/v1beta1"} {
		body := fmt.Sprintf(`{"apiVersion":%q,"kind":"AdmissionReview","request":{"uid":"u1"}}`, version)
		for _, path := range admissionPaths {
			w := post(t, New(Options{}), path, strings.NewReader(body))
			if !strings.Contains(w.Body.String(), version+`"`) || !strings.Contains(w.Body.String(), `"uid":"u1"`) {
				t.Errorf("%s: %s", path, w.Body)
			}
		}
	}
}

// A panic results in status 500, for which the failure policy applies, and the next
// request is served as usual.
func TestPanics(t *testing.T) {
	var log bytes.Buffer
	h := New(Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	broken := h.review(func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse { panic("a fault") })
	for range 2 * h.slots.Size() { // no slot is leaked
		r := httptest.NewRequest(http.MethodPost, "/x", strings.NewReader(`{"request":{"uid":"1"}}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		broken.ServeHTTP(w, r)
		if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "a fault") {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	for _, want := range []string{"a fault", "handler_test.go", "component=admissionwebhook"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in the log: %s", want, &log)
		}
	}
}

// A canceled request does not wait for a slot.
func TestSlots(t *testing.T) {
	h := New(Options{})
	all, err := h.slots.Take(t.Context(), h.slots.Size(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer all()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	called := false
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x")).WithContext(ctx)
	r.Header.Set("Content-Type", "application/json")
	h.answer(1, reviewWeight, func([]byte) (int, any) { called = true; return 200, nil }).ServeHTTP(w, r)
	if called || w.Body.Len() > 0 {
		t.Error("the request was decided")
	}
}

// A request that gets no slot fails in time, with a Retry-After header.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{})
		all, err := h.slots.Take(t.Context(), h.slots.Size(), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer all()
		began := time.Now()
		w := post(t, h, ValidateRulesPath, strings.NewReader(`{"request":{}}`))
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || time.Since(began) != busyWait {
			t.Errorf("%d %v %s after %s", w.Code, w.Header(), w.Body, time.Since(began))
		}
	})
}
