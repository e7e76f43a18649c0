package amconfig

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
)

// team is a typical object: a few routes, three receivers, an interval, a rule.
const team = `
route:
  receiver: chat
  groupBy: [alertname, job]
  routes:
  - {receiver: page, matchers: [{name: severity, value: critical, matchType: "="}], repeatInterval: 1h}
  - {receiver: mail, matchers: [{name: severity, value: warning|info, matchType: "=~"}], muteTimeIntervals: [night]}
receivers:
- {name: chat, slackConfigs: [{channel: "#a", title: "{{ .X }}", text: "{{ .Y }}"}]}
- {name: page, pagerdutyConfigs: [{serviceKey: {name: s, key: key}, description: a}]}
- {name: mail, emailConfigs: [{to: a@b, headers: [{key: subject, value: a}]}]}
muteTimeIntervals: [{name: night, timeIntervals: [{times: [{startTime: "00:00", endTime: "06:00"}]}]}]
inhibitRules: [{sourceMatch: [{name: severity, value: critical}], targetMatch: [{name: severity, value: warning}], equal: [job]}]
`

func BenchmarkCompile(b *testing.B) {
	config, settings := configOf(b, team), settingsOf(newestVersion, AnyGlobals)
	objects := newRandom(1).secrets("team")
	b.ReportAllocs()
	for b.Loop() {
		if f := Compile(config, settings, objects); f.Err != nil {
			b.Fatal(f.Err)
		}
	}
}

// BenchmarkLoad measures the loader's part of BenchmarkCompile.
func BenchmarkLoad(b *testing.B) {
	settings := settingsOf(newestVersion, AnyGlobals)
	f := Compile(configOf(b, team), settings, newRandom(1).secrets("team"))
	if f.Err != nil {
		b.Fatal(f.Err)
	}
	text := document(&settings.trial, f.YAML)
	b.ReportAllocs()
	for b.Loop() {
		if err := load(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompileBase(b *testing.B) {
	for _, receivers := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("receivers=%d", receivers), func(b *testing.B) {
			var text strings.Builder
			text.WriteString("route: {receiver: r0}\nreceivers:\n")
			for i := range receivers {
				fmt.Fprintf(&text, "- {name: r%d, slack_configs: [{api_url: 'https://a.b/', channel: c, text: t}]}\n", i)
			}
			target := targetOf(semver.MustParse(newestVersion))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parseBase([]byte(text.String()), target, dialect{true, true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
