package fields_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/fields"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

func TestStrings(t *testing.T) {
	receiver := &v1alpha1.Receiver{Name: "team", SNSConfigs: []v1alpha1.SNSConfig{
		{TopicARN: "arn", Attributes: map[string]string{"b": "2", "a": "1"}},
	}}
	server := &v1.PrometheusSpec{CommonPrometheusFields: v1.CommonPrometheusFields{ScrapeInterval: "30s"}}
	server.Containers = []corev1.Container{{Name: "of Kubernetes"}}
	for _, c := range []struct {
		root  string
		value any
		want  []string
	}{
		{"spec.receivers[0]", receiver, []string{
			"spec.receivers[0].name = team", `spec.receivers[0].snsConfigs[0].attributes["a"] = 1`,
			`spec.receivers[0].snsConfigs[0].attributes["b"] = 2`, "spec.receivers[0].snsConfigs[0].topicARN = arn",
		}},
		{"", receiver.SNSConfigs, []string{`[0].attributes["a"] = 1`, `[0].attributes["b"] = 2`, "[0].topicARN = arn"}},
		{"", server, []string{"scrapeInterval = 30s"}},
		{"", (*v1.PrometheusSpec)(nil), nil},
	} {
		var got []string
		for path, v := range fields.Strings(c.root, c.value) {
			got = append(got, path+" = "+v.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q", got)
		}
	}
	for range fields.Strings("", receiver) {
		break // the walk ends
	}
}
