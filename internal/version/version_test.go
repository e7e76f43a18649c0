package version_test

import (
	"regexp"
	"runtime"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firekeeper-dev/firekeeper/internal/version"
)

func TestPrint(t *testing.T) {
	want := regexp.MustCompile(`^prog, version 0\.0\.0-dev \(branch: , revision: \S+\)\n` +
		`  project: +Firekeeper\n  build user:\s+\n  build date:\s+\n  go version:\s+` + regexp.QuoteMeta(runtime.Version()) +
		`\n  platform:\s+\w+/\w+\n  tags:\s+\S+$`)
	if got := version.Print("prog"); !want.MatchString(got) {
		t.Errorf("Print = %q, want %s", got, want)
	}
}

func TestOneLiners(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{version.Info(), `^\(version=0\.0\.0-dev, branch=, revision=\S+\)$`},
		{version.Context(), `^\(go=\S+, platform=\w+/\w+, user=, date=, tags=\S+\)$`},
	} {
		if !regexp.MustCompile(c.want).MatchString(c.got) {
			t.Errorf("%q does not match %s", c.got, c.want)
		}
	}
}

func TestCollector(t *testing.T) {
	reg := prometheus.NewRegistry()
	reg.MustRegister(version.NewCollector("some_program"))
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if len(families) != 1 || families[0].GetName() != "some_program_build_info" {
		t.Fatalf("families %v", families)
	}
	labels := map[string]string{}
	for _, l := range families[0].GetMetric()[0].GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	for _, name := range []string{"branch", "goarch", "goos", "goversion", "revision", "tags", "version"} {
		if _, ok := labels[name]; !ok {
			t.Errorf("label %s is missing in %v", name, labels)
		}
	}
	if len(labels) != 7 || labels["goversion"] != runtime.Version() {
		t.Errorf("labels %v", labels)
	}
}
