package install

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds/definitions"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
)

// Options select the CRDs to install and how.
type Options struct {
	Version string            // of this operator, semantic
	Full    bool              // the set with descriptions and all versions
	Force   bool              // overwrite newer CRDs, too
	Labels  map[string]string // for every CRD
	// Conversion is the conversion webhook for AlertmanagerConfigs, which are then served in all versions;
	// nil keeps the current one.
	Conversion *Conversion
}

// Conversion is the address of the conversion webhook for API servers.
type Conversion struct {
	Service      types.NamespacedName // port 443
	InjectCAFrom string               // NAMESPACE/NAME of a cert-manager Certificate; empty means none
}

const (
	convertedCRD = "alertmanagerconfigs.monitoring.coreos.com"
	// injectAnnotation makes cert-manager inject its CA into a CRD.
	injectAnnotation = "cert-manager.io/inject-ca-from"
)

// Step is the plan for one CRD.
type Step struct {
	Want *apiextensionsv1.CustomResourceDefinition
	Live *apiextensionsv1.CustomResourceDefinition // nil if not installed
}

// Plan reads the installed CRDs and returns one step for each CRD, in the order of their names.
//
// Errors: those of the API server; a [RefusedError] for every CRD that is newer than ours, joined, unless
// forced. The steps are complete even with a RefusedError.
func Plan(ctx context.Context, c definitions.Interface, o Options) ([]Step, error) {
	standard, err := crds.Standard(o.Version)
	if err != nil {
		return nil, err
	}
	// Decompressing the full set is the most expensive part of a plan.
	full := sync.OnceValues(func() ([]*apiextensionsv1.CustomResourceDefinition, error) { return crds.Full(o.Version) })
	var (
		steps   []Step
		refused error
	)
	for i, want := range standard {
		live, err := c.Get(ctx, want.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			live, err = nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read CRD %s: %w", want.Name, err)
		}
		converted := o.Conversion != nil && want.Name == convertedCRD
		if o.Full || converted || len(servedBeyond(live, want)) > 0 {
			all, err := full()
			if err != nil {
				return nil, err
			}
			want = all[i]
		}
		want = desired(want, live, o.Labels)
		if converted {
			o.Conversion.set(want)
		}
		steps = append(steps, Step{Want: want, Live: live})
		if reason := newer(live, want); reason != "" && !o.Force {
			refused = errors.Join(refused, &RefusedError{Name: want.Name, Reason: reason})
		}
	}
	return steps, refused
}

// RefusedError means that a live CRD is newer than ours. Objects in the cluster may use fields that would be
// lost.
type RefusedError struct{ Name, Reason string }

func (e *RefusedError) Error() string { return e.Name + ": " + e.Reason }

// desired returns the CRD that should be in the cluster.
func desired(crd, live *apiextensionsv1.CustomResourceDefinition, labels map[string]string) *apiextensionsv1.CustomResourceDefinition {
	want := crd.DeepCopy()
	apiextensionsv1.SetDefaults_CustomResourceDefinition(want)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&want.Spec)
	if len(labels) > 0 {
		want.Labels = maps.Clone(labels)
	}
	if live != nil && live.Spec.Conversion != nil && live.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter {
		want.Spec.Conversion = live.Spec.Conversion.DeepCopy()
	}
	return want
}

// set sets the conversion webhook of a CRD. The CA bundle is kept until the manager of the certificate
// replaces it.
func (c Conversion) set(crd *apiextensionsv1.CustomResourceDefinition) {
	var ca []byte
	if now := crd.Spec.Conversion; now != nil && now.Webhook != nil && now.Webhook.ClientConfig != nil {
		ca = now.Webhook.ClientConfig.CABundle
	}
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"},
			ClientConfig: &apiextensionsv1.WebhookClientConfig{
				CABundle: ca,
				Service: &apiextensionsv1.ServiceReference{
					Namespace: c.Service.Namespace, Name: c.Service.Name, Path: new("/convert"), Port: new(int32(443)),
				},
			},
		},
	}
	if c.InjectCAFrom != "" {
		crd.Annotations[injectAnnotation] = c.InjectCAFrom
	}
}

// servedBeyond returns the versions that live serves or has stored and that want lacks.
func servedBeyond(live, want *apiextensionsv1.CustomResourceDefinition) []string {
	if live == nil {
		return nil
	}
	names := slices.Clone(live.Status.StoredVersions)
	for _, v := range live.Spec.Versions {
		if v.Served {
			names = append(names, v.Name)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(want.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == name })
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// newer returns why a live CRD is newer than ours, or "".
//
// Our own CRDs are compared by the version of the operator. Those of another operator have a version of the
// published API, which is compared with [crds.APILevel]. A CRD without a semantic version is not newer.
func newer(live, want *apiextensionsv1.CustomResourceDefinition) string {
	if beyond := servedBeyond(live, want); len(beyond) > 0 {
		return fmt.Sprintf("serves versions that this operator does not support: %s", strings.Join(beyond, ", "))
	}
	if live == nil {
		return ""
	}
	text := live.Annotations[crds.VersionAnnotation]
	theirs, err := semver.NewVersion(text)
	if err != nil {
		return ""
	}
	if live.Annotations[crds.DistributionAnnotation] == crds.Distribution(text) {
		ours, err := semver.NewVersion(want.Annotations[crds.VersionAnnotation])
		if err == nil && ours.LessThan(theirs) {
			return fmt.Sprintf("was installed by operator version %s, this operator is %s", theirs, ours)
		}
		return ""
	}
	level := semver.MustParse(crds.APILevel)
	if theirs.Major() > level.Major() || theirs.Major() == level.Major() && theirs.Minor() > level.Minor() {
		return fmt.Sprintf("has the fields of API version %s, this operator supports those of %s", theirs, crds.APILevel)
	}
	return ""
}
