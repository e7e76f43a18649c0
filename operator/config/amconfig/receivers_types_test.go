package amconfig

import (
	"reflect"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// Tags are valid, and each gated key is reported with the path of a field of the object.
func TestPathsOfGatedKeys(t *testing.T) {
	for _, tc := range []struct{ keys, fields reflect.Type }{
		{reflect.TypeFor[Receiver](), reflect.TypeFor[v1alpha1.Receiver]()},
		{reflect.TypeFor[Global](), reflect.TypeFor[v1.AlertmanagerGlobalConfig]()},
	} {
		if _, err := gate.Check(tc.keys); err != nil {
			t.Fatal(err)
		}
		gated := 0
		walkKeys(tc.keys, "", "", func(path string) {
			gated++
			if !hasField(tc.fields, path) {
				t.Errorf("%s has no field %s", tc.fields.Name(), path)
			}
		})
		if gated < 10 {
			t.Errorf("%s: only %d keys have a gate", tc.keys.Name(), gated)
		}
	}
}

// walkKeys visits the reported paths of gated keys.
//
// since: the tag of the inlined struct that contains t.
func walkKeys(t reflect.Type, prefix, since string, visit func(path string)) {
	for i := range t.NumField() {
		f := t.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		gated := since + f.Tag.Get("since")
		if options == "inline" {
			walkKeys(f.Type, prefix, gated, visit)
			continue
		}
		path := strings.TrimPrefix(prefix+"."+fieldPath(key), ".")
		if field, ok := f.Tag.Lookup("reject"); ok {
			path = strings.TrimPrefix(prefix+"."+field, ".")
		}
		if strings.Contains(gated, string(gate.Alertmanager)) {
			visit(path)
		}
		inner := f.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			walkKeys(inner, path, "", visit)
		}
	}
}

// hasField reports whether the JSON of the type has a field at the path.
func hasField(t reflect.Type, path string) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if path == "" {
		return true
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	name, rest, _ := strings.Cut(path, ".")
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name && hasField(f.Type, rest) || strings.Contains(options, "inline") && hasField(f.Type, path) {
			return true
		}
	}
	return false
}

func TestFieldPath(t *testing.T) {
	for key, want := range map[string]string{
		"spec.receivers[0].slack_configs[12].timeout":      "spec.receivers[0].slackConfigs[12].timeout",
		"msteamsv2_configs[0].http_config.enable_http2":    "msteamsv2Configs[0].httpConfig.enableHttp2",
		"discord_configs[0].avatar_url":                    "discordConfigs[0].avatarURL",
		"global.smtp_tls_config.min_version":               "global.smtp.tlsConfig.minVersion",
		"spec.route.routes[0].active_time_intervals":       "spec.route.routes[0].activeTimeIntervals",
		"sns_configs[1].sigv4.use_fips_sts_endpoint":       "snsConfigs[1].sigv4.useFIPSSTSEndpoint",
		"telegram_configs[0].message_thread_id":            "telegramConfigs[0].messageThreadID",
		"webhook_configs[0].http_config.oauth2.tls_config": "webhookConfigs[0].httpConfig.oauth2.tlsConfig",
	} {
		if got := fieldPath(key); got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
}

// Durations are converted to the units of Go, which has no days.
func TestGoDuration(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "0": "0s", "0s": "0s", "10s": "10s", "90s": "1m30s", "1500ms": "1s500ms", "24h": "24h", "1d": "24h", "1w1d": "192h",
		"1y": "8760h", "1h30m": "1h30m",
	} {
		if got, err := goDuration("a", in); got != want || err != nil {
			t.Errorf("%s: got %q, %v", in, got, err)
		}
	}
}
