package workload

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"
	appsv1 "k8s.io/api/apps/v1"
)

// hashInput is everything that can make a StatefulSet outdated.
type hashInput struct {
	Labels, Annotations map[string]string // their changes do not count as a new generation
	Generation          int64
	HTTP2               *bool
	Config              Config
	Live                *appsv1.StatefulSetSpec // finds edits by hand, which are undone
	RuleConfigMaps      []string
	TLSSecrets          int
	ConfigInParts       bool `json:",omitempty"`
}

// InputHash is the value of AnnotationInputHash: as long as it is equal to that
// of the live object, the StatefulSet need not be written.
//
// live is what is in the cluster, nil when there is nothing. Its spec finds edits by
// hand. It is the spec before a write, so one more write with the same content
// follows a change. A new StatefulSet is written once: as long as its generation is
// 1, its spec is what the API server made of the create, defaults included, and
// counts as no spec, as it did for the create. This needs no memory, so it also
// holds after a restart of the operator.
//
// The order of in.RuleConfigMaps does not count. The hash is over JSON, in which
// quantities have one form per value ("1000m" is "1").
func (o *Owner) InputHash(live *appsv1.StatefulSet, pod Inputs) (string, error) {
	in := hashInput{
		Labels:         o.meta.Labels,
		Annotations:    o.meta.Annotations,
		Generation:     o.meta.Generation,
		Config:         o.cfg,
		RuleConfigMaps: slices.Sorted(slices.Values(o.ruleConfigMaps(pod))),
		TLSSecrets:     pod.TLSSecrets,
		ConfigInParts:  pod.ConfigInParts && !o.partsAhead(), // else it is so in any case
	}
	if w := o.common.Web; w != nil && w.HTTPConfig != nil {
		in.HTTP2 = w.HTTPConfig.HTTP2
	}
	if live != nil && live.Generation != 1 {
		spec := live.Spec
		spec.RevisionHistoryLimit = nil // left to others
		in.Live = &spec
	}
	text, err := json.Marshal(in)
	if err != nil {
		return "", fmt.Errorf("hash inputs of %s: %w", o.PrefixedName(), err)
	}
	return strconv.FormatUint(xxhash.Sum64(text), 10), nil
}
