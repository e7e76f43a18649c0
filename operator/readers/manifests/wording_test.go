package manifests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/controllers/alertmanager"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Every pattern with a wording is in a CRD, and every pattern of the CRDs has a wording.
func TestPatternsStandInTheCRDs(t *testing.T) {
	files, err := filepath.Glob("../../../deploy/crds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no CRDs", err)
	}
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for text := range patterns {
		if _, err := regexp.Compile(text); err != nil {
			t.Error(err)
		}
		if !strings.Contains(all.String(), "pattern: "+text+"\n") {
			t.Errorf("no CRD has the pattern %s", text)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)pattern: (.*)$`).FindAllStringSubmatch(all.String(), -1) {
		if _, known := patterns[strings.Trim(m[1], "'")]; !known {
			t.Errorf("no words for the pattern %s", m[1])
		}
	}
}

func TestMeant(t *testing.T) {
	for text, want := range map[string]string{
		"1 m": "1m", "5 minutes": "5m", "300": "300s", "15 d": "15d", "30 seconds": "30s", "2 Hrs": "2h", "10sec": "10s", "1mins": "1m",
		"2months": "60d", "1 mo": "30d", "1.5h": "90m", "1.5 d": "36h", "0.5s": "500ms", "1.23456d": "", "soon": "", "": "", "1 fortnight": "",
	} {
		if got := meantDuration(text); got != want {
			t.Errorf("duration %q: %q, want %q", text, got, want)
		}
		if got := meantDuration(want); want != "" && got != want {
			t.Errorf("duration %q is not what it proposes", want)
		}
	}
	for meant, want := range map[string]string{meantDuration("6M"): "6m for minutes, or 180d for months", meantHours("1M"): "1m for minutes, or 720h for months"} {
		if meant != want {
			t.Errorf("got %q, want %q", meant, want)
		}
	}
	for text, want := range map[string]string{"20Gi": "20GiB", "20GB": "20GB", "20 gb": "20GB", "512m": "512MB", "100": "100B", "1.5 TiB": "1.5TiB", "much": "", "5i": ""} {
		if got := meantSize(text); got != want {
			t.Errorf("size %q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"50GB": "50G", "50GiB": "50Gi", "50 gi": "50Gi", "much": ""} {
		if got := meantQuantity(text); got != want {
			t.Errorf("quantity %q: %q, want %q", text, got, want)
		}
	}
}

// Fields of other formats, or at the wrong level, get an explanation.
func TestConfusions(t *testing.T) {
	const (
		server     = "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: x}\nspec: "
		agent      = "apiVersion: monitoring.coreos.com/v1alpha1\nkind: PrometheusAgent\nmetadata: {name: x}\nspec: "
		monitor    = "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: x}\nspec: "
		podMonitor = "apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: x}\nspec: "
		rule       = "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: x}\n"
		config     = "apiVersion: monitoring.coreos.com/v1alpha1\nkind: AlertmanagerConfig\nmetadata: {name: x}\nspec: "
		beta       = "apiVersion: monitoring.coreos.com/v1beta1\nkind: AlertmanagerConfig\nmetadata: {name: x}\nspec: "
		manager    = "apiVersion: monitoring.coreos.com/v1\nkind: Alertmanager\nmetadata: {name: x}\nspec: "
		config1    = "apiVersion: monitoring.coreos.com/v1alpha1\nkind: ScrapeConfig\nmetadata: {name: x}\nspec: "
		probe      = "apiVersion: monitoring.coreos.com/v1\nkind: Probe\nmetadata: {name: x}\nspec: "
	)
	for name, tc := range map[string]struct{ text, want string }{
		"a value of the chart":                 {server + "{storageSpec: {}}", "spec.storageSpec: unknown field: a value of the Helm chart; the field is storage"},
		"the chart's own level":                {server + "{prometheusSpec: {}}", "spec.prometheusSpec: unknown field: a value of the Helm chart; its fields stand directly in spec"},
		"a nil selector":                       {server + "{serviceMonitorSelectorNilUsesHelmValues: false}", "a value of the Helm chart; leave it out and set the selector itself"},
		"existingSecret":                       {server + "{thanos: {objectStorageConfig: {existingSecret: {}, key: a}}}", "spec.thanos.objectStorageConfig.existingSecret: unknown field: a value of the Helm chart; name and key of the Secret stand directly here"},
		"a list for a Secret":                  {server + "{additionalScrapeConfigs: [{job_name: a}]}", "spec.additionalScrapeConfigs: want a reference to a key of a Secret, {name: …, key: …}, got a list (a value of the Helm chart): put the list into a Secret"},
		"a password in the open":               {server + "{remoteWrite: [{url: 'https://a', basicAuth: {password: hunter2}}]}", "spec.remoteWrite[0].basicAuth.password: want a reference to a key of a Secret, {name: …, key: …}, not the value itself, got a string"},
		"a level too high":                     {server + "{storage: {volumeClaimTemplate: {storageClassName: gp2}}}", "spec.storage.volumeClaimTemplate.storageClassName: unknown field, it belongs to spec.storage.volumeClaimTemplate.spec"},
		"two levels too high":                  {server + "{storage: {resources: {}}}", "spec.storage.resources: unknown field: it belongs to volumeClaimTemplate.spec"},
		"a level too deep":                     {monitor + "{selector: {}, endpoints: [{port: a, namespaceSelector: {any: true}}]}", "spec.endpoints[0].namespaceSelector: unknown field, it belongs to spec"},
		"an endpoint's field":                  {monitor + "{selector: {}, endpoints: [], interval: 30s}", "spec.interval: unknown field, it belongs to spec.endpoints[]"},
		"beside spec":                          {rule + "groups: []", "groups: unknown field, it belongs to spec"},
		"targets of a probe":                   {probe + "{prober: {url: a}, targets: {static: [a]}}", "spec.targets.static: unknown field, it belongs to spec.targets.staticConfig"},
		"labels without matchLabels":           {monitor + "{selector: {app: web}, endpoints: []}", "spec.selector.app: unknown field: labels belong in matchLabels"},
		"a typo of matchLabels":                {monitor + "{selector: {matchLables: {a: b}}, endpoints: []}", `spec.selector.matchLables: unknown field, did you mean "matchLabels"?`},
		"matchNames in a selector":             {server + "{serviceMonitorNamespaceSelector: {matchNames: [a]}}", "namespaces by name are matchLabels of kubernetes.io/metadata.name"},
		"labels in namespaceSelector":          {monitor + "{selector: {}, endpoints: [], namespaceSelector: {matchLabels: {a: b}}}", "namespaces are given by name here"},
		"rules of an agent":                    {agent + "{ruleSelector: {}}", "spec.ruleSelector: unknown field: only a Prometheus has it; an agent stores nothing"},
		"another kind of monitor":              {monitor + "{selector: {}, endpoints: [], podMetricsEndpoints: []}", "spec.podMetricsEndpoints: unknown field: a ServiceMonitor calls them endpoints"},
		"Prometheus' own names":                {monitor + "{selector: {}, endpoints: [{metrics_path: /m}]}", "spec.endpoints[0].metrics_path: unknown field: write path"},
		"an annotation of a rule":              {rule + "spec: {groups: [{name: a, rules: [{alert: A, expr: up, severity: page}]}]}", "rules[0].severity: unknown field: it is a label: labels: {severity: …}"},
		"a duration that is a number":          {rule + "spec: {groups: [{name: a, rules: [{alert: A, expr: up, for: 300}]}]}", "rules[0].for: want a duration with its unit, as a string such as 30s, got a number without unit; write 300s"},
		"a duration in words":                  {rule + "spec: {groups: [{name: a, interval: 1 m}]}", "spec.groups[0].interval: want a duration such as 30s, 5m or 1h30m: integers with the units y, w, d, h, m, s and ms, without blanks; write 1m"},
		"a size without B":                     {server + "{retentionSize: 20Gi}", "spec.retentionSize: want a size such as 512MB or 20GiB: a number, a unit and B, without blanks; write 20GiB"},
		"a quantity with B":                    {server + "{storage: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 50GB}}}}}}", "want a quantity such as 500m, 2, 50G or 50Gi; write 50G"},
		"an action in another order":           {monitor + "{selector: {}, endpoints: [{metricRelabelings: [{action: droplabel}]}]}", `"labelkeep", "lowercase", "uppercase", "keepequal", "dropequal"; did you mean "labeldrop"?`},
		"an action with another name":          {monitor + "{selector: {}, endpoints: [{relabelings: [{action: add}]}]}", `"dropequal"; did you mean "replace"?`},
		"an action that nobody knows":          {monitor + "{selector: {}, endpoints: [{metricRelabelings: [{action: remove}]}]}", `"remove" is not one of the supported values: "replace", "keep"`},
		"labels below annotations":             {rule + "spec: {groups: [{name: a, rules: [{alert: A, expr: up, annotations: {labels: {severity: page}}}]}]}", "annotations.labels: want a string, got an object (is it indented too far?)"},
		"endpoints of a PodMonitor":            {podMonitor + "{selector: {}, endpoints: [{port: a}]}", "spec.endpoints: unknown field: a PodMonitor calls them podMetricsEndpoints"},
		"a Secret for basicAuth":               {server + "{remoteWrite: [{url: 'https://a', basicAuth: {secretName: a}}]}", "basicAuth.secretName: unknown field: write username and password, each as {name: …, key: …} of a Secret"},
		"a port that is a number":              {monitor + "{selector: {}, endpoints: [{port: 80}]}", "spec.endpoints[0].port: want the name of a port of the Service, got a number; write its name, or targetPort: 80 for a port that containers declare"},
		"a container port that is a number":    {podMonitor + "{selector: {}, podMetricsEndpoints: [{port: 80}]}", "want the name of a container port, got a number; write its name, or portNumber: 80"},
		"targets apart from their labels":      {config1 + "{staticConfigs: [{targets: [a]}, {labels: {a: b}}]}", "spec.staticConfigs[1].targets: is required (is there a dash too many before this item?)"},
		"an alert apart from its expression":   {rule + "spec: {groups: [{name: a, rules: [{alert: A}, {expr: up, for: 5m}]}]}", "rules[0].expr: is required (is there a dash too many before the next item?)"},
		"a key twice":                          {rule + "spec:\n  groups:\n  - name: a\n    rules: []\n    name: b", `line 8: "name" is there twice in one object: remove one of them`},
		"a Secret that is not base64":          {"apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {a: ok, b: hunter2}", `data["b"]: want base64, and this is none: write the text as it is below stringData`},
		"a list without dash":                  {monitor + "{selector: {}, endpoints: {port: a}}", "spec.endpoints: want a list, got an object (is a dash missing?)"},
		"a name that YAML takes for a boolean": {monitor + "{selector: {matchLabels: {a: yes}}, endpoints: []}", "spec.selector.matchLabels.a: want a string, got true or false (YAML also reads on, off, yes and no as such): put it in quotes"},
		"two groups of a name":                 {rule + "spec: {groups: [{name: a}, {name: a}]}", `spec.groups[1]: name "a" is that of spec.groups[0] already, and has to be unique in the list: change one of them`},
		"labels of a map, as a list":           {monitor + "{selector: {matchLabels: [{app: web}]}, endpoints: []}", "spec.selector.matchLabels: want an object, got a list (is there a dash too many?)"},
		"labels of the object in spec":         {monitor + "{selector: {}, endpoints: [], labels: {a: b}}", "spec.labels: unknown field: it belongs to metadata"},
		"targets of a probe as a list":         {probe + "{prober: {url: a}, targets: [a]}", "spec.targets: want an object, got a list; write the targets into staticConfig: {static: […]}"},
		"targets of a static probe":            {probe + "{prober: {url: a}, targets: {staticConfig: {targets: [a]}}}", "targets: unknown field: write static"},
		"relabelings of a probe":               {probe + "{prober: {url: a}, targets: {staticConfig: {static: [a]}}, relabelings: []}", "spec.relabelings: unknown field: write relabelingConfigs in"},
		"an Alertmanager by URL":               {server + "{alerting: {alertmanagers: [{url: 'http://a'}]}}", "url: unknown field: the API names a Service: {namespace: …, name: …, port: …}"},
		"matchers as a map":                    {config + "{route: {receiver: a, matchers: {a: b}}, receivers: [{name: a}]}", "spec.route.matchers: want a list, got an object; write [{name: …, value: …, matchType: …}]"},
		"matchers as text":                     {config + "{inhibitRules: [{sourceMatch: ['a=b']}]}", "sourceMatch[0]: want an object, got a string; write {name: …, value: …, matchType: …}"},
		"global settings of a team":            {config + "{global: {}}", "spec.global: unknown field: global settings are those of the Alertmanager"},
		"a day in short":                       {config + "{muteTimeIntervals: [{name: a, timeIntervals: [{weekdays: [sat]}]}]}", "weekdays[0]: want a day such as monday"},
		"days of an Alertmanager":              {manager + "{retention: 5d}", "spec.retention: want a duration such as 30s, 5m or 1h30m: integers with the units h, m, s and ms, without blanks; write 120h"},
		"the configuration of an Alertmanager": {manager + "{config: {}}", "spec.config: unknown field: a value of the Helm chart; put it into a Secret"},
		"what else an agent lacks":             {agent + "{retention: 1d}", "spec.retention: unknown field: only a Prometheus has it"},
		"a block in a selector":                {monitor + "{selector: {matchLabels: {a: b}, namespaceSelector: {any: true}}, endpoints: []}", "spec.selector.namespaceSelector: unknown field, it belongs to spec"},
		"a volume's size":                      {server + "{storage: {volumeClaimTemplate: {spec: {resources: {storage: 1Gi}}}}}", "resources.storage: unknown field: write it below requests"},
		"memory without requests":              {server + "{resources: {memory: 1Gi}}", "spec.resources.memory: unknown field: write it below requests or limits"},
		"days":                                 {server + "{retention: 15}", "got a number without unit; write 15d"},
		"days as a text":                       {server + "{retention: '15'}", "without blanks; write 15d"},
		"hours as a text":                      {manager + "{retention: '120'}", "without blanks; write 120h"},
		"seconds as a text":                    {server + "{scrapeInterval: '15'}", "without blanks; write 15s"},
		"time intervals of v1alpha1":           {beta + "{route: {receiver: a}, receivers: [{name: a}], muteTimeIntervals: []}", "spec.muteTimeIntervals: unknown field: v1beta1 calls them timeIntervals"},
		"time intervals of v1beta1":            {config + "{route: {receiver: a}, receivers: [{name: a}], timeIntervals: []}", "spec.timeIntervals: unknown field: v1alpha1 calls them muteTimeIntervals"},
		"more of a time interval":              {beta + "{route: {receiver: a}, receivers: [{name: a}], muteTimeIntervals: [{name: b}]}", "spec.muteTimeIntervals: unknown field: v1beta1 calls them timeIntervals"},
		"replicas of a DaemonSet":              {agent + "{mode: DaemonSet, replicas: 2}", "spec.replicas: cannot be set when mode is DaemonSet"},
		"shards of a DaemonSet":                {agent + "{mode: DaemonSet, shards: 2}", "spec.shards: cannot be greater than 1 when mode is DaemonSet"},
		"a group without its role":             {config1 + "{dockerSwarmSDConfigs: [], awsSDConfigs: [{role: EC2, clusters: [a]}]}", "spec.awsSDConfigs[0].clusters: can only be used with the roles"},
		"a fraction":                           {server + "{retention: 1.5d}", "without blanks; write 36h"},
		"a quoted number":                      {server + "{replicas: '2'}", "spec.replicas: want an integer, got a string: write it without quotes"},
		"a quoted boolean":                     {server + "{walCompression: 'true'}", "spec.walCompression: want true or false, got a string: write it without quotes"},
		"an item without its list":             {monitor + "{selector: {}, endpoints: [{metricRelabelings: [{sourceLabels: __name__}]}]}", "sourceLabels: want a list, got a string: write it as an item, with a dash or in brackets"},
		"several expressions":                  {monitor + "{selector: {}, endpoints: [{metricRelabelings: [{regex: [a, b]}]}]}", "regex: want a string, got a list: join the items with |"},
		"two manifests without ---":            {monitor + "{selector: {}, endpoints: []}\n" + monitor + "{selector: {}}", "apiVersion or kind is there twice; put a line --- between two manifests"},
		"a volume's Secret by name":            {server + "{volumes: [{name: a, secret: {name: x}}]}", "spec.volumes[0].secret.name: unknown field: write secretName"},
		"the content of a Secret":              {server + "{thanos: {objectStorageConfig: {type: S3, config: {bucket: a}}}}", "objectStorageConfig.config: unknown field: the content belongs in a Secret; write its name and the key here"},
		"Alertmanagers of the chart":           {server + "{alertingEndpoints: []}", "the field is alerting: {alertmanagers: […]}"},
		"an image in parts":                    {server + "{image: {repository: a, tag: b}}", "spec.image: want a string, got an object (a value of the Helm chart); write registry/repository:tag"},
		"a version that is a number":           {server + "{version: 2.53}", "spec.version: want a string, got a number; write all parts of the version and put it in quotes"},
		"a label that is a fraction":           {server + "{externalLabels: {a: 1.1}}", "spec.externalLabels.a: want a string, got a number: put it in quotes"},
		"a class of storage":                   {server + "{storage: {class: gp2}}", "spec.storage.class: unknown field: it belongs to volumeClaimTemplate.spec, as storageClassName"},
		"the size of storage":                  {server + "{storage: {size: 1Gi}}", "write volumeClaimTemplate: {spec: {resources: {requests: {storage: …}}}}"},
		"a setting of containers":              {server + "{securityContext: {readOnlyRootFilesystem: true}}", "a setting of containers, not of the pod"},
		"a ServiceAccount":                     {server + "{serviceAccount: a}", "spec.serviceAccount: unknown field: write serviceAccountName"},
		"a file of a PodMonitor":               {podMonitor + "{selector: {}, podMetricsEndpoints: [{tlsConfig: {caFile: /ca}}]}", "tlsConfig.caFile: unknown field: objects of this kind cannot refer to files in the pods of the workload; write ca: {secret: {name: …, key: …}}"},
		"a token of a PodMonitor":              {podMonitor + "{selector: {}, podMetricsEndpoints: [{bearerTokenFile: /t}]}", "bearerTokenFile: unknown field: objects of this kind cannot refer to files in the pods of the workload; write authorization"},
		"steps of a probe":                     {probe + "{prober: {url: a}, targets: {staticConfig: {static: [a], relabelConfigs: []}}}", "spec.targets.staticConfig.relabelConfigs: unknown field: write relabelingConfigs"},
		"steps of ingresses":                   {probe + "{prober: {url: a}, targets: {ingress: {relabelings: []}}}", "spec.targets.ingress.relabelings: unknown field: write relabelingConfigs"},
		"a webhook of Discord":                 {config + "{route: {receiver: a}, receivers: [{name: a, discordConfigs: [{webhookUrl: a}]}]}", "discordConfigs[0].webhookUrl: unknown field: write apiURL: {name: …, key: …}"},
		"an optional key":                      {beta + "{route: {receiver: a}, receivers: [{name: a, slackConfigs: [{apiURL: {name: a, key: b, optional: true}}]}]}", "apiURL.optional: unknown field: v1beta1 has no optional keys: remove it"},
		"a block in itself":                    {monitor + "{spec: {selector: {}, endpoints: []}}", "spec.spec: unknown field: it is in itself: remove one of the two lines"},
		"a quantity with a blank":              {server + "{resources: {requests: {memory: 512M i}}}", "write 512Mi"},
		"a prober by URL":                      {probe + "{prober: 'a:9115', targets: {staticConfig: {static: [a]}}}", "spec.prober: want an object, got a string; write {url: …}"},
		"a namespace by name":                  {monitor + "{selector: {}, endpoints: [], namespaceSelector: app}", "spec.namespaceSelector: want an object, got a string; write {matchNames: […]}"},
		"namespaces in a list":                 {monitor + "{selector: {}, endpoints: [], namespaceSelector: [app]}", "spec.namespaceSelector: want an object, got a list; write {matchNames: […]}"},
		"a Secret to mount as an object":       {server + "{secrets: [{name: a}]}", "spec.secrets[0]: want a string, got an object; write the name alone"},
		"a pull Secret by name":                {server + "{imagePullSecrets: [a]}", "spec.imagePullSecrets[0]: want an object, got a string; write {name: …}"},
		"an argument as text":                  {server + "{additionalArgs: [a]}", "spec.additionalArgs[0]: want an object, got a string; write {name: …, value: …}"},
		"a colon without a blank":              {monitor + "{selector: {}, endpoints: ['port:metrics']}", "spec.endpoints[0]: want an object, got a string (is a blank missing after a colon?)"},
		"a blank that is none":                 {monitor + "{selector: {}, endpoints: [{\u00a0interval: 10s}]}", "there is a character in it that looks like a blank and is none"},
		"quotes of a word processor":           {monitor + "{selector: {}, endpoints: [{interval: “30s”}]}", "“ and ” are part of the value"},
		"a variable":                           {monitor + "{selector: {}, endpoints: [{interval: '${INTERVAL}'}]}", "interval: has a placeholder that nothing has replaced"},
		"months":                               {server + "{retention: 6M}", "without blanks; write 6m for minutes, or 180d for months"},
		"a name beside metadata":               {"apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nname: x\nmetadata:\nspec: {}\n", "name: stands at the top level, so the Prometheus has no name: indent it below metadata"},
		"a name with capitals":                 {"apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: My_App}\n", "metadata.name: want a name of lower case letters, digits, - and . that begins and ends with a letter or digit; write my-app"},
		"a bad value of a label":               {"apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: x, labels: {a: b, team: a b}}\n", `metadata.labels["team"]: want a value of at most 63 letters, digits, -, _ and .`},
		"a bad name of a label":                {"apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: x, labels: {a b: c}}\n", `metadata.labels["a b"]: want a name of at most 63 letters, digits, -, _ and .`},
		"a Secret in plain text":               {"apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {ca.crt: 'hunter2!'}\n", `data["ca.crt"]: want base64, and this is none: write the text as it is below stringData`},
		"a column too far to the left":         {monitor + "\n  endpoints:\n  - port: a\n   path: b", "check the indentation here and above"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load([]string{folder(t, map[string]string{"a.yaml": tc.text}) + "/a.yaml"}, append(kinds(), alertmanager.Kind(workload.Config{})))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v\nwant %s", err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Error("a value of a Secret is in the message")
			}
		})
	}
}

// One mistake is one fault, without consequential ones.
func TestOneFault(t *testing.T) {
	const head = "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: x}\nspec: "
	for text, want := range map[string]string{
		"{thanos: {objectStorageConfig: {existingSecret: {name: a}}}}": "existingSecret",
		"{additionalScrapeConfigsSecret: {enabled: true, name: a}}":    "spec.additionalScrapeConfigsSecret: unknown field: a value of the Helm chart",
		"{serviceMonitorNamespaceSelector: {matchNames: [a]}}":         "matchNames",
		"{resources: {requests: {cpu: 0.5}}}":                          "spec.resources.requests.cpu: want an integer or a string: put a number with decimals in quotes",
		"{alerting: {alertmanagers: [{url: 'http://a'}]}}":             "url",
		"{spec: {replicas: 1}}":                                        "spec.spec: unknown field: it is in itself",
		"{resources: {memory: 1Gi}}":                                   "memory",
		"{thanos: {objectStorageConfig: {config: {bucket: a}}}}":       "objectStorageConfig.config",
	} {
		_, err := Load([]string{folder(t, map[string]string{"a.yaml": head + text}) + "/a.yaml"}, kinds())
		if err == nil || strings.Count(err.Error(), "\n") != 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// Two items are not taken for one if they have a field in common.
func TestNoDashTooMany(t *testing.T) {
	const text = "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: x}\nspec: {groups: [{name: a, rules: [{alert: A}, {alert: B, expr: up}]}]}"
	_, err := Load([]string{folder(t, map[string]string{"a.yaml": text}) + "/a.yaml"}, kinds())
	if err == nil || !strings.HasSuffix(err.Error(), "spec.groups[0].rules[0].expr: is required") {
		t.Errorf("got %v", err)
	}
}
