// Package verify verifies an installation through the API server: it serves all kinds, the operator reconciles a
// workload, and the webhooks are called for writes. It only reads, so the caller must create the objects first, as the
// tests of the Helm chart do.
//
//	steps := verify.Steps(live, verify.Question{Workload: ...})
//	failed, err := verify.Run(ctx, steps, os.Stdout) // retries each step until it passes or ctx is done
package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// period is the time between two attempts of a step.
const period = 500 * time.Millisecond

// Question selects what to verify. Empty parts are skipped.
type Question struct {
	Row      *catalog.Row         // kind of Workload
	Workload types.NamespacedName // workload that the operator should reconcile
	Rule     types.NamespacedName // PrometheusRule that the webhooks should have checked
}

// Live reads the cluster.
type Live struct {
	// Resources lists the resources that the API server serves in a version.
	Resources func(schema.GroupVersion) (*metav1.APIResourceList, error)
	// Get reads one object into the last argument.
	Get func(context.Context, *catalog.Row, types.NamespacedName, catalog.Object) error
}

// Step is one check.
type Step struct {
	What string                      // verified property as a sentence: "the API server serves 10 kinds"
	Ask  func(context.Context) error // returns nil if the property holds
}

// Steps returns the checks of a question, in the order of their dependencies.
func Steps(live Live, q Question) []Step {
	steps := []Step{{
		What: "the API server serves all kinds of monitoring.coreos.com",
		Ask:  func(context.Context) error { return served(live.Resources) },
	}}
	if q.Row != nil {
		steps = append(steps, Step{
			What: fmt.Sprintf("the operator reconciles %s %s", q.Row.Kind, q.Workload),
			Ask: func(ctx context.Context) error {
				object := q.Row.New()
				if err := live.Get(ctx, q.Row, q.Workload, object); err != nil {
					return err
				}
				return reconciled(object.(v1.Workload))
			},
		})
	}
	if q.Rule.Name != "" {
		steps = append(steps, Step{
			What: fmt.Sprintf("the admission webhook has checked PrometheusRule %s", q.Rule),
			Ask: func(ctx context.Context) error {
				object := catalog.PrometheusRule.New()
				if err := live.Get(ctx, catalog.PrometheusRule, q.Rule, object); err != nil {
					return err
				}
				return admitted(object)
			},
		})
	}
	return steps
}

// served returns an error with the kinds that the API server does not serve in the version that the operator reads.
func served(resources func(schema.GroupVersion) (*metav1.APIResourceList, error)) error {
	lists := map[schema.GroupVersion]map[string]bool{}
	var missing error
	for _, row := range catalog.All {
		if row == catalog.AlertmanagerConfigBeta { // only served with the conversion webhook
			continue
		}
		version := row.GroupVersion()
		if lists[version] == nil {
			list, err := resources(version)
			if err != nil {
				return fmt.Errorf("read the resources of %s: %w", version, err)
			}
			lists[version] = map[string]bool{}
			for _, r := range list.APIResources {
				lists[version][r.Name] = true
			}
		}
		if !lists[version][row.Resource] {
			missing = errors.Join(missing, fmt.Errorf("%s is not served: its CRD is missing", row.Resource))
		}
	}
	return missing
}

// reconciled returns an error if the current generation of a workload is not reconciled.
func reconciled(w v1.Workload) error {
	for _, c := range w.GetWorkloadStatus().Conditions {
		switch {
		case c.Type != v1.Reconciled:
		case c.ObservedGeneration != w.GetGeneration():
			return fmt.Errorf("the condition Reconciled is about generation %d, the object has %d", c.ObservedGeneration, w.GetGeneration())
		case c.Status != v1.ConditionTrue:
			return fmt.Errorf("the condition Reconciled is %s: %s: %s", c.Status, c.Reason, c.Message)
		default:
			return nil
		}
	}
	return errors.New("it has no condition Reconciled: the operator does not run, or does not select the object")
}

// admitted returns an error if the webhooks have not checked a PrometheusRule.
func admitted(rule metav1.Object) error {
	if rule.GetAnnotations()[wellknown.AnnotationValidated] != "true" {
		return fmt.Errorf("it was stored without the annotation %s, which the webhook adds", wellknown.AnnotationValidated)
	}
	return nil
}

// Run retries each step until it passes or ctx is done, writes a line for each, and returns the number of failed
// steps. After ctx is done, it tries each remaining step once.
//
// Errors: w cannot be written.
func Run(ctx context.Context, steps []Step, w io.Writer) (failed int, err error) {
	for _, step := range steps {
		line := "ok    " + step.What
		if problem := await(ctx, step); problem != nil {
			failed++
			line = fmt.Sprintf("FAIL  %s: %v", step.What, problem)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return failed, err
		}
	}
	return failed, nil
}

// await retries a step until it passes. If ctx is done before, it returns the last error.
func await(ctx context.Context, step Step) error {
	tick := time.NewTicker(period)
	defer tick.Stop()
	var last error
	for {
		err := step.Ask(ctx)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil { // an earlier error is more helpful than that of the context
			last = err
		}
		select {
		case <-ctx.Done():
			return last
		case <-tick.C:
		}
	}
}
