package commands

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// forbidding returns an API server that grants everything except denied, "verb resource".
func forbidding(denied string) *fake.Clientset {
	kube := fake.NewClientset()
	kube.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
		asked := review.Spec.ResourceAttributes
		review.Status.Allowed = strings.TrimSuffix(asked.Verb+" "+asked.Resource+"/"+asked.Subresource, "/") != denied
		return true, review, nil
	})
	return kube
}

// The finalizer is set on workloads of every kind, which requires a permission.
func TestMayWriteBindings(t *testing.T) {
	o := parsed(t, "--feature-gates=StatusForConfigurationResources=true")
	setups, scopes, err := o.setups(semver.MustParse("1.36.0"))
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	var written bool // whether statuses of AlertmanagerConfigs are written
	check := func(denied string) error {
		var failed []error
		for _, s := range setups {
			failed = append(failed, mayUseGates(t.Context(), forbidding(denied), &s, scopes.Configs, slog.New(slog.NewTextHandler(&log, nil))))
			if s.Row == catalog.Alertmanager {
				written = s.ConfigStatus
			}
		}
		return errors.Join(failed...)
	}
	for _, denied := range []string{
		"patch prometheuses", "patch prometheusagents", "patch thanosrulers", "update probes/status", "patch prometheusrules/status",
	} {
		if err := check(denied); err == nil || !strings.Contains(err.Error(), "no permission to "+denied) {
			t.Errorf("without %s: %v", denied, err)
		}
	}
	if err := check(""); err != nil || !written || log.Len() > 0 {
		t.Errorf("%v, written %t, log %s", err, written, log.String())
	}
	// The roles of the reference.
	if err := check("patch alertmanagerconfigs/status"); err != nil || written {
		t.Errorf("%v, written %t", err, written)
	}
	if n := strings.Count(log.String(), "the statuses of AlertmanagerConfigs are not written"); n != 1 || !strings.Contains(log.String(), "no permission to patch alertmanagerconfigs/status") {
		t.Errorf("log %s", log.String())
	}
}
