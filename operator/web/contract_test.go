package web

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
)

// contract returns the OpenAPI document of a server.
func contract(t *testing.T, base string) routers.Router {
	t.Helper()
	resp, err := http.Get(base + "/openapi/v3")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%s %v", resp.Status, err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, schema := range doc.Components.Schemas { // unknown fields fail the test
		schema.Value.AdditionalProperties = openapi3.AdditionalProperties{Has: new(false)}
	}
	doc.Servers = openapi3.Servers{{URL: base}}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return router
}

// checkContract sends a request and compares the response with the contract.
func checkContract(t *testing.T, router routers.Router, method, url, body string, code int, headers ...string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	route, params, err := router.FindRoute(r)
	if err != nil {
		t.Errorf("%s %s: %v", method, url, err)
		return
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != code {
		text, _ := io.ReadAll(resp.Body)
		t.Errorf("%s %s: %s, want %d\n%s", method, url, resp.Status, code, text)
		return
	}
	err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, Route: route, PathParams: params},
		Status:                 resp.StatusCode, Header: resp.Header, Body: resp.Body,
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	if err != nil {
		t.Errorf("%s %s: %v", method, url, err)
	}
}

const monitor = `{"apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor", "metadata": {"namespace": "demo", "name": "web"}}`

// TestContract: all responses and errors conform to the OpenAPI document.
func TestContract(t *testing.T) {
	k := newFake()
	srv := serve(t, New(Options{Mode: Open}), k)
	router := contract(t, srv.URL)
	for _, tc := range asking {
		checkContract(t, router, "GET", srv.URL+tc.path, "", 200)
	}
	checkContract(t, router, "GET", srv.URL+mainStatus, "", 200)
	checkContract(t, router, "GET", srv.URL+strings.Replace(mainStatus, "main", "none", 1), "", 404)
	checkContract(t, router, "GET", srv.URL+prometheusPath+"/targets?limit=x", "", 400)
	checkContract(t, router, "POST", srv.URL+"/api/v1/preview", monitor, 200)
	checkContract(t, router, "POST", srv.URL+"/api/v1/preview", long(longestBody+1), 413)
	checkContract(t, router, "GET", srv.URL+"/openapi/v3", "", 200)
	k.err = io.ErrUnexpectedEOF
	checkContract(t, router, "GET", srv.URL+serviceMonitorPath+"/explain", "", 500)
	locked := serve(t, New(Options{Mode: Authenticated}), newFake())
	checkContract(t, contract(t, locked.URL), "GET", locked.URL+mainStatus, "", 503)
	api := newAPIServer(t)
	h := New(Options{Mode: Authenticated})
	connect(t, h, api)
	asked := serve(t, h, newFake())
	router = contract(t, asked.URL)
	checkContract(t, router, "GET", asked.URL+mainStatus, "", 401)
	checkContract(t, router, "GET", asked.URL+mainStatus, "", 403, "Authorization", "Bearer nobody")
}
