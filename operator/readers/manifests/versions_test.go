package manifests

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

const (
	betaConfig  = "---\napiVersion: monitoring.coreos.com/v1beta1\nkind: AlertmanagerConfig\nmetadata: {name: beta, namespace: team}\nspec: "
	alphaConfig = "---\napiVersion: monitoring.coreos.com/v1alpha1\nkind: AlertmanagerConfig\nmetadata: {name: alpha, namespace: team}\nspec: "
)

// selectsConfigs returns a kind whose workloads select AlertmanagerConfigs.
func selectsConfigs() []*engine.Kind {
	return []*engine.Kind{{Row: catalog.Alertmanager, Selects: []engine.Selects{{Row: catalog.AlertmanagerConfig}}}}
}

// Objects of v1beta1 are validated as such and converted to v1alpha1.
func TestOtherVersion(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.yaml": betaConfig + "{timeIntervals: [{name: nights}], route: {receiver: a, routes: [{matchers: [{name: b, value: c}]}]}}\n" + alphaConfig + "{}\n",
	})
	o, err := Load([]string{dir}, selectsConfigs())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"team/alpha", "team/beta"}, named(o.All(catalog.AlertmanagerConfig))); diff != "" {
		t.Error(diff)
	}
	spec := o.All(catalog.AlertmanagerConfig)[0].(*v1alpha1.AlertmanagerConfig).Spec
	if len(spec.MuteTimeIntervals) != 1 || spec.MuteTimeIntervals[0].Name != "nights" || len(spec.Route.Routes) != 1 {
		t.Errorf("spec: %+v", spec)
	}
	o, err = Load([]string{dir}, kinds())
	if err != nil || o.Ignored["AlertmanagerConfig"] != 2 {
		t.Errorf("nothing selects them, but ignored are %v, %v", o.Ignored, err)
	}
}

func TestOtherVersionBadInput(t *testing.T) {
	for name, tc := range map[string]struct{ manifests, want string }{
		"a field of v1alpha1":        {betaConfig + "{muteTimeIntervals: []}\n", "AlertmanagerConfig team/beta: spec.muteTimeIntervals: unknown field"},
		"a field of v1beta1":         {alphaConfig + "{timeIntervals: []}\n", "AlertmanagerConfig team/alpha: spec.timeIntervals: unknown field"},
		"a Secret without a name":    {betaConfig + "{receivers: [{name: a, slackConfigs: [{apiURL: {key: a, name: ''}}]}]}\n", "spec.receivers[0].slackConfigs[0].apiURL.name: "},
		"both versions of an object": {betaConfig + "{}\n" + strings.Replace(alphaConfig, "name: alpha", "name: beta", 1) + "{}\n", "AlertmanagerConfig team/beta: duplicate object"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load([]string{folder(t, map[string]string{"a.yaml": tc.manifests})}, selectsConfigs())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("err = %v, want %q", err, tc.want)
			}
		})
	}
}

// Errors about a converted object name the fields that its author wrote.
func TestAsWritten(t *testing.T) {
	o, err := Load([]string{folder(t, map[string]string{"a.yaml": betaConfig + "{}\n" + alphaConfig + "{}\n"})}, selectsConfigs())
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range o.All(catalog.AlertmanagerConfig) {
		for text, beta := range map[string]string{
			"spec.muteTimeIntervals[0].name: is empty":               "spec.timeIntervals[0].name: is empty",
			`spec.route.muteTimeIntervals[0]: no interval is called`: `spec.route.muteTimeIntervals[0]: no interval is called`,
		} {
			field, reason, _ := strings.Cut(text, ": ")
			want := beta
			if object.GetName() == "alpha" {
				want = text
			}
			got := o.AsWritten(fragments.Result{Kind: "AlertmanagerConfig", Object: object, Err: errors.Join(io.EOF, faults.At(field, errors.New(reason)))})
			if !strings.HasSuffix(got.Err.Error(), "\n"+want) || !errors.Is(got.Err, io.EOF) {
				t.Errorf("%s: %v, want %q", object.GetName(), got.Err, want)
			}
		}
		if got := o.AsWritten(fragments.Result{Kind: "AlertmanagerConfig", Object: object}); got.Err != nil {
			t.Error(got.Err)
		}
	}
}
