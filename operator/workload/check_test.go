package workload

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Each fault of a table names its field, and the part of it.
func TestFaults(t *testing.T) {
	type settings struct {
		names   []string
		timeout v1.GoDuration
		period  v1.GoDuration
		age     v1.Duration
		wait    v1.Duration
		key     *corev1.SecretKeySelector
		own     error
	}
	checks := []Check[settings]{
		{"spec.names", Each(func(s settings) []string { return s.names }, NonEmptyName)},
		{"spec.timeout", GoDuration(func(s settings) v1.GoDuration { return s.timeout })},
		{"spec.period", PositiveGoDuration(func(s settings) v1.GoDuration { return s.period })},
		{"spec.age", Duration(func(s settings) v1.Duration { return s.age })},
		{"spec.wait", PositiveDuration(func(s settings) v1.Duration { return s.wait })},
		{"spec.key", func(s settings) error { return faults.At("secret", KeyToMount(s.key)) }},
		{"", func(s settings) error { return s.own }},
	}
	for want, in := range map[string]settings{
		"<nil>":                            {names: []string{"a"}, timeout: "0s", period: "1ms", age: "0", wait: "1d", key: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "a"}, Key: "b"}},
		"spec.names[1]: must not be empty": {names: []string{"a", ""}, timeout: "1s"},
		"spec.timeout: must be longer than 0\nspec.wait: must be longer than 0":                                                {timeout: "-1s", wait: "0s"},
		"spec.period: must be longer than 0\nspec.age: not a valid duration string: \"x\"; write one such as 30s, 5m or 1h30m": {period: "0s", age: "x"},
		"spec.period: must be longer than 0":      {period: "-1s"},
		"spec.wait: must be longer than 0":        {wait: "0s"},
		"spec.key.secret: needs a name and a key": {key: &corev1.SecretKeySelector{Key: "b"}},
		"spec.web: of its own":                    {own: errors.New("spec.web: of its own")},
	} {
		if got := fmt.Sprint(faultsOf(checks, in)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// An error of a URL contains no password.
func TestParseURL(t *testing.T) {
	if _, err := ParseURL("http://user:hunter2@a b"); err == nil || err.Error() != "not a valid URL" {
		t.Errorf("error %v", err)
	}
	if u, err := ParseURL("http://a/b"); err != nil || u.Host != "a" {
		t.Errorf("%v, %v", u, err)
	}
}
