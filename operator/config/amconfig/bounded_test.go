package amconfig

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Suggestions for similar user-supplied names cost a few times their length.
func TestSuggestionsAreBounded(t *testing.T) {
	const n = 1 << 20
	long, other := strings.Repeat("a", n), strings.Repeat("a", n-1)+"b"
	receiver := func(name string) []v1alpha1.Receiver { return []v1alpha1.Receiver{{Name: name}} }
	var many []string
	var intervals []v1alpha1.MuteTimeInterval
	for i := range 20_000 {
		many = append(many, fmt.Sprintf("%s-%05d", strings.Repeat("x", 50), i))
		intervals = append(intervals, v1alpha1.MuteTimeInterval{Name: fmt.Sprintf("%s_%05d", strings.Repeat("x", 50), i)})
	}
	for name, spec := range map[string]v1alpha1.AlertmanagerConfigSpec{
		"receiver":       {Route: &v1alpha1.Route{Receiver: long}, Receivers: receiver(other)},
		"interval":       {Route: &v1alpha1.Route{Receiver: "r", MuteTimeIntervals: []string{long}}, Receivers: receiver("r"), MuteTimeIntervals: []v1alpha1.MuteTimeInterval{{Name: other}}},
		"many intervals": {Route: &v1alpha1.Route{Receiver: "r", ActiveTimeIntervals: many}, Receivers: receiver("r"), MuteTimeIntervals: intervals},
	} {
		budgettest.AtMost(t, name, 64<<20, func() {
			if Validate(&v1alpha1.AlertmanagerConfig{Spec: spec}) == nil {
				t.Errorf("%s: no error", name)
			}
		})
	}
}

// TestWorstObjects: the cost of one object is bounded, regardless of its content.
func TestWorstObjects(t *testing.T) {
	const (
		most     = 160 << 20 // bytes allocated, mostly garbage of Alertmanager's own parser
		mostKept = 8 << 20
	)
	list := func(item string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	numbered := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+",", i)
		}
		return "[" + strings.TrimSuffix(b.String(), ",") + "]"
	}
	routes := func(text string) string {
		return `{"receivers":[{"name":"r"}],"route":{"receiver":"r","routes":` + text + `}}`
	}
	receiver := func(text string) string { return `{"receivers":[{"name":"r",` + text + `}],"route":{"receiver":"r"}}` }
	hook := `{"url":"http://a"}`
	for name, text := range map[string]string{
		"routes":            routes(list("{}", 450_000)),
		"as many as fit":    routes(list("{}", budget.Routes-1)),
		"routes below one":  routes(`[{"routes":` + list("{}", 450_000) + `}]`),
		"routes of each":    routes(list(`{"routes":`+list("{}", 10)+`}`, 450)),
		"levels":            routes(strings.Repeat(`[{"routes":`, 4_000) + "[]" + strings.Repeat(`}]`, 4_000)),
		"as many levels":    routes(strings.Repeat(`[{"groupBy":["a"],"routes":`, 60) + list(`{"groupBy":["a","b","c"]}`, 4_000) + strings.Repeat(`}]`, 60)),
		"matchers":          routes(`[{"matchers":` + list(`{"name":"a","value":"b"}`, 40_000) + `}]`),
		"more matchers":     routes(list(`{"matchers":`+list(`{"name":"a","value":"b"}`, 90)+`}`, 600)),
		"regexes":           routes(`[{"matchers":` + list(`{"name":"a","value":"b{900}","matchType":"=~"}`, 20_000) + `}]`),
		"labels":            routes(`[{"groupBy":` + numbered(`"a%d"`, 100_000) + `}]`),
		"unknown fields":    routes(list(`{"x":1}`, budget.Routes-1)),
		"receivers":         `{"route":{"receiver":"r0"},"receivers":` + numbered(`{"name":"r%d"}`, 70_000) + `}`,
		"as many receivers": `{"route":{"receiver":"r0"},"receivers":` + numbered(`{"name":"r%d"}`, budget.Receivers) + `}`,
		"empty receivers":   `{"route":{"receiver":"r0"},"receivers":` + list(`{}`, budget.Receivers) + `}`,
		"entries":           receiver(`"webhookConfigs":` + list(hook, 20_000)),
		"mails":             receiver(`"emailConfigs":` + list(`{"to":"a","from":"b","smarthost":"c:25"}`, 10_000)),
		"headers":           receiver(`"emailConfigs":[{"to":"a","from":"b","smarthost":"c:25","headers":` + numbered(`{"key":"k%d","value":"v"}`, 30_000) + `}]`),
		"fields":            receiver(`"slackConfigs":[{"apiURL":{"name":"s","key":"k"},"fields":` + list(`{"title":"a","value":"b"}`, 40_000) + `}]`),
		"a long text":       receiver(`"emailConfigs":[{"to":"a","from":"b","smarthost":"c:25","html":"` + strings.Repeat("x", 1_300_000) + `"}]`),
		"a long template":   receiver(`"emailConfigs":[{"to":"a","from":"b","smarthost":"c:25","html":"` + strings.Repeat("{{ .Status }}", 100_000) + `"}]`),
		"parentheses":       receiver(`"emailConfigs":[{"to":"a","from":"b","smarthost":"c:25","html":"{{ ` + strings.Repeat("(", 200_000) + "1" + strings.Repeat(")", 200_000) + ` }}"}]`),
		"inhibition rules":  `{"inhibitRules":` + list(`{"equal":["a"],"sourceMatch":[{"name":"a","value":"b"}],"targetMatch":[{"name":"c","value":"d"}]}`, 13_000) + `}`,
		"empty rules":       `{"inhibitRules":` + list(`{}`, 400_000) + `}`,
		"intervals":         `{"muteTimeIntervals":` + numbered(`{"name":"m%d"}`, 60_000) + `}`,
		"ranges":            `{"muteTimeIntervals":[{"name":"m","timeIntervals":` + list(`{}`, 400_000) + `}]}`,
		"times":             `{"muteTimeIntervals":[{"name":"m","timeIntervals":[{"times":` + list(`{"startTime":"01:00","endTime":"02:00"}`, 30_000) + `}]}]}`,
	} {
		config := &v1alpha1.AlertmanagerConfig{}
		if err := json.Unmarshal([]byte(text), &config.Spec); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(text) > budget.StoredBytes {
			t.Errorf("%s: no API server takes %d bytes", name, len(text))
		}
		checked := budget.Check("AlertmanagerConfig", []byte(`{"spec":`+text+`}`))
		s := settingsOf("0.28.1", AnyGlobals)
		f, allocated, kept := budgettest.Measure(func() Fragment { return Compile(config, s, &assets.Static{}) })
		if checked == nil && (allocated > most || kept > mostKept) {
			t.Errorf("%s: %d bytes, for which %d are allocated and %d are kept; %.100v", name, len(text), allocated, kept, f.Err)
		}
		runtime.KeepAlive(f)
	}
}

