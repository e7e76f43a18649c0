package install_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	client "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/retry"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/install"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Main(m)) }

type api = client.CustomResourceDefinitionInterface

// connect returns a CRD client of the shared cluster.
func connect(t *testing.T) api {
	t.Helper()
	c := clustertest.Shared(t, cluster.Options{})
	definitions, err := client.NewForConfig(&rest.Config{
		Host: c.Host, BearerToken: c.Token, TLSClientConfig: rest.TLSClientConfig{CAFile: c.CAFile}, QPS: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return definitions.CustomResourceDefinitions()
}

// wipe removes the CRDs of an earlier test.
func wipe(t *testing.T, c api) {
	t.Helper()
	ctx := t.Context()
	if err := c.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		all, err := c.List(ctx, metav1.ListOptions{})
		return err == nil && len(all.Items) == 0, err
	})
	if err != nil {
		t.Fatalf("remove definitions: %v", err)
	}
}

// apply plans and applies, and returns the number of each outcome.
func apply(t *testing.T, c api, o install.Options) map[install.Outcome]int {
	t.Helper()
	steps, err := install.Plan(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	outcomes := map[install.Outcome]int{}
	err = install.Apply(ctx, c, steps, install.Progress{
		Applied: func(_ string, o install.Outcome) { outcomes[o]++ },
		Waiting: func([]string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	return outcomes
}

func get(t *testing.T, c api, name string) *definition {
	t.Helper()
	crd, err := c.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return crd
}

func TestInstall(t *testing.T) {
	c := connect(t)
	wipe(t, c)
	o := install.Options{Version: "1.0.0", Labels: map[string]string{"team": "core"}}
	if got := apply(t, c, o); got[install.Created] != 10 {
		t.Errorf("first apply: %v, want 10 created", got)
	}
	if got := apply(t, c, o); got[install.Unchanged] != 10 {
		t.Errorf("second apply: %v, want 10 unchanged", got)
	}
	steps, err := install.Plan(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if lines := s.Diff(); len(lines) > 0 {
			t.Errorf("%s differs after apply: %q", s.Want.Name, lines)
		}
		if s.Live.Labels["team"] != "core" {
			t.Errorf("%s: labels %v", s.Want.Name, s.Live.Labels)
		}
	}
	o.Full = true
	if got := apply(t, c, o); got[install.Configured] != 10 {
		t.Errorf("apply of the full set: %v, want 10 configured", got)
	}
	if got := apply(t, c, o); got[install.Unchanged] != 10 {
		t.Errorf("second apply of the full set: %v, want 10 unchanged", got)
	}
	// Back to the smaller set: a version that may be in use is still served.
	o.Full = false
	if got := apply(t, c, o); got[install.Configured] != 9 {
		t.Errorf("apply of the standard set: %v, want 9 configured", got)
	}
	if crd := get(t, c, "alertmanagerconfigs.monitoring.coreos.com"); len(crd.Spec.Versions) != 2 {
		t.Errorf("%d versions of AlertmanagerConfig are left, want 2", len(crd.Spec.Versions))
	}
}

// TestTakeOver starts from a CRD that kubectl wrote by client-side apply and that is newer than ours.
func TestTakeOver(t *testing.T) {
	c := connect(t)
	wipe(t, c)
	const name = "probes.monitoring.coreos.com"
	old := find(t, name)
	old.Annotations = map[string]string{
		crds.VersionAnnotation: "0.99.0", "kubectl.kubernetes.io/last-applied-configuration": "{}", "theirs": "x",
	}
	old.Spec.Names.Categories = append(old.Spec.Names.Categories, "more")
	spec(old).Properties["retired"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	if _, err := c.Create(t.Context(), old, metav1.CreateOptions{FieldManager: "kubectl-client-side-apply"}); err != nil {
		t.Fatal(err)
	}
	addWebhook(t, c, name)

	apply(t, c, install.Options{Version: "1.0.0", Force: true})
	now := get(t, c, name)
	for _, m := range now.ManagedFields {
		if m.Manager == "kubectl-client-side-apply" {
			t.Errorf("%s still owns %s", m.Manager, m.FieldsV1)
		}
	}
	for key, want := range map[string]string{
		crds.VersionAnnotation: "1.0.0", crds.DistributionAnnotation: "firekeeper/1.0.0", "injector": "was here",
		"kubectl.kubernetes.io/last-applied-configuration": "", "theirs": "",
	} {
		if got := now.Annotations[key]; got != want {
			t.Errorf("annotation %s = %q, want %q", key, got, want)
		}
	}
	if slices.Contains(now.Spec.Names.Categories, "more") {
		t.Error("the category of the old definition is still there")
	}
	if _, ok := spec(now).Properties["retired"]; ok {
		t.Error("the field of the old definition is still there")
	}
	if now.Spec.Conversion.Strategy != apiextensionsv1.WebhookConverter {
		t.Error("the conversion webhook is lost")
	}
}

// AlertmanagerConfig is served in both versions with a webhook, which may move; a CA set by others is kept.
func TestConversion(t *testing.T) {
	c := connect(t)
	wipe(t, c)
	const name = "alertmanagerconfigs.monitoring.coreos.com"
	o := install.Options{Version: "1.0.0", Conversion: &install.Conversion{
		Service: types.NamespacedName{Namespace: "a", Name: "hook"}, InjectCAFrom: "a/cert",
	}}
	if got := apply(t, c, o); got[install.Created] != 10 {
		t.Errorf("apply: %v, want 10 created", got)
	}
	crd := get(t, c, name)
	at := crd.Spec.Conversion.Webhook.ClientConfig
	if len(crd.Spec.Versions) != 2 || at.Service.Namespace != "a" || at.Service.Name != "hook" || *at.Service.Path != "/convert" {
		t.Errorf("%d versions, converted by %v", len(crd.Spec.Versions), at.Service)
	}
	if got := crd.Annotations["cert-manager.io/inject-ca-from"]; got != "a/cert" {
		t.Errorf("the CA comes from %q", got)
	}
	if other := get(t, c, "probes.monitoring.coreos.com"); other.Spec.Conversion.Strategy != apiextensionsv1.NoneConverter {
		t.Errorf("Probes are converted by %v", other.Spec.Conversion)
	}
	ca, _, err := cert.GenerateSelfSignedCertKey("hook.a.svc", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	crd.Spec.Conversion.Webhook.ClientConfig.CABundle = ca
	if _, err := c.Update(t.Context(), crd, metav1.UpdateOptions{FieldManager: "injector"}); err != nil {
		t.Fatal(err)
	}
	apply(t, c, o)
	if got := get(t, c, name).Spec.Conversion.Webhook.ClientConfig.CABundle; string(got) != string(ca) {
		t.Error("the CA is lost")
	}
	o.Conversion.Service.Namespace = "b"
	apply(t, c, o)
	if at := get(t, c, name).Spec.Conversion.Webhook.ClientConfig; at.Service.Namespace != "b" || string(at.CABundle) != string(ca) {
		t.Errorf("after a move: %v, with a CA of %d bytes", at.Service, len(at.CABundle))
	}
}

// addWebhook sets a conversion webhook like a deployment does.
func addWebhook(t *testing.T, c api, name string) {
	t.Helper()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		crd := get(t, c, name)
		crd.Annotations["injector"] = "was here"
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook: &apiextensionsv1.WebhookConversion{
				ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: new("https://example.org/convert")},
				ConversionReviewVersions: []string{"v1"},
			},
		}
		_, err := c.Update(t.Context(), crd, metav1.UpdateOptions{FieldManager: "injector"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A CRD that can never be established is an error immediately and not an endless wait.
func TestNamesTaken(t *testing.T) {
	c := connect(t)
	wipe(t, c)
	other := find(t, "probes.monitoring.coreos.com")
	other.Name = "takers.monitoring.coreos.com"
	other.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Plural: "takers", Singular: "taker", Kind: "Taker", ListKind: "TakerList", ShortNames: []string{"prb"},
	}
	if _, err := c.Create(t.Context(), other, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		crd, err := c.Get(ctx, other.Name, metav1.GetOptions{})
		return err == nil && slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
			return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
		}), err
	})
	if err != nil {
		t.Fatal(err)
	}
	steps, err := install.Plan(t.Context(), c, install.Options{Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = install.Apply(ctx, c, steps, install.Progress{Applied: func(string, install.Outcome) {}, Waiting: func([]string) {}})
	want := `CRD probes.monitoring.coreos.com: "prb" is already in use`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	if err := c.Delete(t.Context(), other.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}
