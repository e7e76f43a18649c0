package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/internal/live"
)

// webhookComponents lists the components that docs/webhooks.md installs for both versions of AlertmanagerConfig.
var webhookComponents = []string{"webhook", "webhook-conversion", "webhook-certificates"}

// With the webhook and its certificate installed as described in docs/webhooks.md, Alertmanager runs the route of an
// AlertmanagerConfig in v1beta1, and both versions can be read and written.
func TestAlertmanagerConfigV1beta1(t *testing.T) {
	long(t)
	n := start(t)
	n.loadAlertmanagerImage(t)
	n.withConversion(t)
	s := n.space(t, "beta")
	s.webhook(t)
	config := s.fill(manifests(t, "beta.yaml"), "AM-VERSION", alertmanagerVersion)
	until(t, "the webhook converts", patience, func(ctx context.Context) (bool, error) { // the pods and the API server get the certificate with a delay
		out, err := s.KubectlInput(ctx, []byte(config), "apply", "-f", "-")
		return err == nil, errors.Join(err, errors.New(string(out)))
	})
	s.rolledOutWith(t, mainMembers, "alertmanager-main-0")
	s.runsRoute(t, `severity=~"crit.*"`, s.name+"/beta/past", `alertname=~"Sym.*"`)

	server := s.proxy.Alertmanager(s.name, "alertmanager-main-0", 9093)
	for severity, alert := range map[string]string{"info": "Small", "critical": "Large"} {
		labels := map[string]string{"alertname": alert, "severity": severity, "namespace": s.name}
		if err := server.Fire(t.Context(), labels); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "notification of the critical alert alone", patience, func(ctx context.Context) (bool, error) {
		list, err := s.proxy.Webhook(s.name, "webhook", 8080).Notifications(ctx)
		if err != nil || len(list) == 0 {
			return false, err
		}
		got := list[0]
		if len(list) > 1 || got.Path != "/beta" || got.Receiver != s.name+"/beta/webhook" || len(got.Alerts) != 1 || got.Alerts[0].Labels["alertname"] != "Large" {
			t.Fatalf("notifications %+v", list)
		}
		return true, nil
	})

	t.Run("read in both versions", func(t *testing.T) { s.readInBoth(t) })
	t.Run("changed in either version", func(t *testing.T) {
		for version, label := range map[string]string{"v1beta1": "beta_change", "v1alpha1": "alpha_change"} {
			s.in(t, "patch", configsIn(version), "beta", "--type=merge", "-p", fmt.Sprintf(`{"spec":{"route":{"groupBy":["alertname",%q]}}}`, label))
			s.runsRoute(t, "- "+label, `severity=~"crit.*"`)
		}
	})
	t.Run("a wrong one is refused in the words of its version", func(t *testing.T) {
		wrong := `{"spec":{"timeIntervals":[{"name":"past","timeIntervals":[{"times":[{"startTime":"23:00","endTime":"22:00"}]}]}]}}`
		_, err := s.Kubectl(t.Context(), "-n", s.name, "patch", configsIn("v1beta1"), "beta", "--type=merge", "-p", wrong)
		if err == nil || !strings.Contains(err.Error(), "spec.timeIntervals[0].timeIntervals[0].times[0]") {
			t.Errorf("the webhook says %v", err)
		}
	})
}

// configsIn returns the resource name of AlertmanagerConfigs in a version, as kubectl expects it.
func configsIn(version string) string {
	return "alertmanagerconfigs." + version + ".monitoring.coreos.com"
}

// withConversion installs the webhook and both versions of AlertmanagerConfig, and removes them at the end of the test.
func (n node) withConversion(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	base, err := filepath.Rel(dir, filepath.Join(root(), "deploy"))
	if err != nil {
		t.Fatal(err)
	}
	kustomization := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [" + base + "]\ncomponents:\n"
	for _, c := range webhookComponents {
		kustomization += "- " + filepath.Join(base, "components", c) + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(kustomization), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.withoutConversion(t) })
	n.kubectl(t, "apply", "--server-side", "--force-conflicts", "-k", dir) // the CRD was installed by a client-side apply
	for _, deployment := range []string{"prometheus-operator", "prometheus-operator-admission-webhook"} {
		n.kubectl(t, "-n", "firekeeper", "rollout", "status", "deployment/"+deployment, "--timeout=4m")
	}
}