// A tenant exhausts the memory of the Alertmanager of all tenants with the template of a receiver, which limits neither
// the time of templates nor the length of their output.
func TestTemplatesWithoutEnd(t *testing.T) {
	const endless = "{{ range 4000000000 }}x{{ end }}"
	for field, receiver := range map[string]string{
		"slackConfigs[0].text":                      `"slackConfigs":[{"apiURL":{"name":"s","key":"k"},"text":"` + endless + `"}]`,
		"slackConfigs[0].fields[0].value":           `"slackConfigs":[{"apiURL":{"name":"s","key":"k"},"fields":[{"title":"a","value":"` + endless + `"}]}]`,
		"emailConfigs[0].html":                      `"emailConfigs":[{"to":"a","from":"b","smarthost":"c:25","html":"` + endless + `"}]`,
		"emailConfigs[0].headers[0].value":          `"emailConfigs":[{"to":"a","from":"b","smarthost":"c:25","headers":[{"key":"k","value":"` + endless + `"}]}]`,
		"pagerdutyConfigs[0].details[0].value":      `"pagerdutyConfigs":[{"routingKey":{"name":"s","key":"k"},"details":[{"key":"k","value":"` + endless + `"}]}]`,
		"telegramConfigs[0].message":                `"telegramConfigs":[{"botToken":{"name":"s","key":"k"},"chatID":1,"message":"` + endless + `"}]`,
		"webhookConfigs[0].url":                     `"webhookConfigs":[{"url":"http://a/` + endless + `"}]`,
		"webhookConfigs[0].urlSecret":               `"webhookConfigs":[{"urlSecret":{"name":"s","key":"url"}}]`,
		"opsgenieConfigs[0].responders[0].name":     `"opsgenieConfigs":[{"apiKey":{"name":"s","key":"k"},"responders":[{"type":"team","name":"` + endless + `"}]}]`,
		"snsConfigs[0].attributes[\"a\"]":           `"snsConfigs":[{"topicARN":"a","sigv4":{"region":"r"},"attributes":{"a":"` + endless + `"}}]`,
		"victoropsConfigs[0].customFields[0].value": `"victoropsConfigs":[{"apiKey":{"name":"s","key":"k"},"routingKey":"r","customFields":[{"key":"k","value":"` + endless + `"}]}]`,
	} {
		config := &v1alpha1.AlertmanagerConfig{}
		if err := json.Unmarshal([]byte(`{"receivers":[{"name":"r",`+receiver+`}],"route":{"receiver":"r"}}`), &config.Spec); err != nil {
			t.Fatalf("%s: %v", field, err)
		}
		secrets := &assets.Static{}
		secrets.AddSecret(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "s"}, Data: map[string][]byte{"k": []byte("http://a"), "url": []byte("http://a/" + endless)},
		})
		f := Compile(config, settingsOf("0.32.0", AnyGlobals), secrets)
		if f.Err == nil || !strings.Contains(f.Err.Error(), "spec.receivers[0]."+field+": the template may produce") {
			t.Errorf("%s: %v", field, f.Err)
		}
		if strings.Contains(fmt.Sprint(f.Err), endless) {
			t.Errorf("%s: the value of a Secret is shown: %v", field, f.Err)
		}
	}
}
