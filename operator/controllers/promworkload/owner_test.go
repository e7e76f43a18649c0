package promworkload

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

func TestShardNames(t *testing.T) {
	for spec, want := range map[string]string{
		``:           "[prometheus-main]",
		`shards: -2`: "[prometheus-main]",
		`shards: 0`:  "[prometheus-main]",
		`shards: 3`:  "[prometheus-main prometheus-main-shard-1 prometheus-main-shard-2]",
	} {
		if got := fmt.Sprint(serverOwner(t, spec).ShardNames()); got != want {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
	}
	if got := len(serverOwner(t, `{version: nonsense, shards: 2}`).ShardNames()); got != 2 {
		t.Errorf("%d names without a version, want 2", got)
	}
}

func TestReplicas(t *testing.T) {
	for spec, want := range map[string]int32{``: 1, `replicas: -1`: 1, `replicas: 0`: 0, `replicas: 4`: 4} {
		if got := serverOwner(t, spec).Replicas(); got != want {
			t.Errorf("%s: %d, want %d", spec, got, want)
		}
	}
}

func TestZones(t *testing.T) {
	const spec = `{shards: 4, shardingStrategy: {mode: Topology, topology: {values: [a, b]}}}`
	o := serverOwner(t, spec)
	for shard, want := range []string{"a0", "b0", "a1", "b1"} {
		zone, number, ok := o.zone(int32(shard))
		if got := fmt.Sprint(zone, number); !ok || got != want {
			t.Errorf("shard %d: %s %t, want %s", shard, got, ok, want)
		}
	}
	off := testConfig()
	off.TopologySharding = false
	for name, o := range map[string]*Builder{
		"gate off":   ForServer(server(t, spec), off),
		"no values":  serverOwner(t, `shardingStrategy: {mode: Topology, topology: {}}`),
		"other mode": serverOwner(t, `shardingStrategy: {mode: Address, topology: {values: [a]}}`),
		"no mode":    serverOwner(t, `shardingStrategy: {}`),
	} {
		if _, _, ok := o.zone(0); ok {
			t.Errorf("%s: topology sharding is active", name)
		}
		if got := len(o.reloaderEnv(0)); got != 2 {
			t.Errorf("%s: %d variables, want 2", name, got)
		}
	}
}

func TestStartupBudget(t *testing.T) {
	for max, want := range map[int32][2]int32{
		-1: {15, 60}, 59: {15, 60}, 60: {60, 1}, 129: {43, 3}, 322: {54, 6}, 600: {60, 10}, 1200: {60, 20}, 1<<31 - 1: {60, 35791395},
	} {
		period, failures := startupBudget(&max)
		if got := [2]int32{period, failures}; got != want {
			t.Errorf("%d s: period and failures %v, want %v", max, got, want)
		}
	}
	if period, failures := startupBudget(nil); period != 15 || failures != 60 {
		t.Errorf("default: %d, %d", period, failures)
	}
}

func TestPadRuleConfigMaps(t *testing.T) {
	o := serverOwner(t, ``)
	for n, want := range map[int]string{
		0: "0 1 2", 1: "0 1 2", 2: "0 1 2", 3: "0 1 2", 4: "0 1 2 3",
	} {
		var names []string
		for i := range n {
			names = append(names, wellknown.RuleConfigMapName(o.RuleConfigMapBase(), i))
		}
		got := strings.ReplaceAll(strings.Join(o.PadRuleConfigMaps(names), " "), "prometheus-main-rulefiles-", "")
		if got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestCheckService(t *testing.T) {
	cfg := testConfig()
	cfg.Labels = map[string]string{"env": "prod", wellknown.LabelAppName: "other"}
	o := ForServer(server(t, `serviceName: mine`), cfg)
	if !o.CustomService() || o.ServiceName() != "mine" {
		t.Errorf("service name %q, custom %t", o.ServiceName(), o.CustomService())
	}
	for name, tc := range map[string]struct {
		selector map[string]string
		ok       bool
	}{
		"labels of the pods":               {map[string]string{wellknown.LabelAppName: "prometheus", wellknown.LabelPrometheus: "main"}, true},
		"no selector matches everything":   {nil, true},
		"one shard only":                   {map[string]string{wellknown.LabelShard: "0"}, false},
		"another owner":                    {map[string]string{wellknown.LabelAppInstance: "other"}, false},
		"labels that only --labels brings": {map[string]string{"env": "prod"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "mine"}}
			svc.Spec.Selector = tc.selector
			err := workload.CheckService(svc, o.SelectorLabels())
			if (err == nil) != tc.ok {
				t.Fatalf("error %v, want ok=%t", err, tc.ok)
			}
			if err != nil && !strings.Contains(err.Error(), "demo/mine") {
				t.Errorf("%v does not name the Service", err)
			}
		})
	}
}

func TestSecrets(t *testing.T) {
	cfg := testConfig()
	cfg.Labels = map[string]string{"env": "prod", wellknown.LabelManagedBy: "me", wellknown.LabelRuleOwner: "other"}
	o := ForServer(server(t, ``), cfg)
	config := o.ConfigSecret([]byte("gz"))
	if config.Name != "prometheus-main" || string(config.Data["prometheus.yaml.gz"]) != "gz" {
		t.Errorf("configuration Secret %v", config)
	}
	want := map[string]string{"managed-by": "prometheus-operator", "app.kubernetes.io/managed-by": "prometheus-operator", "env": "prod", "prometheus-name": "other"}
	if !reflect.DeepEqual(config.Labels, want) || config.OwnerReferences[0].Controller == nil {
		t.Errorf("labels %v, owner %v", config.Labels, config.OwnerReferences)
	}
	client := o.ThanosHTTPClientSecret()
	if client.Name != "prometheus-main-thanos-prometheus-http-client-file" ||
		string(client.Data["prometheus.http-client-file.yaml"]) != "tls_config:\n  insecure_skip_verify: true\n" {
		t.Errorf("client Secret %v", client)
	}
	rules := o.RuleConfigMapMeta(wellknown.RuleConfigMapName(o.RuleConfigMapBase(), 1))
	if rules.Name != "prometheus-main-rulefiles-1" || rules.Labels["prometheus-name"] != "main" || rules.Labels["managed-by"] != "prometheus-operator" {
		t.Errorf("rule ConfigMap %v", rules)
	}
}

func TestTLSAssetSecrets(t *testing.T) {
	o := serverOwner(t, ``)
	big := func(n int) []byte { return make([]byte, n) }
	for name, tc := range map[string]struct {
		files map[string][]byte
		held  map[string]int
		want  string
	}{
		"none is one empty Secret":          {nil, nil, "[map[]]"},
		"few share one":                     {map[string][]byte{"b": big(1), "a": big(2)}, nil, "[map[a:2 b:1]]"},
		"exactly full":                      {map[string][]byte{"a": big(998576 - 2), "b": big(0)}, nil, "[map[a:998574 b:0]]"},
		"one byte more opens another":       {map[string][]byte{"a": big(998576 - 2), "b": big(1)}, nil, "[map[a:998574] map[b:1]]"},
		"no filling up of earlier ones":     {map[string][]byte{"a": big(9), "b": big(998576 - 1), "c": big(1)}, nil, "[map[a:9] map[b:998575] map[c:1]]"},
		"a file too large stands by itself": {map[string][]byte{"a": big(998577)}, nil, "[map[] map[a:998577]]"},
		"a large file moves no other": {map[string][]byte{"a": big(998000), "b": big(1), "c": big(1000)}, map[string]int{"b": 0, "c": 0},
			"[map[b:1 c:1000] map[a:998000]]"},
		"a file stays in the second":      {map[string][]byte{"a": big(1), "b": big(2)}, map[string]int{"a": 0, "b": 1}, "[map[a:1] map[b:2]]"},
		"new files fill earlier ones":     {map[string][]byte{"a": big(1), "b": big(2), "c": big(3)}, map[string]int{"b": 0, "c": 1}, "[map[a:1 b:2] map[c:3]]"},
		"a file that grew moves":          {map[string][]byte{"a": big(900_000), "b": big(900_000)}, map[string]int{"a": 0, "b": 0}, "[map[a:900000] map[b:900000]]"},
		"one too large stays":             {map[string][]byte{"a": big(998577), "b": big(1)}, map[string]int{"a": 1, "b": 0}, "[map[b:1] map[a:998577]]"},
		"the last Secret is empty":        {map[string][]byte{"a": big(1)}, map[string]int{"a": 0, "gone": 3}, "[map[a:1]]"},
		"one between is empty and stays":  {map[string][]byte{"a": big(1), "b": big(2)}, map[string]int{"a": 0, "b": 2}, "[map[a:1] map[] map[b:2]]"},
		"a first Secret that is too full": {map[string][]byte{"a": big(998576)}, map[string]int{"a": 0}, "[map[a:998576]]"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []map[string]int
			for i, s := range o.TLSAssetSecrets(tc.files, tc.held) {
				if want := fmt.Sprintf("prometheus-main-tls-assets-%d", i); s.Name != want {
					t.Errorf("name %q, want %q", s.Name, want)
				}
				sizes := map[string]int{}
				for k, v := range s.Data {
					sizes[k] = len(v)
				}
				got = append(got, sizes)
			}
			if fmt.Sprint(got) != tc.want {
				t.Errorf("got %v, want %s", got, tc.want)
			}
		})
	}
}

func TestDaemonSetOnlyForAgents(t *testing.T) {
	if _, err := serverOwner(t, ``).DaemonSet(testInputs()); err == nil {
		t.Error("a server became a DaemonSet")
	}
}

func TestNoProbeThatCanOnlyFail(t *testing.T) {
	cfg := testConfig()
	cfg.EnableReloaderProbes = true
	const spec = `{listenLocal: true, web: {tlsConfig: {certFile: /c, keyFile: /k, clientAuthType: RequireAnyClientCert}}}`
	sts, err := ForServer(server(t, spec), cfg).StatefulSet(testInputs())
	if err != nil {
		t.Fatal(err)
	}
	if c := find(t, sts.Spec.Template.Spec, "config-reloader"); c.ReadinessProbe != nil {
		t.Errorf("a probe that can only fail: %v", c.ReadinessProbe)
	}
}
