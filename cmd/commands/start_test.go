package commands

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

// With an explicit kubeconfig, an unusable home folder is ignored.
func TestKubeconfigNeedsNoHome(t *testing.T) {
	home := clientcmd.RecommendedHomeFile
	t.Cleanup(func() { clientcmd.RecommendedHomeFile = home })
	clientcmd.RecommendedHomeFile = os.DevNull + "/.kube/config"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(`apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://example.org"}}]
users: [{name: u, user: {token: t}}]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := (&connection{Kubeconfig: path}).restConfig()
	if err != nil || cfg.Host != "https://example.org" {
		t.Errorf("restConfig = %+v, %v", cfg, err)
	}
}

// If the API server fails, the operator retries to start, reports in its metrics that no controller is ready, and ends
// without an error when it is stopped.
func TestStartWithoutAnAPIServer(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "starting", http.StatusServiceUnavailable)
	}))
	defer api.Close()
	t.Setenv("KUBECONFIG", "")
	o := parsed(t, "--apiserver="+api.URL, "--web.listen-address=127.0.0.1:0")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	read, write := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := o.start(ctx, write)
		write.CloseWithError(err)
		ended <- err
	}()
	line, address := bufio.NewScanner(read), ""
	next := func(pattern string) string {
		for text := regexp.MustCompile(pattern); line.Scan(); {
			if found := text.FindStringSubmatch(line.Text()); found != nil {
				return found[len(found)-1]
			}
		}
		t.Fatalf("no line like %s: %v", pattern, line.Err())
		return ""
	}
	address = next(`msg="Listening on" address=(\S+)`)
	next("the API server does not answer, retrying")
	go func() { _, _ = io.Copy(io.Discard, read) }()
	get := func(path string) (int, string) {
		response, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	if code, _ := get("/healthz"); code != http.StatusOK {
		t.Errorf("/healthz: %d, a restart would not help", code)
	}
	_, metrics := get("/metrics")
	var waiting []string
	for _, found := range regexp.MustCompile(`prometheus_operator_ready{controller="(.*)"} 0`).FindAllStringSubmatch(metrics, -1) {
		waiting = append(waiting, found[1])
	}
	if !slices.Equal(waiting, []string{"alertmanager", "prometheus", "prometheus-agent", "thanos"}) {
		t.Errorf("not ready: %q", waiting)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
