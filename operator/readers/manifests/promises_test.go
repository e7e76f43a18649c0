package manifests

import (
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// readAll reads manifests that are valid.
func readAll(t *testing.T, text string) *Objects {
	t.Helper()
	o, wrong := Read("a.yaml", []byte(text), kinds())
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	return o
}

// A Secret that a manifest of another operator generates exists, with the keys that its manifest
// names; the key "ca" that no manifest names exists only where a generator may have any.
func TestPromisedSecrets(t *testing.T) {
	const external = "{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: login, namespace: demo}, spec: "
	for title, tc := range map[string]struct{ text, name, keys, absent string }{
		"an ExternalSecret":                    {external + "{data: [{secretKey: user}, {secretKey: password}]}}", "login", "user password", "ca"},
		"an ExternalSecret with a target":      {external + "{target: {name: other}, data: [{secretKey: user}]}}", "other", "user", "ca"},
		"all keys of a store":                  {external + "{dataFrom: [{extract: {key: a}}]}}", "login", "", ""},
		"a template of the keys":               {external + "{data: [{secretKey: user}], target: {template: {data: {login: x}}}}}", "login", "login", "user"},
		"a template that is merged":            {external + "{data: [{secretKey: user}], target: {template: {mergePolicy: Merge, data: {login: x}}}}}", "login", "login user", "ca"},
		"a template from a ConfigMap":          {external + "{target: {template: {templateFrom: [{configMap: {name: a}}]}}}}", "login", "", ""},
		"a SealedSecret":                       {"{apiVersion: bitnami.com/v1alpha1, kind: SealedSecret, metadata: {name: sealed, namespace: demo}, spec: {encryptedData: {token: AgA}, template: {data: {url: x}}}}", "sealed", "token url", "ca"},
		"a SealedSecret of another name":       {"{apiVersion: bitnami.com/v1alpha1, kind: SealedSecret, metadata: {name: a, namespace: demo}, spec: {encryptedData: {token: AgA}, template: {metadata: {name: b}}}}", "b", "token", "ca"},
		"a Certificate":                        {"{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a, namespace: demo}, spec: {secretName: tls}}", "tls", "tls.crt tls.key ca.crt", ""},
		"a Service of OpenShift":               {"{apiVersion: v1, kind: Service, metadata: {name: a, namespace: demo, annotations: {service.beta.openshift.io/serving-cert-secret-name: tls}}}", "tls", "tls.crt tls.key", "ca"},
		"a Job for webhooks":                   {"{apiVersion: batch/v1, kind: Job, metadata: {name: a, namespace: demo}, spec: {template: {spec: {containers: [{image: x/kube-webhook-certgen:v1, args: [create, --secret-name=hook, --key-name, tls.key]}]}}}}", "hook", "ca cert tls.key", "key"},
		"a Job for webhooks in its namespace":  {"{apiVersion: batch/v1, kind: Job, metadata: {name: a, namespace: demo}, spec: {template: {spec: {containers: [{image: x/kube-webhook-certgen:v1, args: [create, --namespace=$(POD_NAMESPACE), --secret-name=hook]}]}}}}", "hook", "ca cert key", "tls.key"},
		"a Job for webhooks elsewhere":         {"{apiVersion: batch/v1, kind: Job, metadata: {name: a, namespace: other}, spec: {template: {spec: {containers: [{image: x/kube-webhook-certgen:v1, args: [create, --namespace=demo, --secret-name=hook]}]}}}}", "hook", "ca cert key", "tls.key"},
		"two generators of one Secret":         {external + "{target: {name: one}, data: [{secretKey: a}]}}\n---\n{apiVersion: bitnami.com/v1alpha1, kind: SealedSecret, metadata: {name: one, namespace: demo}, spec: {encryptedData: {b: AgA}}}", "one", "a b", "ca"},
		"an ExternalSecret that is misspelled": {external + "{data: {secretKey: user}}}", "", "", ""},
	} {
		t.Run(title, func(t *testing.T) {
			o := readAll(t, tc.text)
			o.Promised()
			ref := assets.Ref{Kind: assets.Secret, Namespace: "demo", Name: tc.name}
			if tc.name == "" {
				if len(o.promises) != len(newPromises()) {
					t.Errorf("promises %v", o.promises)
				}
				return
			}
			got, err := o.References.Object(ref)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Fields(tc.keys)
			for _, key := range want {
				if len(got.Values[key]) == 0 || !o.has(need{ref, key}) {
					t.Errorf("the key %s is absent", key)
				}
			}
			if tc.absent != "" && (o.has(need{ref, tc.absent}) || got.Values[tc.absent] != nil) {
				t.Errorf("the key %s exists", tc.absent)
			}
			if tc.absent == "" && !o.has(need{ref, "anything"}) {
				t.Error("a Secret with any keys lacks one")
			}
			if _, err := o.References.Object(assets.Ref{Kind: assets.Secret, Namespace: "elsewhere", Name: tc.name}); err == nil {
				t.Error("it exists in another namespace")
			}
		})
	}
}

// A generated Secret has values that suit the fields that refer to it, so that the workload is
// reconciled; the Secret itself, if it is among the manifests, has its own.
func TestValuesOfPromisedSecrets(t *testing.T) {
	const external = "\n---\n{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: more, namespace: team}, spec: {data: [{secretKey: a}, {secretKey: ca}, {secretKey: key}]}}"
	for spec, more := range map[string]string{
		"{additionalScrapeConfigs: {name: more, key: a}}":                                                                                                                     external,
		"{additionalAlertManagerConfigs: {name: more, key: a}, additionalAlertRelabelConfigs: {name: more, key: ca}}":                                                         external,
		"{remoteWrite: [{url: 'http://a', tlsConfig: {ca: {secret: {name: more, key: ca}}}, basicAuth: {username: {name: more, key: a}, password: {name: more, key: key}}}]}": external,
		"{remoteWrite: [{url: 'http://a', tlsConfig: {cert: {secret: {name: more, key: ca}}, keySecret: {name: more, key: key}}}]}":                                           external,
	} {
		o := readAll(t, prometheusOfTeam+spec+more)
		o.Promised()
		if got := o.Reconcile(o.Workloads()[0]); got.Err != nil {
			t.Errorf("%s: %v", spec, got.Err)
		}
	}
	o := readAll(t, prometheusOfTeam+"{additionalScrapeConfigs: {name: more, key: a}}"+external+
		"\n---\n{apiVersion: v1, kind: Secret, metadata: {name: more, namespace: team}, stringData: {a: '- job_name: x'}}")
	o.Promised()
	if got, err := o.References.Object(assets.Ref{Kind: assets.Secret, Namespace: "team", Name: "more"}); err != nil || string(got.Values["a"]) != "- job_name: x" {
		t.Errorf("%v, %v", got, err)
	}
}

// Pods cannot start without what they mount, and a missing key of it is named with a similar one.
// What is optional, generated by another manifest or written by the operator is not missing.
func TestMissingOfPods(t *testing.T) {
	const (
		store  = "{thanos: {objectStorageConfig: {name: bucket, key: thanos.yaml}}}"
		bucket = "\n---\n{apiVersion: v1, kind: Secret, metadata: {name: bucket, namespace: team}, stringData: {thanos.yml: a}}"
	)
	for title, tc := range map[string]struct {
		text string
		want []string
	}{
		"nothing":                       {prometheusOfTeam + "{}", nil},
		"a Secret of a field":           {prometheusOfTeam + store, []string{`spec.thanos.objectStorageConfig.name: Secret "team/bucket" does not exist`}},
		"a key of it":                   {prometheusOfTeam + store + bucket, []string{`spec.thanos.objectStorageConfig.key: Secret "team/bucket" has no key "thanos.yaml", did you mean "thanos.yml"?`}},
		"a key that is generated":       {prometheusOfTeam + store + "\n---\n{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: bucket, namespace: team}, spec: {data: [{secretKey: thanos.yaml}]}}", nil},
		"a list of Secrets":             {prometheusOfTeam + "{secrets: [bucket, etcd]}" + bucket, []string{`spec.secrets[1]: Secret "team/etcd" does not exist`}},
		"a list of ConfigMaps":          {prometheusOfTeam + "{configMaps: [etcd, kube-root-ca.crt]}", []string{`spec.configMaps[0]: ConfigMap "team/etcd" does not exist`}},
		"a volume":                      {prometheusOfTeam + "{volumes: [{name: a, configMap: {name: files}}]}", []string{`spec.volumes[0].configMap.name: ConfigMap "team/files" does not exist`}},
		"an optional volume":            {prometheusOfTeam + "{volumes: [{name: a, configMap: {name: files, optional: true}}]}", nil},
		"a variable":                    {prometheusOfTeam + "{containers: [{name: a, env: [{name: X, valueFrom: {secretKeyRef: {name: bucket, key: b}}}]}]}" + bucket, []string{`spec.containers[0].env[0].valueFrom.secretKeyRef.key: Secret "team/bucket" has no key "b"`}},
		"variables":                     {prometheusOfTeam + "{containers: [{name: a, envFrom: [{secretRef: {name: vars}}]}]}", []string{`spec.containers[0].envFrom[0].secretRef.name: Secret "team/vars" does not exist`}},
		"a Secret of another namespace": {prometheusOfTeam + "{secrets: [bucket]}" + strings.Replace(bucket, "team", "other", 1), []string{`spec.secrets[0]: Secret "team/bucket" does not exist`}},
	} {
		t.Run(title, func(t *testing.T) {
			o := readAll(t, tc.text)
			w := o.Workloads()[0]
			var got []string
			for _, m := range o.Missing(w, o.Reconcile(w)) {
				got = append(got, m.Error())
				if field, reason := m.Located(); field+": "+reason != m.Error() {
					t.Errorf("field %q, reason %q", field, reason)
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}
