package targets

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/operator/promconfig"
)

// Servers of major version 2 add the port of the scheme, after relabeling and before the
// label instance has its default.
func TestDefaultPort(t *testing.T) {
	const job = `- {job_name: a, scheme: SCHEME, static_configs: [{targets: ["host", "host:8080", "[::1]", "[::1]:9"]}], relabel_configs: [{source_labels: [__address__], target_label: before}]}`
	for name, tc := range map[string]struct {
		doc    Document
		scheme string
		want   []string
	}{
		"version 3":        {Document{}, "http", []string{"http://host/metrics host host", "http://host:8080/metrics host:8080 host:8080", "http://[::1]/metrics [::1] [::1]", "http://[::1]:9/metrics [::1]:9 [::1]:9"}},
		"version 2":        {Document{Legacy: true}, "http", []string{"http://host:80/metrics host:80 host", "http://host:8080/metrics host:8080 host:8080", "http://[::1]:80/metrics [::1]:80 [::1]", "http://[::1]:9/metrics [::1]:9 [::1]:9"}},
		"version 2, https": {Document{Legacy: true}, "https", []string{"https://host:443/metrics host:443 host", "https://host:8080/metrics host:8080 host:8080", "https://[::1]:443/metrics [::1]:443 [::1]", "https://[::1]:9/metrics [::1]:9 [::1]:9"}},
		"the feature":      {Document{Legacy: true, NoDefaultPort: true}, "http", []string{"http://host/metrics host host", "http://host:8080/metrics host:8080 host:8080", "http://[::1]/metrics [::1] [::1]", "http://[::1]:9/metrics [::1]:9 [::1]:9"}},
	} {
		t.Run(name, func(t *testing.T) {
			doc := tc.doc
			doc.Text, doc.Origins = []byte(strings.ReplaceAll(job, "SCHEME", tc.scheme)), [][]promconfig.Origin{make([]promconfig.Origin, 1)}
			doc.Shards = []map[string]string{{"SHARD": "0"}, {"SHARD": "1"}}
			jobs, err := doc.Jobs()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, target := range jobs[0].Evaluate(Found{}).Targets() {
				got = append(got, target.URL+" "+target.Labels["instance"]+" "+target.Labels["before"])
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
