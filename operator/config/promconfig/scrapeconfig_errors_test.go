package promconfig

import (
	"cmp"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kyaml "sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// TestDiscoveryErrors: an invalid entry of each mechanism is rejected with the given
// error; "" means valid. The entry is the second one of its list.
func TestDiscoveryErrors(t *testing.T) {
	const (
		oauth2 = `oauth2: {clientId: {secret: {name: s, key: k}}, clientSecret: {name: s, key: k}, tokenUrl: "http://x"}`
		basic  = `basicAuth: {username: {name: s, key: k}, password: {name: s, key: k}}`
		scw    = `accessKey: SCWABCDEFGHIJ0123456, secretKey: {name: s, key: uuid}, projectID: 11111111-2222-3333-4444-555555555555, role: Instance`
		noURL  = `: is not an http or https URL with a host`
	)
	for _, tc := range []struct{ field, entry, want string }{
		{"staticConfigs", `targets: [a], labels: {"": x}`, `.labels: "" is not a valid label name for the version`},
		{"staticConfigs", `targets: [a, ""]`, `.targets: one of them is empty`},
		{"staticConfigs", `targets: ["http://a/b"]`, ``},
		{"fileSDConfigs", `files: []`, `.files: is empty`},
		{"fileSDConfigs", `files: [a.json, a.txt]`, `.files[1]: "a.txt" is not a path of JSON or YAML files`},
		{"fileSDConfigs", `files: [a.json], refreshInterval: "0"`, `.refreshInterval: "0" is not more than 0`},
		{"fileSDConfigs", `files: [a.json], refreshInterval: ""`, ``},
		{"httpSDConfigs", `url: "http:///x"`, `.url` + noURL},
		{"httpSDConfigs", `url: "ftp://x"`, `.url` + noURL},
		{"httpSDConfigs", `url: "http://user:hunter2@%zz"`, `.url` + noURL},
		{"httpSDConfigs", `url: "http://x", refreshInterval: 0s`, `.refreshInterval: "0s" is not more than 0`},
		{"httpSDConfigs", `url: "http://x", refreshInterval: 30ms`, `.refreshInterval: 30ms is shorter than 100 ms, the least interval, because the server would do little else: did you mean 30s?`},
		{"httpSDConfigs", `url: "http://x", refreshInterval: 100ms`, ``},
		{"fileSDConfigs", `files: [a.json], refreshInterval: 1ms`, `.refreshInterval: 1ms is shorter than 100 ms, the least interval, because the server would do little else: did you mean 1s?`},
		{"dnsSDConfigs", `names: [a], refreshInterval: 1ms`, `.refreshInterval: 1ms is shorter than 100 ms, the least interval, because the server would do little else: did you mean 1s?`},
		{"ec2SDConfigs", `refreshInterval: 5ms`, `.refreshInterval: 5ms is shorter than 100 ms, the least interval, because the server would do little else: did you mean 5s?`},
		{"httpSDConfigs", `url: "http://x", refreshInterval: often`, `.refreshInterval: "often" is not a duration`},
		{"httpSDConfigs", `url: "http://x", authorization: {}, ` + basic, `: basicAuth and authorization are mutually exclusive: remove one of them`},
		{"httpSDConfigs", `url: "http://x", authorization: {}, ` + oauth2, `: authorization and oauth2 are mutually exclusive: remove one of them`},
		{"httpSDConfigs", `url: "http://x", authorization: {type: BASIC}`, `.authorization.type: "BASIC" is not allowed here, use basicAuth`},
		{"httpSDConfigs", `url: "http://x", basicAuth: {username: {name: s, key: nope}}`, `.basicAuth.username.key: Secret "demo/s" has no key "nope"`},
		{"httpSDConfigs", `url: "http://x", oauth2: {clientId: {}, clientSecret: {key: ""}, tokenUrl: "http://x"}`, `.oauth2.clientId: neither secret nor configMap is given`},
		{"httpSDConfigs", `url: "http://x", tlsConfig: {ca: {secret: {name: s, key: k}}}`, `.tlsConfig.ca: not a PEM block, which begins with -----BEGIN CERTIFICATE-----`},
		{"httpSDConfigs", `url: "http://x", tlsConfig: {keySecret: {name: s, key: k}}`, `.tlsConfig: a key needs a certificate: set cert`},
		{"httpSDConfigs", `url: "http://x", noProxy: a`, `: noProxy needs proxyUrl`},
		{"httpSDConfigs", `url: "http://x", proxyUrl: "http://p", proxyConnectHeader: {h: [{name: s, key: nope}]}`, `.proxyConnectHeader["h"][0].key: Secret "demo/s" has no key "nope"`},
		{"kubernetesSDConfigs", `role: Pod, apiServer: "http://%zz"`, `.apiServer: is not a URL`},
		{"kubernetesSDConfigs", `role: Pod, apiServer: a, namespaces: {ownNamespace: true}`, `.namespaces.ownNamespace: conflicts with apiServer`},
		{"kubernetesSDConfigs", `role: Pod, ` + basic, `.basicAuth: needs apiServer`},
		{"kubernetesSDConfigs", `role: Pod, authorization: {}`, `.authorization: needs apiServer`},
		{"kubernetesSDConfigs", `role: Pod, ` + oauth2, `.oauth2: needs apiServer`},
		{"kubernetesSDConfigs", `role: Pod, tlsConfig: {insecureSkipVerify: true}`, `.tlsConfig: needs apiServer`},
		{"kubernetesSDConfigs", `role: Pod, tlsConfig: {minVersion: TLS12}`, `.tlsConfig: needs apiServer`},
		{"kubernetesSDConfigs", `role: Pod, proxyUrl: "http://p"`, `.proxyUrl: needs apiServer`},
		{"kubernetesSDConfigs", `role: Pod, proxyFromEnvironment: true`, `.proxyFromEnvironment: needs apiServer`},
		{"kubernetesSDConfigs", `role: Pod, followRedirects: false`, `.followRedirects: needs apiServer`},
		{"kubernetesSDConfigs", `role: Pod, enableHTTP2: false`, `.enableHTTP2: needs apiServer`},
		{"kubernetesSDConfigs", `role: Node, selectors: [{role: Pod}]`, `.selectors[0].role: with role node, selectors are for role node only, not pod`},
		{"kubernetesSDConfigs", `role: Endpoints, selectors: [{role: Pod}, {role: Pod}]`, `.selectors[1].role: pod occurs twice`},
		{"kubernetesSDConfigs", `role: Pod, selectors: [{role: Pod, label: "app: web, tier: db"}]`, `.selectors[0].label: "app: web, tier: db" is not a label selector: write app=web,tier=db`},
		{"kubernetesSDConfigs", `role: Pod, selectors: [{role: Pod, field: "status.phase: Running"}]`, `.selectors[0].field: "status.phase: Running" is not a field selector: write status.phase=Running`},
		{"kubernetesSDConfigs", `role: Pod, selectors: [{role: Pod, label: "a in b"}]`, `.selectors[0].label: "a in b" is not a label selector: unable to parse requirement: found 'b' expected: '('`},
		{"kubernetesSDConfigs", `role: Pod, selectors: [{role: Pod, field: "a"}]`, `.selectors[0].field: "a" is not a field selector: invalid selector: 'a'; can't understand 'a'`},
		{"consulSDConfigs", `server: " "`, `.server: is empty`},
		{"consulSDConfigs", `server: a, tokenRef: {name: s, key: k}, authorization: {}`, `.tokenRef: conflicts with authorization and oauth2`},
		{"consulSDConfigs", `server: a, tokenRef: {name: s, key: k}, ` + oauth2, `.tokenRef: conflicts with authorization and oauth2`},
		{"consulSDConfigs", `server: a, tokenRef: {name: s, key: k}, ` + basic, ``},
		{"consulSDConfigs", `server: a, tokenRef: {name: s, key: nope}`, `.tokenRef.key: Secret "demo/s" has no key "nope"`},
		{"consulSDConfigs", `server: a, refreshInterval: 0s`, `.refreshInterval: "0s" is not more than 0`},
		{"dnsSDConfigs", `names: [a], type: A`, `.port: records of type "A" need one`},
		{"dnsSDConfigs", `names: [a], type: AAAA, port: 0`, `.port: records of type "AAAA" need one`},
		{"dnsSDConfigs", `names: []`, `.names: is empty`},
		{"dnsSDConfigs", `names: [a, a], refreshInterval: 0s`, `.refreshInterval: "0s" is not more than 0`},
		{"ec2SDConfigs", `accessKey: {name: s, key: nope}`, `.accessKey.key: Secret "demo/s" has no key "nope"`},
		{"ec2SDConfigs", `secretKey: {name: nope, key: k}`, `.secretKey.name: Secret "demo/nope" does not exist`},
		{"ec2SDConfigs", `filters: [{name: a, values: [b]}, {name: c, values: []}]`, `.filters[1].values: is empty`},
		{"ec2SDConfigs", ``, `.region: is missing, and the server would ask its machine for it while it loads the configuration of all: elsewhere than on AWS it refuses the configuration then; write the region, or set AWS_REGION of container prometheus in the workload`},
		{"ec2SDConfigs", `refreshInterval: 0s`, `.refreshInterval: "0s" is not more than 0`},
		{"azureSDConfigs", `subscriptionID: a`, `.tenantID: is needed for OAuth`},
		{"azureSDConfigs", `subscriptionID: a, authenticationMethod: OAuth, tenantID: t`, `.clientID: is needed for OAuth`},
		{"azureSDConfigs", `subscriptionID: a, tenantID: t, clientID: c`, `.clientSecret: is needed for OAuth`},
		{"azureSDConfigs", `subscriptionID: a, tenantID: t, clientID: c, clientSecret: {name: s, key: empty}`, `.clientSecret: the value is empty`},
		{"azureSDConfigs", `subscriptionID: a, authenticationMethod: SDK, basicAuth: {username: {name: s, key: nope}}`, `.basicAuth.username.key: Secret "demo/s" has no key "nope"`},
		{"azureSDConfigs", `subscriptionID: a, authenticationMethod: SDK, refreshInterval: 0s`, `.refreshInterval: "0s" is not more than 0`},
		{"gceSDConfigs", `project: a, zone: b, refreshInterval: 0s`, `.refreshInterval: "0s" is not more than 0`},
		{"openstackSDConfigs", `role: Instance, region: a, password: {name: s, key: nope}`, `.password.key: Secret "demo/s" has no key "nope"`},
		{"openstackSDConfigs", `role: Instance, region: a, applicationCredentialSecret: {name: s, key: nope}`, `.applicationCredentialSecret.key: Secret "demo/s" has no key "nope"`},
		{"openstackSDConfigs", `role: Instance, region: a, tlsConfig: {cert: {secret: {name: s, key: k}}}`, `.tlsConfig: a certificate needs a key: set keySecret`},
		{"digitalOceanSDConfigs", `authorization: {type: basic}`, `.authorization.type: "basic" is not allowed here, use basicAuth`},
		{"kumaSDConfigs", `server: "http://"`, `.server` + noURL},
		{"kumaSDConfigs", `server: "http://k", fetchTimeout: often`, `.fetchTimeout: "often" is not a duration`},
		{"kumaSDConfigs", `server: "http://k", refreshInterval: 0s`, `.refreshInterval: "0s" is not more than 0`},
		{"eurekaSDConfigs", `server: "http:///eureka"`, `.server` + noURL},
		{"dockerSDConfigs", `host: "tcp://%zz"`, `.host: is not a URL`},
		{"dockerSDConfigs", `host: "tcp://h", filters: [{name: a, values: []}]`, `.filters[0].values: is empty`},
		{"dockerSwarmSDConfigs", `host: "h", role: Tasks`, `.host: is not a URL`},
		{"linodeSDConfigs", `refreshInterval: 0s`, `.refreshInterval: "0s" is not more than 0`},
		{"hetznerSDConfigs", `role: robot, authorization: {}, ` + basic, `: basicAuth and authorization are mutually exclusive: remove one of them`},
		{"nomadSDConfigs", `server: "nomad:4646"`, `.server` + noURL},
		{"puppetDBSDConfigs", `url: "puppet", query: q`, `.url` + noURL},
		{"puppetDBSDConfigs", `url: "http://puppet", query: ""`, `.query: is empty`},
		{"lightSailSDConfigs", ``, `.region: is missing, and the server would ask its machine for it while it loads the configuration of all: elsewhere than on AWS it refuses the configuration then; write the region, or set AWS_REGION of container prometheus in the workload`},
		{"lightSailSDConfigs", `accessKey: {name: s, key: nope}`, `.accessKey.key: Secret "demo/s" has no key "nope"`},
		{"ovhcloudSDConfigs", `applicationKey: a, applicationSecret: {name: s, key: empty}, consumerKey: {name: s, key: k}, service: VPS`, `.applicationSecret: the value is empty`},
		{"ovhcloudSDConfigs", `applicationKey: a, applicationSecret: {name: s, key: k}, consumerKey: {name: s, key: empty}, service: VPS`, `.consumerKey: the value is empty`},
		{"scalewaySDConfigs", scw, ``},
		{"scalewaySDConfigs", `accessKey: SCW, secretKey: {name: s, key: uuid}, projectID: a, role: Instance`, `.accessKey: the value is not SCW and 17 capital letters or digits`},
		{"scalewaySDConfigs", `accessKey: SCWABCDEFGHIJ0123456, secretKey: {name: s, key: k}, projectID: a, role: Instance`, `.secretKey: the value is not a UUID`},
		{"scalewaySDConfigs", `accessKey: SCWABCDEFGHIJ0123456, secretKey: {name: s, key: uuid}, projectID: a, role: Instance`, `.projectID: "a" is not a UUID`},
		{"scalewaySDConfigs", scw + `, zone: paris`, `.zone: "paris" is not of the form fr-par-1`},
		{"scalewaySDConfigs", scw + `, apiURL: "http://%zz"`, `.apiURL: is not a URL`},
		{"ionosSDConfigs", `datacenterID: a, authorization: {credentials: {name: s, key: nope}}, ` + oauth2, `.authorization.credentials.key: Secret "demo/s" has no key "nope"`},
		{"marathonSDConfigs", `servers: []`, `.servers: is empty`},
		{"marathonSDConfigs", `servers: ["http://m", "m:8080"]`, `.servers[1]` + noURL},
		{"marathonSDConfigs", `servers: ["http://m/"]`, `.servers[0]: ends with a slash, but the path of the API is appended as it is`},
		{"marathonSDConfigs", `servers: ["http://m"], authToken: {name: s, key: k}, authorization: {}`, `: authToken and authorization are mutually exclusive: remove one of them`},
		{"marathonSDConfigs", `servers: ["http://m"], authToken: {name: s, key: k}, ` + oauth2, `: authToken and oauth2 are mutually exclusive: remove one of them`},
		{"marathonSDConfigs", `servers: ["http://m"], refreshInterval: 0s`, `.refreshInterval: "0s" is not more than 0`},
		{"serversetSDConfigs", `servers: [], paths: [/a]`, `.servers: is empty`},
		{"serversetSDConfigs", `servers: [a], paths: [/a, b]`, `.paths[1]: "b" does not begin with a slash`},
		{"nerveSDConfigs", `servers: [a], paths: []`, `.paths: is empty`},
		{"nerveSDConfigs", `servers: [a], paths: [/a], timeout: 0s`, `.timeout: "0s" is not more than 0`},
		{"tritonSDConfigs", `account: a, dnsSuffix: d, endpoint: e, role: CN, groups: [a]`, `.groups: are supported only with the role Container`},
		{"tritonSDConfigs", `account: a, dnsSuffix: d, endpoint: e, tlsConfig: {ca: {secret: {name: s, key: nope}}}`, `.tlsConfig.ca.secret.key: Secret "demo/s" has no key "nope"`},
		{"uyuniSDConfigs", `server: "http://", username: u, password: {name: s, key: k}`, `.server` + noURL},
		{"uyuniSDConfigs", `server: "http://u", username: u, password: {name: s, key: empty}`, `.password: the value is empty`},
		{"vultrSDConfigs", `refreshInterval: 0s`, `.refreshInterval: "0s" is not more than 0`},
		{"stackitSDConfigs", `project: p, endpoint: "http://"`, `.endpoint` + noURL},
		{"stackitSDConfigs", `project: p, serviceAccountKey: {name: s, key: k}, ` + basic, `: serviceAccountKey and basicAuth are mutually exclusive: remove one of them`},
		{"outscaleSDConfigs", `accessKey: a, secretKey: {name: s, key: empty}`, `.secretKey: the value is empty`},
		{"outscaleSDConfigs", `accessKey: a, secretKey: {name: s, key: k}, endpoint: x`, `.endpoint` + noURL},
		{"awsSDConfigs", `role: EC2, accessKey: {name: s, key: k}`, `: accessKey and secretKey must be set together`},
		{"awsSDConfigs", `role: EC2, externalID: a`, `.externalID: needs roleARN`},
		{"awsSDConfigs", `role: ECS, filters: [{name: a, values: [b]}]`, `.filters: are supported only with the roles EC2 and RDS`},
		{"awsSDConfigs", `role: EC2, clusters: [a]`, `.clusters: are supported only with the roles ECS, MSK, ElastiCache and RDS`},
		{"awsSDConfigs", `role: EC2`, `.region: is missing, and the server would ask its machine for it while it loads the configuration of all: elsewhere than on AWS it refuses the configuration then; write the region, or set AWS_REGION of container prometheus in the workload`},
		{"awsSDConfigs", `role: S3`, `.role: is not known`},
	} {
		m := &v1alpha1.ScrapeConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"}}
		text := fmt.Sprintf("%s: [%s, {%s}]", tc.field, valid[tc.field], tc.entry)
		if err := kyaml.UnmarshalStrict([]byte(text), &m.Spec); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		f := CompileScrapeConfig(m, settingsOf(t, `{}`), discoveryObjects())
		got := ""
		if f.Err != nil {
			got = f.Err.Error()
		}
		want := tc.want
		if want != "" {
			want = "spec." + tc.field + "[1]" + want
		}
		if got != want {
			t.Errorf("%s: {%s}\n got  %s\n want %s", tc.field, tc.entry, got, want)
		}
	}
}

// valid holds a valid entry of each mechanism.
var valid = map[string]string{
	"staticConfigs": `{targets: [a]}`, "fileSDConfigs": `{files: [a.json]}`, "httpSDConfigs": `{url: "http://a"}`,
	"kubernetesSDConfigs": `{role: Pod}`, "consulSDConfigs": `{server: a}`, "dnsSDConfigs": `{names: [a]}`, "ec2SDConfigs": `{region: a}`,
	"azureSDConfigs": `{subscriptionID: a, authenticationMethod: SDK}`, "gceSDConfigs": `{project: a, zone: b}`,
	"openstackSDConfigs": `{role: Instance, region: a}`, "digitalOceanSDConfigs": `{}`, "kumaSDConfigs": `{server: "http://a"}`,
	"eurekaSDConfigs": `{server: "http://a"}`, "dockerSDConfigs": `{host: "unix:///a"}`, "linodeSDConfigs": `{}`,
	"hetznerSDConfigs": `{role: hcloud}`, "nomadSDConfigs": `{server: "http://a"}`, "dockerSwarmSDConfigs": `{host: "tcp://a", role: Nodes}`,
	"puppetDBSDConfigs": `{url: "http://a", query: q}`, "lightSailSDConfigs": `{region: a}`,
	"ovhcloudSDConfigs": `{applicationKey: a, applicationSecret: {name: s, key: k}, consumerKey: {name: s, key: k}, service: VPS}`,
	"scalewaySDConfigs": `{accessKey: SCWABCDEFGHIJ0123456, secretKey: {name: s, key: uuid}, projectID: 11111111-2222-3333-4444-555555555555, role: Instance}`,
	"ionosSDConfigs":    `{datacenterID: a, authorization: {}}`, "marathonSDConfigs": `{servers: ["http://a"]}`,
	"serversetSDConfigs": `{servers: [a], paths: [/a]}`, "nerveSDConfigs": `{servers: [a], paths: [/a]}`,
	"tritonSDConfigs": `{account: a, dnsSuffix: b, endpoint: c}`, "uyuniSDConfigs": `{server: "http://a", username: b, password: {name: s, key: k}}`,
	"vultrSDConfigs": `{}`, "stackitSDConfigs": `{project: a}`, "outscaleSDConfigs": `{accessKey: a, secretKey: {name: s, key: k}}`,
	"awsSDConfigs": `{role: RDS, region: a}`,
}

func discoveryObjects() *assets.Static {
	r := &assets.Static{}
	r.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "s"}, StringData: map[string]string{
		"k": "hunter2", "empty": "", "uuid": "11111111-2222-3333-4444-555555555555",
	}})
	return r
}

