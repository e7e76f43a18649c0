package client

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Large lists are read over HTTP/1.1 from an API server that also has HTTP/2, which other clients use.
func TestBulk(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"gitVersion": %q}`, r.Proto)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	cfg := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	for want, c := range map[string]*rest.Config{"HTTP/2.0": cfg, "HTTP/1.1": Bulk(cfg)} {
		kube, err := kubernetes.NewForConfig(c)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := kube.Discovery().ServerVersion(); err != nil || got.GitVersion != want {
			t.Errorf("got %v, %v, want %s", got, err, want)
		}
	}
}
