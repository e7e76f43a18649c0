package templatecost

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	alertmanager "github.com/prometheus/alertmanager/template"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// Templates as people write them, for Slack, mail and others.
var usual = map[string]string{
	"no template":  "Something is wrong",
	"title":        `[{{ .Status | toUpper }}{{ if eq .Status "firing" }}:{{ .Alerts.Firing | len }}{{ end }}] {{ .CommonLabels.alertname }}`,
	"default":      `{{ template "slack.default.title" . }}{{ template "email.default.html" . }}`,
	"each alert":   `{{ range .Alerts }}*{{ .Annotations.summary }}* {{ .Annotations.description }} <{{ .GeneratorURL }}|source> since {{ .StartsAt.Format "2006-01-02 15:04:05" }}{{ "\n" }}{{ end }}`,
	"all labels":   `{{ range .Alerts.Firing }}{{ range .Labels.SortedPairs }} • *{{ .Name }}:* ` + "`{{ .Value }}`" + `{{ end }}{{ range .Annotations.SortedPairs }}{{ .Name }}={{ .Value }}{{ end }}{{ end }}{{ range .Alerts.Resolved }}{{ range .Labels.SortedPairs }}{{ .Name }}={{ .Value }}{{ end }}{{ range .Annotations.SortedPairs }}{{ .Name }}={{ .Value }}{{ end }}{{ end }}`,
	"long":         `{{ range .Alerts }}` + strings.Repeat("<td style='color: red'>", 2_000) + `{{ end }}`,
	"numbered":     `{{ range $i, $a := .Alerts }}{{ $i }} of {{ len $.Alerts.Firing }}: {{ $a.Labels.instance }}{{ end }}`,
	"root":         `{{ range .Alerts }}{{ $.CommonLabels.alertname }} {{ template "__alertmanagerURL" $ }} {{ template "owner.severity" $ }}{{ end }}`,
	"other labels": `{{ range .Alerts }}{{ with .Labels.Remove $.CommonLabels.Names }}{{ .Values | join ", " }}{{ end }}{{ end }}`,
	"common":       `{{ range .CommonLabels.SortedPairs }}{{ if ne .Name "alertname" }}{{ .Name }}={{ .Value }}&of={{ $.CommonLabels.alertname }}{{ end }}{{ end }}`,
	"first":        `{{ $first := true }}{{ range .Alerts }}{{ if $first }}{{ $first = false }}{{ else }}, {{ end }}{{ .Labels.pod }}{{ end }}`,
	"collected":    `{{ $list := list }}{{ range .Alerts }}{{ $list = append $list .Labels.pod }}{{ end }}{{ $list | toJson }}`,
	"concatenated": `{{ $all := "" }}{{ range .Alerts }}{{ $all = printf "%s, %s" $all .Labels.pod }}{{ end }}{{ $all }}`,
	"printed":      `{{ range .Alerts }}{{ printf "%-20s|%5d%%" .Labels.pod 3 }}{{ end }}`,
	"expressions":  `{{ range .Alerts }}{{ if match "^(prod|staging)-.*$" .Labels.namespace }}{{ reReplaceAll "(.*)-[0-9a-f]+" "$1" .Labels.pod }}{{ end }}{{ end }}`,
	"JSON":         `{{ . | toJson }}`,
	"defined":      `{{ define "alert" }}{{ .Labels.alertname }} {{ .Annotations.summary }}{{ end }}{{ range .Alerts }}{{ template "alert" . }}{{ end }}`,
	"dashboards":   `{{ $base := "https://grafana" }}{{ if gt (len .Alerts) 5 }}{{ range slice .Alerts 0 5 }}{{ $base }}/{{ .Labels.pod | urlquery }}{{ end }}{{ else }}{{ (index .Alerts 0).Labels.pod }}{{ end }}`,
	"duration":     `{{ range .Alerts }}{{ humanizeDuration (since .StartsAt).Seconds }} {{ .StartsAt | tz "Europe/Paris" | date "15:04:05 MST" }}{{ end }}`,
	"a few times":  `{{ range $i, $x := stringSlice "a" "b" "c" }}{{ $i }}{{ $x }}{{ end }}{{ range 10 }}-{{ end }}`,
	"no syntax":    `{{ range`,
}

