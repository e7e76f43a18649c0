package admission

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
)

var allPaths = []string{ValidateRulesPath, MutateRulesPath, ValidateAlertmanagerConfigsPath, ValidateObjectsPath, ConvertPath}

// Requests are served while many clients send only headers, or one byte, over TLS.
func TestSilentConnections(t *testing.T) {
	h := New(Options{Kinds: objectKinds})
	mux := http.NewServeMux()
	h.Register(mux)
	srv := httptest.NewTLSServer(mux)
	defer srv.Close()
	address := srv.Listener.Addr().String()
	const silent = 40
	for i := range silent {
		conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // of the test
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		header := "Content-Length: 1000\r\n\r\n"
		if i%2 == 1 {
			header = "Transfer-Encoding: chunked\r\n\r\n"
		}
		body := ""
		if i%4 > 1 {
			body = map[int]string{2: "{", 3: "1\r\n{\r\n"}[i%4]
		}
		if _, err := io.WriteString(conn, "POST "+allPaths[i%len(allPaths)]+" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+header+body); err != nil {
			t.Fatal(err)
		}
	}
	client := srv.Client()
	client.Timeout = 2 * time.Second
	for range 20 {
		for _, path := range allPaths {
			answer, err := client.Post(srv.URL+path, "application/json", strings.NewReader(`{"request":{"uid":"1","objects":[]}}`))
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			text, err := io.ReadAll(answer.Body)
			if answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
				t.Errorf("%s: %d %s %v", path, answer.StatusCode, text, err)
			}
		}
	}
}

// A body that is too slow gets an error response, and its connection is closed.
func TestSlowBodies(t *testing.T) {
	mux := http.NewServeMux()
	New(Options{}).Register(mux)
	srv := httptest.NewServer(mux)
	defer srv.Close()
	for body, longest := range map[string]time.Duration{"": wholeBody, "{": 2 * wholeBody} {
		began := time.Now()
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n%s", ConvertPath, body)
		in := bufio.NewReader(conn)
		answer, err := http.ReadResponse(in, nil)
		if err != nil || answer.StatusCode != http.StatusRequestTimeout || time.Since(began) > longest {
			t.Fatalf("%q: %v %v after %s", body, answer, err, time.Since(began))
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			t.Error(err)
		}
		if _, err := in.ReadByte(); err == nil {
			t.Error("the connection is still open")
		}
	}
}

// A large announced length does not reserve memory before the bytes arrive, and all memory is
// released.
func TestDrippingBodies(t *testing.T) {
	b := newBodies(256 << 20)
	r := httptest.NewRequest(http.MethodPost, "/", io.MultiReader(strings.NewReader(strings.Repeat("x", 1000)), iotest.ErrReader(io.ErrUnexpectedEOF)))
	r.Header.Set("Content-Type", "application/json")
	r.ContentLength = maxConversionBytes
	in := &partialBody{bodies: b, ctx: t.Context(), length: r.ContentLength, most: maxConversionBytes}
	if err := in.all(r.Body, func() {}); err == nil || cap(in.buf) > 8<<10 {
		t.Errorf("%v, holds %d bytes", err, cap(in.buf))
	}
	in.give()
	if _, err := b.read(httptest.NewRecorder(), r, maxConversionBytes); err == nil {
		t.Error("half a body was read")
	}
	for _, pool := range []interface{ Size() int64 }{b.small, b.large} {
		if pool.Size() == 0 {
			t.Error("no memory")
		}
	}
	for _, take := range []func() error{
		func() error { _, err := b.small.Take(t.Context(), b.small.Size(), 0); return err },
		func() error { _, err := b.large.Take(t.Context(), b.large.Size(), 0); return err },
	} {
		if err := take(); err != nil {
			t.Error(err)
		}
	}
}