// withoutConversion restores the cluster that start prepares: one version of the CRD and no webhook.
func (n node) withoutConversion(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if t.Failed() {
		out, err := n.Kubectl(ctx, "-n", "firekeeper", "get", "pods,secrets,events")
		t.Logf("namespace firekeeper (error: %v)\n%s", err, out)
	}
	deploy := filepath.Join(root(), "deploy")
	for _, args := range [][]string{
		{"delete", "--ignore-not-found", "validatingwebhookconfigurations,mutatingwebhookconfigurations,clusterroles,clusterrolebindings", "-l", "app.kubernetes.io/component=admission-webhook"},
		{"-n", "firekeeper", "delete", "--ignore-not-found", "deployments,services,serviceaccounts,poddisruptionbudgets,roles,rolebindings", "-l", "app.kubernetes.io/component=admission-webhook"},
		{"-n", "firekeeper", "delete", "--ignore-not-found", "secret", "admission-webhook-certs"},
		{"replace", "-f", filepath.Join(deploy, "crds", "monitoring.coreos.com_alertmanagerconfigs.yaml")},
		{"replace", "-f", filepath.Join(deploy, "operator.yaml")},
		{"-n", "firekeeper", "rollout", "status", "deployment/prometheus-operator", "--timeout=2m"},
	} {
		if out, err := n.Kubectl(ctx, args...); err != nil {
			t.Errorf("restore the cluster: %v\n%s", err, out)
		}
	}
	if err := n.withoutV1beta1(ctx); err != nil {
		t.Error(err)
	}
	crd, err := n.Kubectl(ctx, "get", "crd", "alertmanagerconfigs.monitoring.coreos.com", "-o", "jsonpath={.spec.versions[*].name} {.spec.conversion.strategy} {.status.storedVersions}")
	if got, want := string(crd), `v1alpha1 None ["v1alpha1"]`; err != nil || got != want {
		t.Errorf("the CRD is left with %q (%v), want %q", got, err, want)
	}
}

// withoutV1beta1 waits until v1beta1 is gone from the API server and from kubectl's discovery cache. Otherwise kubectl
// keeps requesting the highest cached version.
func (n node) withoutV1beta1(ctx context.Context) error {
	_, err := live.Until(ctx, patience, func(ctx context.Context) (bool, error) {
		out, err := n.Kubectl(ctx, "api-resources", "--api-group=monitoring.coreos.com")
		return err == nil && !strings.Contains(string(out), "v1beta1"), errors.Join(err, fmt.Errorf("kubectl knows\n%s", out))
	})
	return err
}

// runsRoute waits until Alertmanager runs a configuration that contains the texts.
func (s space) runsRoute(t *testing.T, texts ...string) {
	t.Helper()
	took := until(t, fmt.Sprintf("%q in Alertmanager", texts), patience, func(ctx context.Context) (bool, error) {
		status, err := s.proxy.Alertmanager(s.name, "alertmanager-main-0", 9093).Status(ctx)
		for _, text := range texts {
			if !strings.Contains(status.Config.Original, text) {
				return false, errors.Join(err, fmt.Errorf("it runs\n%s", status.Config.Original))
			}
		}
		return true, nil
	})
	t.Logf("Alertmanager runs %q after %s", texts, took.Round(10*time.Millisecond))
}

// readInBoth checks the fields that the two versions represent differently.
func (s space) readInBoth(t *testing.T) {
	for version, want := range map[string]map[string]any{
		"v1beta1": {
			"interval":  "timeIntervals",
			"matchers":  `[{"matchType":"=~","name":"severity","value":"crit.*"}]`,
			"inhibited": `[{"matchType":"=~","name":"alertname","value":"Sym.*"}]`,
		},
		"v1alpha1": {
			"interval":  "muteTimeIntervals",
			"matchers":  `[{"matchType":"=~","name":"severity","value":"crit.*"}]`,
			"inhibited": `[{"matchType":"=~","name":"alertname","value":"Sym.*"}]`,
		},
	} {
		var o struct {
			APIVersion string
			Spec       struct {
				Route struct {
					Routes []struct{ Matchers []map[string]any }
				}
				TimeIntervals, MuteTimeIntervals []struct{ Name string }
				InhibitRules                     []struct{ TargetMatch []map[string]any }
			}
		}
		if err := json.Unmarshal([]byte(s.in(t, "get", configsIn(version), "beta", "-o", "json")), &o); err != nil {
			t.Fatal(err)
		}
		if o.APIVersion != "monitoring.coreos.com/"+version {
			t.Errorf("asked for %s, got %s", version, o.APIVersion)
		}
		got := map[string]any{"matchers": text(t, o.Spec.Route.Routes[0].Matchers), "inhibited": text(t, o.Spec.InhibitRules[0].TargetMatch)}
		switch {
		case len(o.Spec.TimeIntervals) == 1 && o.Spec.TimeIntervals[0].Name == "past":
			got["interval"] = "timeIntervals"
		case len(o.Spec.MuteTimeIntervals) == 1 && o.Spec.MuteTimeIntervals[0].Name == "past":
			got["interval"] = "muteTimeIntervals"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: want -, got +\n%s", version, diff)
		}
	}
}

// text returns a value as JSON.
func text(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
