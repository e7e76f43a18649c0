package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The help of a command explains its own flags, shows its usage, and names only those
// flags of the operator that change its result.
func TestHelp(t *testing.T) {
	var o Options
	for _, c := range subcommands(&o) {
		if c.run == nil || c.name == startCommand {
			continue
		}
		code, help, _ := invoke(append(strings.Fields(c.name), "--help")...)
		if code != 0 || strings.Contains(help, "--workers") || strings.Contains(help, "Ignored flags") || strings.Contains(help, "--kubeconfig=") {
			t.Errorf("%s --help: exit %d, the flags of another command:\n%s", c.name, code, help)
		}
		if c.name != "full-crds" && c.name != "version" && !strings.Contains(help, "\nExamples:\n  operator "+c.name) {
			t.Errorf("%s --help has no example:\n%s", c.name, help)
		}
		for _, use := range c.uses {
			if flag := strings.TrimSuffix(use, " flags"); !strings.Contains(strings.Join(strings.Fields(help), " "), flag) {
				t.Errorf("%s --help does not name %s:\n%s", c.name, use, help)
			}
		}
	}
	_, help, _ := invoke("lint", "--help")
	own, others, _ := strings.Cut(help, "\nFlags of the operator that change the result, explained by operator start --help:\n")
	if !strings.Contains(own, "--prometheus-version") || !strings.Contains(others, "--feature-gates") || strings.Contains(others, "--kubeconfig") {
		t.Errorf("lint --help:\n%s", help)
	}
	_, help, stderr := invoke("--help")
	commands, flags := strings.Index(help, "\nCommands:\n"), strings.Index(help, "\nFlags:\n")
	if commands < 0 || flags < commands || !strings.Contains(help, "\n  crds apply ") || strings.Contains(help, "--kubeconfig") || strings.Count(help, "\n") > 37 || stderr != "" {
		t.Errorf("the commands are not first, or much comes after them:\n%s%s", help, stderr)
	}
}

// docs/command-line.md lists the commands.
func TestCommandsAreListed(t *testing.T) {
	page, err := os.ReadFile("../../docs/command-line.md")
	if err != nil {
		t.Fatal(err)
	}
	var o Options
	for _, c := range subcommands(&o) {
		name, _, nested := strings.Cut(c.name, " ")
		if nested || name == "full-crds" {
			continue
		}
		if text := string(page); !strings.Contains(text, "\n| "+name+" | ") && !strings.Contains(text, "\n| ["+name+"](") {
			t.Errorf("%s has no row", name)
		}
	}
}

// An unusable kubeconfig is named as the user gave it.
func TestUnusableKubeconfig(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("KUBECONFIG", "/no/such/file")
	two := twoContexts(t, "http://127.0.0.1:1")
	for _, c := range []struct{ args, want string }{
		{"status --context=prod --apiserver=http://127.0.0.1:1", "operator: --context=prod: there is no kubeconfig\n"},
		{"status --context=test --kubeconfig=" + two, `operator: --kubeconfig=` + two + `: context "test" does not exist` + "\n"},
		{"status", "operator: KUBECONFIG=/no/such/file: the kubeconfig does not exist, is empty, or has no current context: see kubectl config get-contexts\n"},
		{"status --kubeconfig=/nor/this", "operator: --kubeconfig=/nor/this: no such file or directory\n"},
	} {
		if code, _, stderr := invoke(strings.Fields(c.args)...); code != 2 || stderr != c.want {
			t.Errorf("%s: exit %d, %q", c.args, code, stderr)
		}
	}
}

