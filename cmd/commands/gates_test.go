package commands

import (
	"errors"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// forbidding is an API server that permits everything but one thing, "verb resource".
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

// TestMayWriteBindings: the finalizer is set on workloads of every kind.
func TestMayWriteBindings(t *testing.T) {
	o := parsed(t, "--feature-gates=StatusForConfigurationResources=true")
	setups, scopes, err := o.setups(semver.MustParse("1.36.0"))
	if err != nil {
		t.Fatal(err)
	}
	check := func(denied string) error {
		var failed []error
		for _, s := range setups {
			failed = append(failed, mayUseGates(t.Context(), forbidding(denied), s, scopes.Configs))
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
	if err := check(""); err != nil {
		t.Error(err)
	}
}
