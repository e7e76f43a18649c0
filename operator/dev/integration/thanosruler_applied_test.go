package integration

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// For pods taken over from the reference, the status of the rules follows the reload metrics of the reference's
// reloader.
func TestRulerAppliedWithTheReferencesReloader(t *testing.T) {
	w := start(t)
	t.Parallel()
	const ip, id = "127.93.7.7", "ruler-theirs"
	pod := &theirs{}
	pod.serve(t, ip)
	w.apply(t, "apiVersion: v1\nkind: Node\nmetadata: {name: ruler-theirs}")
	o := w.operator(t, id, "", "--controller-id="+id, "--reloader-layout=single")
	ns := w.rulerDeployed(t, o, id)
	w.place(t, ns, "thanos-ruler-web-0", id)
	restarts := int32(0)
	// restarted simulates a restart of the reloader, after which the pod is polled immediately instead of after up to
	// half a minute.
	restarted := func() {
		t.Helper()
		w.runs(t, ns, "thanos-ruler-web-0", ip, restarts)
		restarts++
	}
	applied := func(status, reason, text string) {
		t.Helper()
		w.waitFor(t, thanosRuler(ns, "web"), "ConfigApplied is "+reason, func(o *unstructured.Unstructured) error {
			if err := hasCondition(o, "ConfigApplied", status, reason); err != nil {
				return err
			}
			if said := fmt.Sprint(o.Object["status"]); !strings.Contains(said, text) {
				return fmt.Errorf("it does not say %q: %s", text, said)
			}
			return nil
		})
	}
	pod.load(true)
	restarted()
	applied("True", "AllPodsReloaded", "its config-reloader does not report content; it reloaded successfully at")

	w.patch(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, "app", `{"spec":{"groups":[{"name":"app","rules":[{"record":"changed:up","expr":"sum(up)"}]}]}}`)
	applied("False", "WaitingForPods", "and not since the last change at")

	pod.load(false)
	restarted()
	applied("False", "ConfigurationRejected", "its last attempt to reload the server failed, see its log")

	pod.load(true)
	restarted()
	applied("True", "AllPodsReloaded", "after the last change")
}