// TestNameSchemes: restrictions of legacy names apply to the scheme of the workload and of the job.
func TestNameSchemes(t *testing.T) {
	const legacyOwner = `nameValidationScheme: Legacy`
	for _, tc := range []struct{ owner, spec, want string }{
		{``, `nameValidationScheme: Legacy, nameEscapingScheme: AllowUTF8`, `nameEscapingScheme: AllowUTF8 conflicts with the name validation scheme Legacy`},
		{legacyOwner, `nameEscapingScheme: AllowUTF8`, `nameEscapingScheme: AllowUTF8 conflicts with the name validation scheme Legacy`},
		{legacyOwner, `nameEscapingScheme: AllowUTF8, nameValidationScheme: UTF8`, ``},
		{legacyOwner + `, version: 3.3.0`, `nameEscapingScheme: AllowUTF8`, ``},
		{legacyOwner, `relabelings: [{targetLabel: a.b, replacement: x}]`, `relabelings[0].targetLabel: "a.b" is not a valid label name for the version: write a_b`},
		{legacyOwner, `nameValidationScheme: UTF8, relabelings: [{targetLabel: a.b, replacement: x}]`, ``},
		{``, `nameValidationScheme: Legacy, metricRelabelings: [{targetLabel: a.b, replacement: x}]`, `metricRelabelings[0].targetLabel: "a.b" is not a valid label name for the version: write a_b`},
		{`scrapeClasses: [{name: c, default: true, relabelings: [{targetLabel: a.b, replacement: x}]}]`, `nameValidationScheme: Legacy`,
			`nameValidationScheme: conflicts with the scrape class "c": relabelings[0].targetLabel: "a.b" is not a valid label name for the version: write a_b`},
		{`enforcedNamespaceLabel: a.b`, `nameValidationScheme: Legacy`, `nameValidationScheme: conflicts with the workload's enforcedNamespaceLabel "a.b"`},
		{legacyOwner, `staticConfigs: [{targets: [a], labels: {a.b: x}}]`, ``},
	} {
		m := &v1alpha1.ScrapeConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"}}
		if err := kyaml.UnmarshalStrict([]byte("{"+tc.spec+"}"), &m.Spec); err != nil {
			t.Fatal(err)
		}
		w := &goldenInput{}
		if err := w.add([]byte("kind: Prometheus\nmetadata: {namespace: default, name: test}\nspec: {" + tc.owner + "}")); err != nil {
			t.Fatal(err)
		}
		w.cluster, w.scrapes = everything, []*v1alpha1.ScrapeConfig{m}
		out, err := w.render()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(out.rejected) > 0 {
			got = out.rejected[0][len("ScrapeConfig demo/web: "):]
		}
		want := tc.want
		if want != "" {
			want = "spec." + want
		}
		if got != want {
			t.Errorf("{%s} of {%s}:\n got  %s\n want %s", tc.spec, tc.owner, got, want)
		}
		checkDocument(t, cmp.Or(w.prometheus.Spec.Version, wellknown.DefaultPrometheusVersion), out.text)
	}
}

// TestUnreachableDiscovery: an unreachable cluster is a temporary error, at any depth of the reference.
func TestUnreachableDiscovery(t *testing.T) {
	m := &v1alpha1.ScrapeConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"}}
	if err := kyaml.UnmarshalStrict([]byte(`consulSDConfigs: [{server: a, tokenRef: {name: s, key: k}}]`), &m.Spec); err != nil {
		t.Fatal(err)
	}
	f := CompileScrapeConfig(m, settingsOf(t, `{}`), unreachable{})
	if !assets.IsTemporary(f.Err) || len(f.YAML) > 0 || len(f.Deps) != 1 {
		t.Errorf("got %+v", f)
	}
}
