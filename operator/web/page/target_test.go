package page_test

import (
	"strings"
	"testing"
)

// TestManifestOfATarget: a manifest may contain credentials that its author wrote into it, so the
// page and its twin only show it on request.
func TestManifestOfATarget(t *testing.T) {
	srv := serve(t, &fake{n: 3})
	for _, path := range []string{
		"/prometheuses/monitoring/k8s/target?id=0000000000000001&job=serviceMonitor%2Fdemo%2Fweb%2F0",
		"/prometheuses/monitoring/k8s/target.json?id=0000000000000001&job=serviceMonitor%2Fdemo%2Fweb%2F0",
	} {
		for edit, shown := range map[string]bool{"": false, "&edit=": false, "&edit=1": true} {
			resp, body := get(t, srv, path+edit)
			if has := strings.Contains(body, "kind: ServiceMonitor"); resp.StatusCode != 200 || has != shown {
				t.Errorf("%s%s: %s, manifest: %t", path, edit, resp.Status, has)
			}
		}
	}
}