func TestUsualTemplates(t *testing.T) {
	for name, text := range usual {
		b := ForReceivers()
		b.Next("namespace/name/slack")
		if err := b.Add(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Many receivers with all of these templates are within the limits of one object.
func TestManyReceivers(t *testing.T) {
	b := ForReceivers()
	for i := range 200 {
		b.Next(fmt.Sprintf("namespace/name/%d", i))
		for name, text := range usual {
			if err := b.Add(text); err != nil && name != "long" {
				t.Fatalf("receiver %d: %s: %v", i, name, err)
			}
		}
	}
}

// A tenant exhausts the Alertmanager that all tenants share with the template of a receiver. Each of them takes hundreds
// of megabytes, or minutes: the first, two gigabytes in eight seconds.
func TestHostileTemplates(t *testing.T) {
	double := func(n int) string {
		return `{{ $x := "aaaaaaaaaa" }}` + strings.Repeat(`{{ $x = print $x $x }}`, n)
	}
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"a number":               {`{{ range 4000000000 }}x{{ end }}`, ErrExceeded},
		"no output":              {`{{ range 4000000000 }}{{ end }}`, ErrExceeded},
		"nested numbers":         {`{{ range 40000 }}{{ range 40000 }}{{ end }}{{ end }}`, ErrExceeded},
		"a time":                 {`{{ range (index .Alerts 0).StartsAt.UnixNano }}x{{ end }}`, ErrExceeded},
		"a duration":             {`{{ range since now }}x{{ end }}`, ErrExceeded},
		"a duration of a method": {`{{ range now.Sub (index .Alerts 0).StartsAt }}x{{ end }}`, ErrExceeded},
		"a variable":             {`{{ $n := 1 }}{{ $n = 4000000000 }}{{ range $n }}x{{ end }}`, ErrExceeded},
		"one of two":             {`{{ $n := 1 }}{{ if eq .Status "firing" }}{{ $n = 4000000000 }}{{ else }}{{ $n = 2 }}{{ end }}{{ range $n }}x{{ end }}`, ErrExceeded},
		"an argument":            {`{{ define "a" }}{{ range . }}x{{ end }}{{ end }}{{ template "a" 4000000000 }}`, ErrExceeded},
		"an element":             {`{{ range (list 1 4000000000) }}{{ range . }}x{{ end }}{{ end }}`, ErrExceeded},
		"a value of a map":       {`{{ $d := dict "a" 4000000000 }}{{ range $d.a }}x{{ end }}`, ErrExceeded},
		"doubled":                {double(40) + `{{ $x }}`, ErrExceeded},
		"doubled in a loop":      {`{{ $x := "aaaaaaaaaa" }}{{ range 40 }}{{ $x = print $x $x }}{{ end }}`, ErrExceeded},
		"doubled in turns":       {`{{ $x := "aaaaaaaaaa" }}{{ $y := "" }}{{ range 60 }}{{ $y = $x }}{{ $x = printf "%s%s" $x $y }}{{ end }}`, ErrExceeded},
		"doubled by a function":  {`{{ $x := "aaaaaaaaaa" }}{{ range 40 }}{{ $x = join $x (stringSlice $x $x) }}{{ end }}`, ErrExceeded},
		"doubled by replacing":   {`{{ $x := "aaaaaaaaaa" }}{{ range 9 }}{{ $x = reReplaceAll "a" $x $x }}{{ end }}`, ErrExceeded},
		"doubled lists":          {`{{ $x := list "a" }}{{ range 40 }}{{ $x = list $x $x }}{{ end }}{{ $x }}`, ErrExceeded},
		"deep lists":             {`{{ $x := list "a" }}{{ range 1000000 }}{{ $x = list $x }}{{ end }}{{ $x }}`, ErrExceeded},
		"once per alert":         {`{{ $x := "a" }}{{ range .Alerts }}{{ $x = print $x $x }}{{ end }}`, ErrExceeded},
		"recursion":              {`{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}`, ErrRecursive},
		"recursion of the text":  {`{{ template "" . }}`, ErrRecursive},
		"twice each":             {`{{ define "a0" }}x{{ end }}` + twice(40) + `{{ template "a40" . }}`, ErrExceeded},
		"alerts by alerts":       {`{{ range .Alerts }}{{ range $.Alerts }}{{ .Labels.pod }}{{ end }}{{ end }}`, ErrExceeded},
		"all for each":           {`{{ range .Alerts }}{{ $ }}{{ end }}`, ErrExceeded},
		"default for each":       {`{{ range .Alerts }}{{ template "email.default.html" $ }}{{ end }}`, ErrExceeded},
		"labels by labels":       {`{{ range .CommonLabels.SortedPairs }}{{ range $.CommonLabels.SortedPairs }}{{ .Name }}={{ .Value }}{{ end }}{{ end }}`, ErrExceeded},
		"a width":                {`{{ range .Alerts }}{{ printf "%999999d" 1 }}{{ end }}`, ErrExceeded},
		"a width of an argument": {`{{ range 100 }}{{ printf "%*d" 999999 1 }}{{ end }}`, ErrExceeded},
		"repeated arguments":     {`{{ $x := "aaaaaaaaaa" }}{{ range 40 }}{{ $x = printf "%[1]s%[1]s" $x }}{{ end }}`, ErrExceeded},
		"a format of an alert":   {`{{ printf .CommonLabels.format 1 }}`, ErrFormat},
		"a pattern of an alert":  {`{{ match .CommonLabels.pattern "x" }}`, ErrPattern},
		"a large pattern":        {`{{ match "((a{100}){10}b{1,990}(\\pL{0,999}))" "x" }}`, ErrExceeded},
		"a growing layout":       {`{{ $x := "Jan" }}{{ range 40 }}{{ $x = now.Format $x }}{{ end }}`, ErrExceeded},
		"nested blocks":          {strings.Repeat("{{ if 1 }}", 90_000) + strings.Repeat("{{ end }}", 90_000), ErrNested},
		"variables":              {variables(45_000) + strings.Repeat("{{ $a0 }}{{ $a44999 }}", 30_000), ErrNested},
		"alternatives":           {"{{ if 1 }}" + strings.Repeat("{{- else if 1 }}", 80_000) + "{{ end }}", ErrNested},
	} {
		b := ForReceivers()
		b.Next("r")
		if err := b.Add(c.text); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// variables declares n variables. The parser compares each use of one with all of them, which took 19 seconds.
func variables(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{{$a%d:=1}}", i)
	}
	return b.String()
}

// twice defines n templates, each of which executes the previous one twice.
func twice(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{{ define "a%d" }}{{ template "a%d" . }}{{ template "a%d" . }}{{ end }}`, i+1, i, i)
	}
	return b.String()
}

// Templates of alerts as people write them.
func TestUsualAlerts(t *testing.T) {
	const prelude = "{{$labels := .Labels}}{{$value := .Value}}"
	b := ForAlerts()
	for name, text := range map[string]string{
		"labels":     `{{ $labels.instance }} of job {{ $labels.job }} has been down for {{ $value | humanizeDuration }}`,
		"condition":  `{{ with $labels.cluster }}on cluster {{ . }}{{ end }}{{ if eq $labels.severity "page" }}!{{ else }}?{{ end }}`,
		"query":      `{{ range query "up == 0" }}{{ .Labels.instance }}: {{ .Value | humanize }}{{ end }}`,
		"of query":   `{{ range query "up" }}{{ range printf "node_load1{instance='%s'}" .Labels.instance | query }}{{ . | value | printf "%.2f" }}{{ end }}{{ end }}`,
		"first":      `{{ with printf "kube_pod_info{pod='%s'}" $labels.pod | query }}{{ . | first | label "node" }}{{ end }}`,
		"sorted":     `{{ range sortByLabel "instance" (query "up") }}{{ .Labels.instance | stripPort }}{{ end }}`,
		"replaced":   `{{ reReplaceAll "(.*):[0-9]+" "$1" $labels.instance | toUpper }}`,
		"all labels": `{{ range $name, $value := $labels }}{{ $name }}={{ $value }} {{ end }}`,
		"defined":    `{{ define "a" }}{{ .arg0 }} {{ .arg1 }}{{ end }}{{ template "a" (args $labels.pod $value) }}`,
		"time":       `{{ $value | toTime }} {{ (toTime $value).Format "2006-01-02" }} {{ now | humanizeTimestamp }} {{ externalURL }}{{ graphLink "up" }}`,
	} {
		b.NextAlert("__alert_" + name)
		if err := b.Add(prelude + text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A tenant exhausts a Prometheus with an annotation: the first, two gigabytes in ten seconds.
func TestHostileAlerts(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"a number":              {`{{ range 4000000000 }}x{{ end }}`, ErrExceeded},
		"a few megabytes":       {`{{ range 4000000 }}x{{ end }}`, ErrExceeded},
		"a duration":            {`{{ range toDuration 1000 }}x{{ end }}`, ErrExceeded},
		"a time":                {`{{ range (toTime .Value).UnixNano }}x{{ end }}`, ErrExceeded},
		"doubled":               {`{{ $x := "a" }}{{ range 40 }}{{ $x = print $x $x }}{{ end }}`, ErrExceeded},
		"escaped":               {`{{ .Labels.a` + strings.Repeat(" | js", 40) + ` }}`, ErrExceeded},
		"an argument":           {`{{ $a := args 4000000000 }}{{ range $a.arg0 }}x{{ end }}`, ErrExceeded},
		"recursion":             {`{{ template "__alert_a" . }}`, ErrRecursive},
		"thousands of queries":  {`{{ range 100000 }}{{ query "up" }}{{ end }}`, ErrExceeded},
		"queries of queries":    {`{{ range query "up" }}{{ range query "up" }}{{ range query "up" }}{{ .Labels.pod }}{{ end }}{{ end }}{{ end }}`, ErrExceeded},
		"a width":               {`{{ range 100 }}{{ printf "%999999d" 1 }}{{ end }}`, ErrExceeded},
		"a pattern of a series": {`{{ match .Labels.pattern "x" }}`, ErrPattern},
		"a format of a series":  {`{{ printf .Labels.format 1 }}`, ErrFormat},
	} {
		b := ForAlerts()
		b.NextAlert("__alert_a")
		if err := b.Add(c.text); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The name of a receiver is part of the data, and may have a megabyte.
func TestLongNames(t *testing.T) {
	b := ForReceivers()
	b.Next(strings.Repeat("r", 1<<20))
	if err := b.Add(`{{ range .Alerts }}{{ $.Receiver }}{{ end }}`); !errors.Is(err, ErrExceeded) {
		t.Error(err)
	}
}

// Many small texts add up.
func TestSum(t *testing.T) {
	b := ForReceivers()
	for i := 0; ; i++ {
		b.Next("r")
		err := b.Add(`{{ range 1000 }}` + strings.Repeat("x", 1000) + `{{ end }}`)
		if errors.Is(err, ErrExceeded) {
			return
		}
		if err != nil || i > budget.TemplatesBytes/1_000_000 {
			t.Fatal(i, err)
		}
	}
}

// The text of Alertmanager for a group is never longer than the analysis expects.
func TestOutputIsCovered(t *testing.T) {
	for _, s := range []size{nothing, {elements: 100, labels: 10, text: 32, long: 32}, {elements: 2, labels: 100, text: 32, long: 1000}} {
		data := dataOf(s)
		for name, text := range usual {
			tree, trees := parsed("", text)
			if tree == nil || name == "root" || name == "default" { // need templates of others
				continue
			}
			real, err := alertmanager.New()
			if err != nil {
				t.Fatal(err)
			}
			out, err := real.ExecuteTextString(text, data)
			html, htmlErr := real.ExecuteHTMLString(text, data)
			if err != nil && !strings.Contains(name, "dashboards") || htmlErr != nil && err == nil {
				t.Errorf("%s: %v, %v", name, err, htmlErr)
			}
			b := ForReceivers()
			e := execution{budget: b, language: notification(s, len(data.Receiver)), trees: trees, limit: 1 << 40}
			if err := e.run(tree); err != nil || e.spent < len(out) || e.spent < len(html) {
				t.Errorf("%s, %+v: %d and %d bytes, expected %d, %v", name, s, len(out), len(html), e.spent, err)
			}
		}
	}
}

func dataOf(s size) *alertmanager.Data {
	set := func() alertmanager.KV {
		kv := alertmanager.KV{}
		for i := range s.labels - 1 {
			kv[fmt.Sprintf("%0*d", s.text, i)] = strings.Repeat(`"`, s.text)
		}
		kv["pod"] = strings.Repeat("<", s.long)
		return kv
	}
	out := &alertmanager.Data{
		Receiver: "r", Status: "firing", ExternalURL: "http://a", GroupLabels: set(), CommonLabels: set(), CommonAnnotations: set(),
	}
	for range s.elements {
		out.Alerts = append(out.Alerts, alertmanager.Alert{
			Status: "firing", Labels: set(), Annotations: set(), StartsAt: time.Unix(0, 0), GeneratorURL: "http://b", Fingerprint: "0123456789abcdef",
		})
	}
	return out
}

// Every function of Alertmanager is known to the analysis; others count as growing their arguments.
func TestFunctionsAreKnown(t *testing.T) {
	for name := range alertmanager.DefaultFuncs {
		if notificationFunctions[name] == nil {
			t.Errorf("function %s is not known", name)
		}
	}
}

// Alertmanager cannot expand a text if one of the templates that it calls is not defined.
func TestCalls(t *testing.T) {
	const file = `{{ define "team.title" }}x{{ end }}{{ block "team.text" . }}y{{ end }}{{ define "broken" }}{{ template "nowhere" . }}{{ end }}`
	names, known := Defines(file)
	slices.Sort(names)
	if want := []string{"broken", "team.text", "team.title"}; !known || !slices.Equal(names, want) {
		t.Fatalf("got %q, %v, want %q", names, known, want)
	}
	if _, known := Defines("{{ define `a` }}"); known {
		t.Error("a file that cannot be parsed is known")
	}
	path := filepath.Join(t.TempDir(), "team.tmpl")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	real, err := alertmanager.FromGlobs([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	for text, missing := range map[string]string{
		"plain": "", "{{ template `team.title` . }}": "", "{{ template `team_title` . }}": "team_title",
		"{{ if .Alerts }}{{ template `a` . }}{{ end }}": "a", "{{ if not .Alerts }}{{ else }}{{ template `a` . }}{{ end }}": "a",
		"{{ range .Alerts }}{{ template `b` . }}{{ end }}": "b", "{{ with .Status }}{{ template `c` . }}{{ end }}": "c",
		"{{ define `own` }}z{{ end }}{{ template `own` . }}": "", "{{ define `own` }}{{ template `d` . }}{{ end }}{{ template `own` . }}": "d",
		"{{ template `team.text` . }}": "", "{{ block `e` . }}z{{ end }}": "",
	} {
		_, err := real.ExecuteTextString(text, dataOf(size{elements: 2, labels: 2, text: 5, long: 5}))
		if (err != nil) != (missing != "") {
			t.Errorf("%s: Alertmanager: %v", text, err)
		}
		calls := slices.DeleteFunc(Calls(text), func(name string) bool { return slices.Contains(names, name) })
		if got := strings.Join(calls, " "); got != missing {
			t.Errorf("%s: calls %q, want %q", text, got, missing)
		}
	}
}

// Malformed and Alertmanager agree about which texts can be expanded.
func TestMalformed(t *testing.T) {
	real, err := alertmanager.FromGlobs(nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, bad := range map[string]bool{
		"plain": false, "{{ .Status }}": false, "{{ .State }}": true, "{{ .CommonLabels.any }}": false, "{{ .CommonLabels.SortedPairs.Values | join `,` }}": false,
		"{{ range .Alerts }}{{ .Labels.x }}": true, "{{ range .Alerts }}{{ .Label.x }}{{ end }}": true, "{{ range .Alerts.Firing }}{{ .Annotations.x }}{{ end }}": false,
		"{{ .Labels.x }}": true, "{{ with .GroupLabels }}{{ .team }}{{ end }}": false, "{{ range .Alerts }}{{ $.Status }}{{ end }}": false,
		"{{ range .Alerts }}{{ $.Labels }}{{ end }}": true, "{{ upper .Status }}": true, "{{ .Status | toUpper }}": false, "{{ .Status }": true,
		"{{ $a := index .Alerts 0 }}{{ $a.Fingerprint }}": false, "{{ $a := index .Alerts 0 }}{{ $a.Finger }}": true, "{{ .Alerts.Firing | len }}": false,
		"{{ define `x` }}{{ .Nope }}{{ end }}{{ template `x` . }}": true, "{{ template `slack.default.title` . }}": false, "{{ (index .Alerts 0).StartsAt.Format `15:04` }}": false,
	} {
		_, err := real.ExecuteTextString(text, dataOf(size{elements: 2, labels: 2, text: 5, long: 5}))
		if (err != nil) != bad {
			t.Errorf("%s: Alertmanager: %v", text, err)
		}
		if err := Malformed(text); (err != nil) != bad {
			t.Errorf("%s: %v", text, err)
		}
	}
}
