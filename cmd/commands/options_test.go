package commands

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/alecthomas/kingpin/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/internal/version"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// invoke runs the program. Commands that serve or call an API server get a canceled context,
// so that they return immediately. Commands that only read files do not.
func invoke(args ...string) (code int, stdout, stderr string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if len(args) == 0 || !slices.Contains([]string{"render", "lint", "explain"}, args[0]) {
		cancel()
	}
	var out, errs bytes.Buffer
	code = Operator(ctx, args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestBadCommandLines(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for line, tc := range map[string]struct {
		code int
		want string
	}{
		"--no-such-flag":                             {2, "unknown long flag '--no-such-flag'"},
		"-no-such-flag":                              {2, "unknown long flag '--no-such-flag'"},
		"dance":                                      {2, "dance"},
		"":                                           {2, "no command, and this is no pod: operator start runs the operator for the cluster of KUBECONFIG; see operator --help"},
		"start now":                                  {2, "unexpected now"},
		"--workers=many":                             {2, "--workers=many: want a number"},
		"--manage-webhook-certificates=secret":       {2, `--manage-webhook-certificates: want NAMESPACE/NAME, got "secret"`},
		"--workers=-1":                               {2, "--workers=-1: must not be negative"},
		"--kube-api-qps=0":                           {2, "--kube-api-qps=0"},
		"--kube-api-burst=0":                         {2, "--kube-api-burst=0"},
		"--namespaces=a --deny-namespaces=b":         {2, "--namespaces, --deny-namespaces: "},
		"--namespaces=a,":                            {2, "cannot be combined with others"},
		"--namespaces=Team_A":                        {2, `"Team_A" is not the name of a namespace`},
		"--deny-namespaces=a/b":                      {2, `"a/b" is not the name of a namespace`},
		"--prometheus-instance-namespaces=,a":        {2, "--prometheus-instance-namespaces: "},
		"--prometheus-instance-selector=a=(":         {2, "--prometheus-instance-selector=a=(: "},
		"--secret-label-selector=!!":                 {2, "--secret-label-selector=!!: "},
		"--secret-field-selector=type":               {2, "--secret-field-selector=type: "},
		"--configmap-label-selector==":               {2, "--configmap-label-selector==: "},
		"--configmap-field-selector=a,b":             {2, "--configmap-field-selector=a,b: "},
		"--feature-gates=Unknown=true":               {2, `unknown feature gate "Unknown"`},
		"--feature-gates=PrometheusTopologySharding": {2, "want PrometheusTopologySharding=true"},
		"--feature-gates=PrometheusTopologySharding=perhaps": {2, "want PrometheusTopologySharding=true"},
		"--labels=a":                                                  {2, `"a" is not of the form key=value`},
		"--annotations==b":                                            {2, `"=b" is not of the form key=value`},
		"--config-reloader-cpu-request=lots":                          {2, "--config-reloader-cpu-request=lots: "},
		"--config-reloader-memory-limit=1XB":                          {2, "--config-reloader-memory-limit=1XB: "},
		"--reloader-layout=triple":                                    {2, "--reloader-layout=triple: "},
		"--log-level=loud --web.listen-address=127.0.0.1:0":           {1, "--log-level=loud"},
		"--log-format=xml --web.listen-address=127.0.0.1:0":           {1, "--log-format=xml"},
		"--web.listen-address=nowhere":                                {1, "--web.listen-address=nowhere: "},
		"--kubeconfig=/no/such/file --web.listen-address=127.0.0.1:0": {1, "--kubeconfig=/no/such/file: no such file or directory"},
		"--workers many":                                              {2, "--workers=many: want a number"},
		"--kube-api-qps=fast":                                         {2, "--kube-api-qps=fast: want a number"},
		"--auto-gomemlimit-ratio=half":                                {2, "--auto-gomemlimit-ratio=half: want a number"},
		"--kubelet-service=kubelet":                                   {2, "--kubelet-service=kubelet: want NAMESPACE/NAME"},
		"--kubelet-service=a/b/c":                                     {2, "--kubelet-service=a/b/c: want NAMESPACE/NAME"},
		"--kubelet-selector=a=(":                                      {2, "--kubelet-selector=a=(: "},
		"--kubelet-sync-period=soon":                                  {2, "--kubelet-sync-period=soon: "},
		"--kubelet-node-address-priority=both":                        {2, "--kubelet-node-address-priority=both: want one of internal, external"},
		"--kubelet-sync-period=0s":                                    {2, "--kubelet-sync-period=0s: must be positive"},
		"--kubelet-service=a/B":                                       {2, `--kubelet-service=a/B: "B" is not the name of a Service`},
		"--kubelet-service=A/b":                                       {2, `--kubelet-service=A/b: "A" is not the name of a namespace`},
		"--kubelet-service=a/b --no-kubelet-endpoints":                {2, "--kubelet-service: needs --kubelet-endpoints or --kubelet-endpointslice"},
		"--crd-apigroup=monitoring.example.org":                       {2, "--crd-apigroup=monitoring.example.org: only monitoring.coreos.com is possible"},
		"--leader-elect-namespace=A":                                  {2, "--leader-elect-namespace=A: "},
		"--leader-elect-lease-name=A":                                 {2, "--leader-elect-lease-name=A: "},
		"--leader-elect-lease-name=":                                  {2, "--leader-elect-lease-name=: "},
		"--repair-policy-for-statefulsets=x":                          {2, "--repair-policy-for-statefulsets=x: want one of none, evict, delete"},
		"--parts-capable-reloaders=a/b,a/b:v1":                        {2, "--parts-capable-reloaders=a/b:v1: must be the name of an image without tag"},
		"--web.tls-reload-interval=often":                             {2, "--web.tls-reload-interval=often: "},
		"--web.enable-tls --web.cert-file=/no/cert":                   {1, "--web.cert-file, --web.key-file: open /no/cert"},
		"--web.enable-tls --web.cert-file=":                           {1, "both are needed"},
		"--web.enable-tls --web.tls-min-version=VersionTLS10":         {1, "--web.tls-min-version=VersionTLS10: want VersionTLS12"},
		"--web.enable-tls --web.tls-curves=X1":                        {1, `--web.tls-curves: "X1" is not one of`},
		"--web.enable-tls --web.tls-cipher-suites=X1":                 {1, `--web.tls-cipher-suites: unknown cipher suite "X1"`},
		"lint -f x --format=xml":                                      {2, "--format=xml: "},
		"lint -f x --format xml":                                      {2, "--format=xml: "},
		"crds apply --timeout soon":                                   {2, "--timeout=soon: "},
		"crds apply --conversion-webhook=hook":                        {2, "--conversion-webhook=hook: want NAMESPACE/NAME"},
		"crds apply --conversion-inject-ca-from=a/b":                  {2, "--conversion-inject-ca-from=a/b: needs --conversion-webhook"},
		"verify --reconciled=probe/a/b":                               {2, `--reconciled=probe/a/b: "probe" is not prometheus, prometheusagent, thanosruler or alertmanager`},
		"verify --reconciled=prometheus/a":                            {2, "--reconciled=prometheus/a: want KIND/NAMESPACE/NAME"},
		"verify --validated-rule=a":                                   {2, "--validated-rule=a: want NAMESPACE/NAME"},
		"render":                                                      {2, "no manifests: give files or folders, as in render manifests/, or - for standard input; see operator render --help"},
		"render -f x --only=everything":                               {2, "everything"},
		"render -f /no/such/file":                                     {2, "/no/such/file: no such file or directory"},
		"render -f /no/such/file --for=Prometheus/web":                {2, "--for=Prometheus/web: want KIND/NAMESPACE/NAME"},
		"render -f /no/such/file --kubernetes-version=newest":         {2, "--kubernetes-version=newest: "},
	} {
		t.Run(line, func(t *testing.T) {
			code, stdout, stderr := invoke(strings.Fields(line)...)
			if code != tc.code || !strings.Contains(stderr, tc.want) {
				t.Errorf("code %d, want %d; stderr %q, want %q", code, tc.code, stderr, tc.want)
			}
			if tc.code == 2 && stdout != "" {
				t.Errorf("stdout %q", stdout)
			}
			if n := strings.Count(stderr, "\n"); n != 1 {
				t.Errorf("%d lines on stderr:\n%s", n, stderr)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	if code, stdout, stderr := invoke("--short-version", "--version"); code != 0 || stdout != version.Version || stderr != "" {
		t.Errorf("%d %q %q", code, stdout, stderr)
	}
	for _, args := range [][]string{{"--version"}, {"-version"}, {"--version", "crds"}, {"--version", "render"}, {"version"}} {
		if code, stdout, _ := invoke(args...); code != 0 || !strings.HasPrefix(stdout, "prometheus-operator, version "+version.Version+" (branch: ") || !strings.Contains(stdout, "Firekeeper\n") {
			t.Errorf("%v: %d %q", args, code, stdout)
		}
	}
	for _, args := range [][]string{{"start", "--help"}, {"start", "-h"}, {"help", "start"}} {
		if code, stdout, stderr := invoke(args...); code != 0 || !strings.Contains(stdout, "--namespaces") || stderr != "" {
			t.Errorf("%v: %d %q %q", args, code, stdout, stderr)
		}
	}
}

// parsed returns the options of a command line.
func parsed(t *testing.T, args ...string) Options {
	t.Helper()
	var o Options
	app := kingpin.New("operator", "").Terminate(nil)
	o.Bind(app)
	app.Command("start", "").Default()
	if _, err := app.Parse(arguments(app, args)); err != nil {
		t.Fatal(err)
	}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestGoodCommandLines(t *testing.T) {
	o := parsed(t, "-namespaces=a,b", "--namespaces", "c", "--labels=team=x,tier=y=z", "--labels", "more=1", "--annotations=a=",
		"--feature-gates= PrometheusTopologySharding = false ,StatusForConfigurationResources=true", "--feature-gates=PrometheusShardRetentionPolicy=0",
		"-log-level=DEBUG", "--config-reloader-cpu-limit=0", "--config-reloader-memory-limit=", "--controller-id=x", "start")
	if diff := cmp.Diff([]string{"a", "b", "c"}, o.Namespaces); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"team": "x", "tier": "y=z", "more": "1"}, o.Labels); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"a": ""}, o.Annotations); diff != "" {
		t.Error(diff)
	}
	if got, want := o.FeatureGates.State(), "PrometheusAgentDaemonSet=false,PrometheusShardRetentionPolicy=false,PrometheusTopologySharding=false,"+
		"RemoteWriteCustomResourceDefinition=false,StatusForConfigurationResources=true"; got != want {
		t.Errorf("gates %s", got)
	}
	cfg, err := o.workload()
	if err != nil {
		t.Fatal(err)
	}
	if r := cfg.ReloaderResources; !r.CPULimit.IsZero() || r.MemoryLimit.String() != "50Mi" || r.CPURequest.String() != "10m" {
		t.Errorf("resources %+v", r)
	}
}

func TestScopesInherit(t *testing.T) {
	for name, tc := range map[string]struct {
		args                           []string
		instances, configs, references string // of Prometheus and PrometheusAgent objects
		rulers                         string // instances and references of ThanosRulers
	}{
		"nothing given":           {nil, "all", "all", "all", "all all"},
		"an explicit empty value": {[]string{"--namespaces="}, "all", "all", "all", "all all"},
		"namespaces":              {[]string{"--namespaces=b,a"}, "a,b", "a,b", "a,b", "a,b a,b"},
		"a deny list":             {[]string{"--deny-namespaces=a"}, "all but a", "all but a", "all but a", "all but a all but a"},
		"instances alone":         {[]string{"--prometheus-instance-namespaces=a"}, "a", "all", "a", "all all"},
		"each kind has its own": {
			[]string{"--prometheus-instance-namespaces=a", "--thanos-ruler-instance-namespaces=c", "--namespaces=b"}, "a", "b", "a", "c c",
		},
		"instances beside namespaces": {[]string{"--prometheus-instance-namespaces=a", "--namespaces=b"}, "a", "b", "a", "b b"},
		"references wherever monitors are": {
			[]string{"--prometheus-instance-namespaces=a", "--namespaces=b", "--watch-referenced-objects-in-all-namespaces"}, "a", "b", "a,b", "b b",
		},
		"an instance in a denied namespace": {
			[]string{"--prometheus-instance-namespaces=a", "--deny-namespaces=a,b", "--watch-referenced-objects-in-all-namespaces"},
			"a", "all but a,b", "all but b", "all but a,b all but a,b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := parsed(t, tc.args...)
			setups, scopes, err := o.setups(semver.MustParse("1.36.0"))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range setups {
				got := []string{s.Instances.String(), scopes.Configs.String(), s.References.String()}
				switch s.Row {
				case catalog.Alertmanager: // see TestAlertmanagerScopes
				case catalog.ThanosRuler:
					if got := s.Instances.String() + " " + s.References.String(); got != tc.rulers {
						t.Errorf("%s: scopes %q, want %q", s.Row, got, tc.rulers)
					}
				default:
					if want := []string{tc.instances, tc.configs, tc.references}; !cmp.Equal(got, want) {
						t.Errorf("%s: scopes %q, want %q", s.Row, got, want)
					}
				}
			}
		})
	}
}

// AlertmanagerConfigs may have a separate list of namespaces.
func TestAlertmanagerScopes(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string // instances, AlertmanagerConfigs, references, monitors
	}{
		"nothing given":  {nil, "all; all; all; all"},
		"namespaces":     {[]string{"--namespaces=a,b"}, "a,b; a,b; a,b; a,b"},
		"its own":        {[]string{"--namespaces=a", "--alertmanager-instance-namespaces=b", "--alertmanager-config-namespaces=c,d"}, "b; c,d; b; a"},
		"and references": {[]string{"--namespaces=a", "--alertmanager-instance-namespaces=b", "--alertmanager-config-namespaces=c", "--watch-referenced-objects-in-all-namespaces"}, "b; c; b,c; a"},
	} {
		o := parsed(t, tc.args...)
		setups, scopes, err := o.setups(semver.MustParse("1.36.0"))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range setups {
			if s.Row != catalog.Alertmanager {
				continue
			}
			got := strings.Join([]string{s.Instances.String(), scopes.SelectedBy(s.Kind).String(), s.References.String(), scopes.For(catalog.Probe).String()}, "; ")
			if got != tc.want {
				t.Errorf("%s: %s, want %s", name, got, tc.want)
			}
		}
	}
}

func TestParseKubernetes(t *testing.T) {
	for text, want := range map[string]string{
		"v1.34.4": "1.34.4", "1.35.0-gke.100": "1.35.0", "v1.36.1+k3s1": "1.36.1", "1.21": "1.21.0", " 1.30.0 ": "1.30.0", "v1.27.0-alpha.1-dirty": "1.27.0",
		"": "", "one": "", "v1.2.3.4": "",
	} {
		v, err := parseKubernetes(text)
		if (err != nil) != (want == "") || err == nil && v.String() != want {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
}
