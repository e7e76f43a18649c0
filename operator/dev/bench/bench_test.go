package main

import (
	"strings"
	"testing"
	"time"
)

func TestParseSize(t *testing.T) {
	for _, tc := range []struct{ kind, text, want string }{
		{"prometheus", "300/100x50", ""},
		{"prometheus", " 1000/200", ""},
		{"alertmanager", "2000", ""},
		{"alertmanager", "20x5", ""},
		{"prometheus", "300", `"300" is not of the form 100/100 or 100/100x50`},
		{"alertmanager", "300/100", `"300/100" is not of the form 100 or 100x50`},
		{"alertmanager", "", `"" is not a positive number`},
		{"alertmanager", "20x", `"" is not a positive number`},
		{"alertmanager", "20x0", `"0" is not a positive number`},
		{"prometheus", "-1/5", `"-1" is not a positive number`},
	} {
		got, err := subjects[tc.kind].parseSize(tc.text)
		switch {
		case tc.want != "" && (err == nil || err.Error() != tc.want):
			t.Errorf("%s %q: error %v", tc.kind, tc.text, err)
		case tc.want == "" && (err != nil || got.String() != strings.TrimSpace(tc.text)):
			t.Errorf("%s %q: %s, %v", tc.kind, tc.text, got, err)
		}
	}
}

// The default sizes are valid, and objects are created with the names that changes use.
func TestSubjects(t *testing.T) {
	for name, s := range subjects {
		for text := range strings.SplitSeq(s.sizes, ",") {
			if _, err := s.parseSize(text); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		check := func(r resource) {
			if obj := r.object(7); obj.GetName() != r.name(7) || obj.GetNamespace() != "" {
				t.Errorf("%s: %s is %+v", name, r.Resource, obj)
			}
		}
		check(s.owners)
		for _, kind := range s.selected {
			check(kind.resource)
			one, eleven := kind.mark.of(1), kind.mark.of(11)
			if strings.Contains(eleven, one) || strings.Contains(one, eleven) {
				t.Errorf("%s: mark %q of a change is a part of that of another", name, one)
			}
			if patch := string(kind.patch(one)); !strings.Contains(patch, one) {
				t.Errorf("%s: mark %q is not in the patch %s", name, one, patch)
			}
		}
	}
}

func TestOwnerOf(t *testing.T) {
	for secret, want := range map[string]struct {
		kind, owner string
		part, ok    bool
	}{
		"prometheus-main-01":                  {"prometheus", "main-01", false, true},
		"prometheus-main-01-config-part-3":    {"prometheus", "main-01", true, true},
		"alertmanager-main-01-generated":      {"alertmanager", "main-01", false, true},
		"alertmanager-main-01-config-part-12": {"alertmanager", "main-01", true, true},
		"alertmanager-main-01-web-config":     {"alertmanager", "", false, false},
		"thanos-ruler-main":                   {"alertmanager", "", false, false},
	} {
		owner, part, ok := subjects[want.kind].ownerOf(secret)
		if ok != want.ok || ok && (owner != want.owner || part != want.part) {
			t.Errorf("%s: %q, %t, %t", secret, owner, part, ok)
		}
	}
}

func TestTable(t *testing.T) {
	s := subjects["alertmanager"]
	r := result{size: size{subject: s, counts: []int{200}, owners: 2}, settle: time.Second}
	r.changed = []changes{{took: []time.Duration{10 * time.Millisecond, 30 * time.Millisecond}, spent: usage{cpu: 8 * time.Millisecond, calls: 3}}}
	r.end = usage{rss: 50_000_000, top: 60_000_000}
	const want = `| AlertmanagerConfigs / Alertmanager objects | settled after start | one AlertmanagerConfig, p50 / p95 / p99 | CPU each | memory / at most | calls for one AlertmanagerConfig / idle |
| --- | --- | --- | --- | --- | --- |
| 200 / 2 | 1000 ms, CPU 0 ms | 10 ms / 30 ms / 30 ms | 4 ms | 50 MB / 60 MB | 1.5 / 0 |
`
	if got := s.table([]result{r}); got != want {
		t.Errorf("table:\n%s", got)
	}
}
