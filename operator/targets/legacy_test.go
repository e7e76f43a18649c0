package targets

import (
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
)

// Servers of major version 2 add or remove the default port of the scheme after relabeling. The
// label instance has the port in both cases.
func TestDefaultPort(t *testing.T) {
	const job = `- {job_name: a, scheme: SCHEME, static_configs: [{targets: ["host", "host:8080", "host:80", "host:443", "[::1]", "[::1]:80", "[::1]:9"]}], relabel_configs: [{source_labels: [__address__], target_label: before}]}`
	old := semver.MustParse("2.55.1")
	for name, tc := range map[string]struct {
		doc    promconfig.JobText
		scheme string
		want   []string // URL, instance, address in relabeling
	}{
		"version 3": {promconfig.JobText{}, "http", []string{"host host host", "host:8080 host:8080 host:8080", "host:80 host:80 host:80", "host:443 host:443 host:443",
			"[::1] [::1] [::1]", "[::1]:80 [::1]:80 [::1]:80", "[::1]:9 [::1]:9 [::1]:9"}},
		"version 2": {promconfig.JobText{Release: old}, "http", []string{"host:80 host:80 host", "host:8080 host:8080 host:8080", "host:80 host:80 host:80", "host:443 host:443 host:443",
			"[::1]:80 [::1]:80 [::1]", "[::1]:80 [::1]:80 [::1]:80", "[::1]:9 [::1]:9 [::1]:9"}},
		"version 2, https": {promconfig.JobText{Release: old}, "https", []string{"host:443 host:443 host", "host:8080 host:8080 host:8080", "host:80 host:80 host:80", "host:443 host:443 host:443",
			"[::1]:443 [::1]:443 [::1]", "[::1]:80 [::1]:80 [::1]:80", "[::1]:9 [::1]:9 [::1]:9"}},
		"the feature": {promconfig.JobText{Release: old, NoDefaultPort: true}, "http", []string{"host host host", "host:8080 host:8080 host:8080", "host host:80 host:80",
			"host:443 host:443 host:443", "[::1] [::1] [::1]", "::1 [::1]:80 [::1]:80", "[::1]:9 [::1]:9 [::1]:9"}},
	} {
		t.Run(name, func(t *testing.T) {
			doc := tc.doc
			doc.Text, doc.Origins = []byte(strings.ReplaceAll(job, "SCHEME", tc.scheme)), [][]promconfig.Origin{make([]promconfig.Origin, 1)}
			doc.Shards = []map[string]string{{"SHARD": "0"}, {"SHARD": "1"}}
			jobs, err := ReadJobs(doc)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, target := range jobs[0].Evaluate(Found{}).Targets() {
				host := strings.TrimSuffix(strings.TrimPrefix(target.URL, tc.scheme+"://"), "/metrics")
				got = append(got, host+" "+target.Labels["instance"]+" "+target.Labels["before"])
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// In major version 2 the dot of an expression does not match line breaks, and parameters of the job
// override labels. Expressions are shown as they were written.
func TestLegacyRelabeling(t *testing.T) {
	const text = `- {job_name: a, params: {q: [job]}, static_configs: [{targets: ["a:1"], labels: {note: "two\nlines", __param_q: label}}],
  relabel_configs: [{source_labels: [note], target_label: copy}, {source_labels: [__param_q], target_label: q}, {source_labels: [note], regex: "two.*", action: drop}, {source_labels: [note], regex: "x", action: keep}]}`
	for version, want := range map[string]string{"2.55.1": "x 4", "3.0.0": "two.* 3"} {
		jobs, err := ReadJobs(promconfig.JobText{Text: []byte(text), Origins: [][]promconfig.Origin{make([]promconfig.Origin, 4)}, Release: semver.MustParse(version)})
		if err != nil {
			t.Fatal(err)
		}
		d := jobs[0].Evaluate(Found{}).Rows[0].Drop
		if got := d.Rule.Regex + " " + string(rune('0'+d.Step)); got != want {
			t.Errorf("%s: dropped by %s, want %s", version, got, want)
		}
	}
	kept := strings.Replace(text[:strings.Index(text, ", {source_labels: [note], regex")], "lines", "", 1) + "]}"
	for version, want := range map[string][2]string{"2.55.1": {"", "job"}, "3.0.0": {"two\n", "label"}} {
		jobs, err := ReadJobs(promconfig.JobText{Text: []byte(kept), Origins: [][]promconfig.Origin{make([]promconfig.Origin, 2)}, Release: semver.MustParse(version)})
		if err != nil {
			t.Fatal(err)
		}
		labels := jobs[0].Evaluate(Found{}).Target(0).Labels
		if got := [2]string{labels["copy"], labels["q"]}; got != want {
			t.Errorf("%s: %q, want %q", version, got, want)
		}
	}
}

// In major version 2 a scheme without a default port requires one in the address.
func TestLegacyScheme(t *testing.T) {
	const text = `- {job_name: a, static_configs: [{targets: ["a:1", "a"]}], relabel_configs: [{target_label: __scheme__, replacement: other}]}`
	for _, tc := range []struct {
		doc  promconfig.JobText
		want string
	}{
		{promconfig.JobText{Release: semver.MustParse("2.55.1")}, `kept other://a:1/metrics; invalid other://a/metrics invalid scheme: "other"; `},
		{promconfig.JobText{Release: semver.MustParse("2.55.1"), NoDefaultPort: true}, "kept other://a:1/metrics; kept other://a/metrics; "},
		{promconfig.JobText{}, "kept other://a:1/metrics; kept other://a/metrics; "},
	} {
		tc.doc.Text, tc.doc.Origins = []byte(text), [][]promconfig.Origin{make([]promconfig.Origin, 1)}
		jobs, err := ReadJobs(tc.doc)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, target := range jobs[0].Evaluate(Found{}).Targets() {
			got += strings.TrimSpace(string(target.State)+" "+target.URL+" "+target.Message) + "; "
			if (target.Labels != nil) != (target.State == Kept) {
				t.Errorf("labels %v", target.Labels)
			}
		}
		if got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}