// A request allocates a bounded multiple of its size, regardless of the size of the decoded
// values.
func TestHollowBodies(t *testing.T) {
	review := func(resource, version, object string) string {
		return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","namespace":"t","resource":{"group":"monitoring.coreos.com","version":"` +
			version + `","resource":"` + resource + `"},"object":` + object + `}}`
	}
	list := func(value string, bytes int) string {
		return "[" + strings.Repeat(value+",", bytes/(len(value)+1)) + value + "]"
	}
	rule := `{"apiVersion":"monitoring.coreos.com/v1","kind":"PrometheusRule","metadata":{"name":"b"},"spec":{"groups":[{"name":"g","rules":%s}]}}`
	monitor := `{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor","metadata":{"name":"b"},"spec":{"selector":{},"endpoints":%s}}`
	config := `{"apiVersion":"monitoring.coreos.com/v1alpha1","kind":"AlertmanagerConfig","metadata":{"name":"b"},"spec":{"receivers":%s}}`
	for name, tc := range map[string]struct {
		path, body string
		most       uint64 // upper bound of allocated bytes
	}{
		"objects of a conversion": {ConvertPath, `{"request":{"uid":"u","desiredAPIVersion":"x","objects":` + list("{}", 60<<20) + `}}`, 140 << 20},
		"rules":                   {ValidateRulesPath, review("prometheusrules", "v1", fmt.Sprintf(rule, list(`{"expr":0}`, 3<<19))), 20 << 20},
		"null rules":              {ValidateRulesPath, review("prometheusrules", "v1", fmt.Sprintf(rule, list(`null`, 1<<20))), 20 << 20},
		"rules, mutated":          {MutateRulesPath, review("prometheusrules", "v1", fmt.Sprintf(rule, list(`{}`, 1<<20))), 20 << 20},
		"endpoints":               {ValidateObjectsPath, review("servicemonitors", "v1", fmt.Sprintf(monitor, list("{}", 300_000))), 20 << 20},
		"endpoints, another case": {ValidateObjectsPath, review("servicemonitors", "v1", strings.Replace(fmt.Sprintf(monitor, list("{}", 30_000)), `"endpoints"`, `"Endpoints"`, 1)), 20 << 20},
		"receivers":               {ValidateAlertmanagerConfigsPath, review("alertmanagerconfigs", "v1alpha1", fmt.Sprintf(config, list("{}", 1<<20))), 20 << 20},
		"spec twice":              {ValidateRulesPath, review("prometheusrules", "v1", strings.Replace(fmt.Sprintf(rule, list("{}", 1<<20)), `"spec"`, `"spec":{},"spec":{},"spec"`, 1)), 20 << 20},
		"owners":                  {ValidateRulesPath, review("prometheusrules", "v1", `{"metadata":{"ownerReferences":`+list("{}", 1<<20)+`},"spec":{}}`), 20 << 20},
		"managed fields":          {ValidateRulesPath, review("prometheusrules", "v1", `{"metadata":{"managedFields":`+list("{}", 1<<20)+`},"spec":{}}`), 20 << 20},
		"groups of the user":      {ValidateRulesPath, `{"request":{"uid":"1","userInfo":{"groups":` + list(`""`, 15<<20) + `}}}`, 100 << 20},
		"kinds of the request":    {ValidateRulesPath, `{"request":{"uid":"1","userInfo":{"extra":{"a":` + list(`null`, 15<<20) + `}}}}`, 100 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			h := New(Options{Kinds: objectKinds})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			w := post(t, h, tc.path, bytes.NewBufferString(tc.body))
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > tc.most {
				t.Errorf("allocated %d MiB for %d KiB", got>>20, len(tc.body)>>10)
			}
			var out admissionv1.AdmissionReview
			if w.Code == http.StatusOK && (json.Unmarshal(w.Body.Bytes(), &out) != nil || out.Response.Allowed) || w.Code >= 500 || w.Body.Len() > 10_000 {
				t.Errorf("%d %.300s", w.Code, w.Body)
			}
		})
	}
}

// An object that is too large to be checked can be deleted.
func TestLargeObjectsLeave(t *testing.T) {
	endpoints := strings.Repeat("{},", 50_000) + "{}"
	spec := `"spec":{"selector":{},"endpoints":[` + endpoints + `]}`
	gone := []byte(`{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor","metadata":{"name":"b","namespace":"demo","deletionTimestamp":"2026-01-01T00:00:00Z"},` + spec + `}`)
	stored := []byte(strings.Replace(string(gone), `,"deletionTimestamp":"2026-01-01T00:00:00Z"`, "", 1))
	h := New(Options{Kinds: objectKinds})
	for name, change := range map[string]func(*admissionv1.AdmissionRequest){
		"deleted":       func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Delete },
		"being deleted": func(r *admissionv1.AdmissionRequest) { r.Operation, r.Object.Raw = admissionv1.Update, gone },
		"labels":        func(r *admissionv1.AdmissionRequest) { r.Operation, r.OldObject.Raw = admissionv1.Update, stored },
	} {
		r := request(stored, "servicemonitors v1")
		change(r)
		if out := ask(t, h, ValidateObjectsPath, r); !out.Allowed {
			t.Errorf("%s: %v", name, out.Result)
		}
	}
	if out := ask(t, h, ValidateObjectsPath, request(stored, "servicemonitors v1")); out.Allowed || !strings.Contains(causes(t, out), "spec.endpoints: has more than 2500 elements") {
		t.Errorf("%v", out.Result)
	}
}
