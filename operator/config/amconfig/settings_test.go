package amconfig

import (
	"testing"

	"github.com/Masterminds/semver/v3"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestSettingsKey: fragments are shared if and only if they cannot differ.
func TestSettingsKey(t *testing.T) {
	key := func(change func(am *v1.Alertmanager), globals Globals) string {
		am := &v1.Alertmanager{}
		am.Namespace = "a"
		change(am)
		return NewSettings(am, semver.MustParse(newestVersion), globals).Key()
	}
	strategy := func(s v1.AlertmanagerConfigMatcherStrategyType, namespace string) func(*v1.Alertmanager) {
		return func(am *v1.Alertmanager) {
			am.Namespace = namespace
			am.Spec.AlertmanagerConfigMatcherStrategy = &v1.AlertmanagerConfigMatcherStrategy{Type: s}
		}
	}
	except := v1.OnNamespaceExceptForAlertmanagerNamespaceConfigMatcherStrategyType
	none := func(*v1.Alertmanager) {}
	for name, tc := range map[string]struct {
		one, other string
		same       bool
	}{
		"another namespace":                     {key(none, Globals{}), key(strategy("", "b"), Globals{}), true},
		"the default spelled out":               {key(none, Globals{}), key(strategy(v1.OnNamespaceConfigMatcherStrategyType, "a"), Globals{}), true},
		"another strategy":                      {key(none, Globals{}), key(strategy(v1.NoneConfigMatcherStrategyType, "a"), Globals{}), false},
		"a namespace that the strategy excepts": {key(strategy(except, "a"), Globals{}), key(strategy(except, "b"), Globals{}), false},
		"other globals":                         {key(none, Globals{}), key(none, Globals{SMTPFrom: true}), false},
		"taken names":                           {key(none, Globals{}), key(none, Globals{Taken: "a/b/c"}), false},
		"classic mode": {key(none, Globals{}), key(func(am *v1.Alertmanager) {
			am.Spec.EnableFeatures = []string{"classic-mode"}
		}, Globals{}), false},
		"classic mode as an argument": {key(none, Globals{}), key(func(am *v1.Alertmanager) {
			am.Spec.AdditionalArgs = []v1.Argument{{Name: "enable-feature", Value: "a,classic-mode"}}
		}, Globals{}), false},
	} {
		if same := tc.one == tc.other; same != tc.same {
			t.Errorf("%s: same is %v", name, same)
		}
	}
}

// TestClassicMode: UTF-8 label names are rejected in classic mode.
func TestClassicMode(t *testing.T) {
	am := &v1.Alertmanager{}
	am.Spec.EnableFeatures = []string{"classic-mode"}
	s := NewSettings(am, semver.MustParse(newestVersion), Globals{})
	f := Compile(configOf(t, `{route: {receiver: r, groupBy: [a.b]}, receivers: [{name: r}]}`), s, unreachable{})
	if f.Err == nil {
		t.Error("no error")
	}
}
