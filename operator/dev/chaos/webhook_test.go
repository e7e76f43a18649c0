package chaos

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	arv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial/faultproxy"
)

// answer decides about a write of the operator. A patch is a JSON patch; empty for none.
type answer func(r *admissionv1.AdmissionRequest, o map[string]any) (allowed bool, patch string)

// admission installs an admission webhook for what the operator writes in the namespace, until lift is called.
func admission(t *testing.T, c *cycle, mutates bool, decide answer) (lift func()) {
	t.Helper()
	var seen atomic.Bool // the webhook is in force
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		seen.Store(true)
		response := &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		if review.Request.UserInfo.Username == c.operator.User {
			var o map[string]any
			_ = json.Unmarshal(review.Request.Object.Raw, &o)
			allowed, patch := decide(review.Request, o)
			if response.Allowed = allowed; !allowed {
				response.Result = &metav1.Status{Message: "not in this cluster", Code: http.StatusForbidden}
			}
			if patch != "" {
				kind := admissionv1.PatchTypeJSONPatch
				response.Patch, response.PatchType = []byte(patch), &kind
			}
		}
		review.Request, review.Response = nil, response
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}))
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	fail, none, match := arv1.Fail, arv1.SideEffectClassNone, &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: c.namespace}}
	rules := []arv1.RuleWithOperations{{
		Operations: []arv1.OperationType{arv1.Create, arv1.Update},
		Rule:       arv1.Rule{APIGroups: []string{"", "apps"}, APIVersions: []string{"v1"}, Resources: []string{"secrets", "configmaps", "services", "statefulsets"}},
	}}
	meta := metav1.ObjectMeta{Name: c.namespace}
	client := arv1.WebhookClientConfig{URL: &server.URL, CABundle: ca}
	name := "others.example.com"
	api := c.environment.Kube.AdmissionregistrationV1()
	var err error
	remove := func() error {
		return api.ValidatingWebhookConfigurations().Delete(t.Context(), c.namespace, metav1.DeleteOptions{})
	}
	if mutates {
		remove = func() error {
			return api.MutatingWebhookConfigurations().Delete(t.Context(), c.namespace, metav1.DeleteOptions{})
		}
		_, err = api.MutatingWebhookConfigurations().Create(t.Context(), &arv1.MutatingWebhookConfiguration{ObjectMeta: meta, Webhooks: []arv1.MutatingWebhook{{
			Name: name, ClientConfig: client, Rules: rules, FailurePolicy: &fail, SideEffects: &none, NamespaceSelector: match, AdmissionReviewVersions: []string{"v1"},
		}}}, metav1.CreateOptions{})
	} else {
		_, err = api.ValidatingWebhookConfigurations().Create(t.Context(), &arv1.ValidatingWebhookConfiguration{ObjectMeta: meta, Webhooks: []arv1.ValidatingWebhook{{
			Name: name, ClientConfig: client, Rules: rules, FailurePolicy: &fail, SideEffects: &none, NamespaceSelector: match, AdmissionReviewVersions: []string{"v1"},
		}}}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	try := func() error {
		seen.Store(false)
		_, err := c.environment.Kube.CoreV1().ConfigMaps(c.namespace).Create(t.Context(),
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "probe"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	trial.Await(t, "the webhook is in force", func() error {
		if err := try(); err != nil {
			return err
		}
		if !seen.Load() {
			return fmt.Errorf("it is not called")
		}
		return nil
	})
	return func() {
		if err := remove(); err != nil {
			t.Error(err)
		}
		trial.Await(t, "the webhook is not called any more", func() error {
			if err := try(); err != nil || seen.Load() {
				return fmt.Errorf("it is: %w", err)
			}
			return nil
		})
		server.Close()
	}
}

func webhookRefuses(t *testing.T, c *cycle) disturbance {
	t.Helper()
	tally := faultproxy.NewTally(3)
	c.operator.Proxy.Disturb(faultproxy.Refused(tally))
	lift := admission(t, c, false, func(*admissionv1.AdmissionRequest, map[string]any) (bool, string) { return false, "" })
	return disturbance{full: tally.Full(), tally: tally, lift: lift}
}

func webhookAnnotates(t *testing.T, c *cycle) disturbance {
	t.Helper()
	return disturbance{lift: admission(t, c, true, func(_ *admissionv1.AdmissionRequest, o map[string]any) (bool, string) {
		if annotations, _ := o["metadata"].(map[string]any)["annotations"].(map[string]any); annotations == nil {
			return true, `[{"op": "add", "path": "/metadata/annotations", "value": {"` + trial.Foreign + `seen": "yes"}}]`
		}
		return true, `[{"op": "add", "path": "/metadata/annotations/` + strings.ReplaceAll(trial.Foreign, "/", "~1") + `seen", "value": "yes"}]`
	})}
}

func webhookReverts(t *testing.T, c *cycle) disturbance {
	t.Helper()
	lift := admission(t, c, true, func(r *admissionv1.AdmissionRequest, _ map[string]any) (bool, string) {
		switch r.Resource.Resource {
		case "statefulsets":
			return true, `[{"op": "replace", "path": "/spec/template/spec/terminationGracePeriodSeconds", "value": 7}]`
		case "configmaps":
			return true, `[{"op": "add", "path": "/data/others", "value": "x"}]`
		}
		return true, ""
	})
	return disturbance{rests: true, lift: lift}
}
