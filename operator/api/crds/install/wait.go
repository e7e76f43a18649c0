package install

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds/definitions"
)

const (
	pollEvery   = 200 * time.Millisecond
	reportEvery = 2 * time.Second
)

// wait returns when all CRDs are established.
func wait(ctx context.Context, c definitions.Interface, steps []Step, progress Progress) error {
	var pending []string
	for _, s := range steps {
		pending = append(pending, s.Want.Name)
	}
	poll, report := time.NewTicker(pollEvery), time.NewTicker(reportEvery)
	defer poll.Stop()
	defer report.Stop()
	for {
		var err error
		pending, err = unready(ctx, c, pending)
		if err != nil {
			return err
		}
		if len(pending) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not established: %s: %w", strings.Join(pending, ", "), context.Cause(ctx))
		case <-report.C:
			progress.Waiting(slices.Clone(pending))
		case <-poll.C:
		}
	}
}

// unready returns the names of CRDs that are not established yet.
func unready(ctx context.Context, c definitions.Interface, names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		crd, err := c.Get(ctx, name, metav1.GetOptions{})
		switch {
		case err != nil && ctx.Err() != nil:
			out = append(out, name)
			continue
		case err != nil:
			return nil, fmt.Errorf("read CRD %s: %w", name, err)
		}
		if reason := refused(crd); reason != "" {
			return nil, fmt.Errorf("CRD %s: %s", name, reason)
		}
		if !established(crd) {
			out = append(out, name)
		}
	}
	return out, nil
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return condition(crd, apiextensionsv1.Established).Status == apiextensionsv1.ConditionTrue
}

// refused returns why a CRD can never be established, or "".
func refused(crd *apiextensionsv1.CustomResourceDefinition) string {
	for _, c := range []struct {
		kind apiextensionsv1.CustomResourceDefinitionConditionType
		bad  apiextensionsv1.ConditionStatus
	}{
		{apiextensionsv1.NamesAccepted, apiextensionsv1.ConditionFalse},
		{apiextensionsv1.NonStructuralSchema, apiextensionsv1.ConditionTrue},
		{apiextensionsv1.Terminating, apiextensionsv1.ConditionTrue},
	} {
		if now := condition(crd, c.kind); now.Status == c.bad {
			return now.Message
		}
	}
	return ""
}

func condition(crd *apiextensionsv1.CustomResourceDefinition, kind apiextensionsv1.CustomResourceDefinitionConditionType) apiextensionsv1.CustomResourceDefinitionCondition {
	for _, c := range crd.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return apiextensionsv1.CustomResourceDefinitionCondition{}
}
