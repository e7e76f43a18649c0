package main

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// alertmanager measures AlertmanagerConfigs.
var alertmanager = &subject{
	sizes: "20,200,2000",
	owners: resource{
		v1.GroupVersionResource(v1.AlertmanagerResource), "Alertmanager objects", ownerName, func(i int) object { return alertmanagerOwner(i) },
	},
	selected: []selected{{resource{
		v1alpha1.GroupVersionResource(v1alpha1.AlertmanagerConfigResource), "AlertmanagerConfigs", routingName, func(i int) object { return routing(i) },
	}, "AlertmanagerConfig", mark{"service-of-change-", "-"}, routingPatch, written{80, secretBytes}}},
	prefix: "alertmanager-", suffix: "-generated", key: "alertmanager.yaml.gz", file: "alertmanager.yaml",
	entry: hookHost, entries: 1,
	secret: chatSecret,
}

// hookHost occurs exactly once in the configuration of an AlertmanagerConfig.
const hookHost = "hooks.example.com"

func routingName(i int) string { return fmt.Sprintf("routing-%05d", i) }

// routing returns a typical AlertmanagerConfig: a route with a sub-route for urgent alerts, two receivers and an
// inhibition rule.
func routing(i int) *v1alpha1.AlertmanagerConfig {
	name := routingName(i)
	c := &v1alpha1.AlertmanagerConfig{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"release": "main", "team": team(i % teams)},
	}}
	urgent := v1alpha1.Route{
		Receiver: "hook", GroupWait: "10s", RepeatInterval: "1h",
		Matchers: []v1alpha1.Matcher{{Name: "severity", MatchType: v1alpha1.MatchEqual, Value: "critical"}},
	}
	c.Spec.Route = &v1alpha1.Route{
		Receiver: "chat", GroupBy: []string{"alertname", "job"}, GroupWait: "30s", GroupInterval: "5m", RepeatInterval: "12h",
		Matchers: []v1alpha1.Matcher{{Name: "service", MatchType: v1alpha1.MatchEqual, Value: name}},
		Routes:   []apiextensionsv1.JSON{{Raw: mustMarshal(urgent)}},
	}
	c.Spec.Receivers = []v1alpha1.Receiver{
		{Name: "chat", SlackConfigs: []v1alpha1.SlackConfig{{
			APIURL:  &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: chatSecretName}, Key: chatKey},
			Channel: "#alerts-" + team(i%teams), Title: "{{ .CommonLabels.alertname }} of " + name, SendResolved: new(true),
		}}},
		{Name: "hook", WebhookConfigs: []v1alpha1.WebhookConfig{{URL: new("https://" + hookHost + "/" + name), SendResolved: new(true)}}},
	}
	c.Spec.InhibitRules = []v1alpha1.InhibitRule{{
		SourceMatch: []v1alpha1.Matcher{{Name: "severity", MatchType: v1alpha1.MatchEqual, Value: "critical"}},
		TargetMatch: []v1alpha1.Matcher{{Name: "severity", MatchType: v1alpha1.MatchEqual, Value: "warning"}},
		Equal:       []string{"alertname", "service"},
	}}
	return c
}

// mustMarshal encodes a value as JSON and panics on errors.
func mustMarshal(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return out
}

// routingPatch returns a change of an AlertmanagerConfig that adds a text to the configuration.
func routingPatch(text string) []byte {
	return fmt.Appendf(nil, `[{"op":"replace","path":"/spec/route/matchers/0/value","value":%q}]`, text)
}

const (
	chatSecretName = "chat"
	chatKey        = "url"
)

// chatSecret returns the Secret that the Slack receivers of a namespace refer to.
func chatSecret(namespace string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: chatSecretName},
		StringData: map[string]string{chatKey: "https://chat.example.com/services/" + namespace},
	}
}

// alertmanagerOwner returns an Alertmanager that selects everything.
func alertmanagerOwner(i int) *v1.Alertmanager {
	a := &v1.Alertmanager{ObjectMeta: metav1.ObjectMeta{Name: ownerName(i)}}
	a.Spec.AlertmanagerConfigSelector, a.Spec.AlertmanagerConfigNamespaceSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
	a.Spec.Replicas = new(int32(1))
	return a
}