// The examples in the help are valid command lines.
func TestExamplesParse(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("manifests", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"web.yaml", "new.yaml", "rules.yaml", "configmap.yaml"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var o Options
	for _, c := range subcommands(&o) {
		for _, line := range c.example {
			line, _, _ = strings.Cut(line, " # ")
			line, _, _ = strings.Cut(line, " | ")
			if c.name == "crds print" || c.name == "admission-webhook" {
				continue // runs without a cluster
			}
			t.Setenv("KUBECONFIG", "/no/kubeconfig")
			_, _, stderr := invoke(strings.Fields(strings.Replace(line, "-f -", "", 1))...)
			if strings.Contains(stderr, "--help") {
				t.Errorf("%s: %s", line, stderr)
			}
		}
	}
}

// Errors suggest similar words and refer to the help of the command.
func TestMistakes(t *testing.T) {
	for line, want := range map[string]string{
		"lnt":                               `unknown command "lnt", did you mean "lint"? See operator --help`,
		"Explain smon a/b":                  `unknown command "Explain", did you mean "explain"? See operator --help`,
		"dance":                             `unknown command "dance"; see operator --help`,
		"crds prnt":                         `unknown command "prnt", did you mean "print"? See operator crds --help`,
		"--namespace=a":                     `unknown long flag '--namespace', did you mean "--namespaces"? See operator --help`,
		"lint --files a":                    `unknown long flag '--files', did you mean "--file"? See operator lint --help`,
		"lint a.yaml --prometheus-versio=1": `unknown long flag '--prometheus-versio', did you mean "--prometheus-version"? See operator lint --help`,
		"lint --kubconfig=a":                `did you mean "--kubeconfig"? See operator lint --help`,
		"crds apply --forc":                 `did you mean "--force"? See operator crds apply --help`,
		"lint":                              "no manifests: give files or folders, as in lint manifests/, or - for standard input; see operator lint --help",
		"lint gone.yaml":                    "gone.yaml: no such file or directory; see operator lint --help",
		"lint - -f gone/":                   "gone/: no such file or directory",
		"lint a.yaml --fail-on=never":       "--fail-on=never: ",
		"render gone.yaml":                  "gone.yaml: no such file or directory; see operator render --help",
		"explain":                           "no object: give KIND NAMESPACE/NAME; see operator explain --help",
		"explain smon":                      `"smon" has no name: give KIND NAMESPACE/NAME`,
		"explain smon web manifests/":       `"web": want NAMESPACE/NAME, or NAME and --namespace`,
		"explain smon demo/web -n a":        `"demo/web" is in another namespace than --namespace=a`,
		"explain smon demo/web gone/":       "gone/: no such file or directory",
		"explain sm demo/web":               `"sm" is not a kind that can be explained`,
		"explain servicemonitr demo/web":    `"servicemonitr" is not a kind that can be explained, did you mean "servicemonitor"? See operator explain --help`,
		"route a=b gone.yaml":               "gone.yaml: no such file or directory; see operator route --help",
		"route a=b --rule web --alert a":    "--rule=web: want NAMESPACE/NAME, or NAME and --namespace",
		"route a=b --rule a/b -n c":         `--rule=a/b: "a/b" is in another namespace than --namespace=c`,
		"render . --for smon/a/b":           `--for=smon/a/b: "smon" is not prometheus, prometheusagent, thanosruler or alertmanager`,
		"render . --for prometheus/a":       "--for=prometheus/a: want KIND/NAMESPACE/NAME, or KIND/NAME and --namespace",
	} {
		code, stdout, stderr := invoke(strings.Fields(line)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d\n%s, want\n%s", line, code, stderr, want)
		}
	}
}

// All ways to name files and objects have the same result.
func TestSpellings(t *testing.T) {
	const manifests = `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: demo}
spec: {serviceMonitorSelector: {}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: demo}
spec: {selector: {}, endpoints: [{port: web}]}
`
	t.Chdir(t.TempDir())
	if err := os.Mkdir("manifests", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("manifests", "all.yaml"), []byte(manifests), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		want  string // part of the output of all lines
		lines []string
	}{
		"explain": {"ServiceMonitor demo/web is used by 1 of 1 workload\n", []string{
			"servicemonitor demo/web -f manifests/", "smon web -n demo -f manifests/all.yaml", "ServiceMonitor/demo/web -f manifests",
			"smon/web --namespace=demo manifests", "servicemonitors.monitoring.coreos.com demo/web manifests/", "-f manifests -n demo smon/demo/web",
		}},
		"render": {"scrape_configs", []string{
			"manifests/ --only config", "-f manifests/all.yaml --only=config", "--only config --for prometheus/demo/main manifests",
			"--only config --for prom/main -n demo manifests", "--only config manifests --for=Prometheus/demo/main",
		}},
		"lint": {"0 errors", []string{"manifests/", "-f manifests", "manifests/all.yaml", "--file=manifests/all.yaml --fail-on note"}},
	} {
		var first string
		for _, line := range tc.lines {
			code, stdout, stderr := invoke(append([]string{name}, strings.Fields(line)...)...)
			if first == "" {
				first = stdout
			}
			if code != 0 || stdout != first || !strings.Contains(stdout, tc.want) {
				t.Errorf("%s %s: exit %d\n%s%s", name, line, code, stdout, stderr)
			}
		}
	}
	if code, stdout, _ := invoke("route", "a=b", "manifests/"); code != 2 || stdout != "" {
		t.Errorf("route reads no manifests: %d %s", code, stdout)
	}
}

// The user can choose the severity at which lint exits with 1.
func TestFailOn(t *testing.T) {
	t.Chdir(t.TempDir())
	for file, manifest := range map[string]string{
		"note.yaml":    "spec: {serviceMonitorSelector: {matchLabels: {a: b}}}",
		"warning.yaml": "spec: {serviceMonitorSelector: {}, version: v2.45.0, scrapeProtocols: [OpenMetricsText1.0.0]}",
	} {
		manifest = "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: main}\n" + manifest +
			"\n---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: web}\nspec: {selector: {}, endpoints: [{port: web}]}\n"
		if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]int{
		"note.yaml": 0, "note.yaml --fail-on=error": 0, "note.yaml --fail-on=warning": 0, "note.yaml --fail-on=note": 1,
		"warning.yaml": 0, "warning.yaml --fail-on=warning": 1, "warning.yaml --fail-on=note": 1,
	} {
		if code, stdout, stderr := invoke(append([]string{"lint"}, strings.Fields(line)...)...); code != want {
			t.Errorf("lint %s: exit %d, want %d\n%s%s", line, code, want, stdout, stderr)
		}
	}
}
